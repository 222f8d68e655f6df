import type { EIP1193RequestFn } from "viem";
import { structuredClone } from "../../protocol/globals.ts";
import { hashJson } from "../../protocol/values/canonical-json.ts";
import { toNode } from "../../relayer/node/node.ts";
import { FaultInvalidError, type RelayerFaults } from "../../relayer/relayer.ts";
import {
  type ApiFaultAction,
  type ApiFaults,
  apiFaultPlacements,
} from "../../server/http/faults/api-fault.ts";
import type { MiningMode } from "../chain/clock/mining.ts";
import { needsOwnChain } from "../lib/errors/needs-own-chain.ts";
import { showValue } from "../lib/errors/show-value.ts";
import { ownState, type Part } from "../lib/part.ts";
import { crashProcess } from "../lib/processes/processes.ts";
import { ChainEffects } from "./chain-effects.ts";
import type { Fault } from "./fault.ts";
import type { FaultIntent } from "./fault-matrix.ts";
import { FaultPlan } from "./fault-plan.ts";
import { type FaultEntry, type FaultIntentOptions, type FaultRequest, readFault } from "./fault-request.ts";

/** The faults of a sandbox in all its layers. */
export interface Faults {
  /**
   * Sets a fault by its name.
   *
   * @throws FaultInvalidError when it could never act, and says why.
   * @example await sandbox.faults.set("answer-lost", { operation: "executeRefund" })
   */
  set<I extends FaultIntent>(intent: I, options?: FaultIntentOptions[I]): Promise<Fault>;
  /**
   * Sets a fault by its layer, point and action. A fault of the layer `chain` acts before this returns.
   *
   * @throws FaultInvalidError when it could never act, and says why.
   * @example await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "drop", count: 2 })
   */
  set(fault: FaultRequest): Promise<Fault>;
  /**
   * Returns all faults, including those that no longer act, with the number of times that each has acted.
   *
   * @example sandbox.faults.list()[0]?.hits // 1
   */
  list(): Fault[];
  /**
   * Clears all faults and resumes mining. When it returns, all waiting transactions are mined.
   *
   * @example await sandbox.faults.clear()
   */
  clear(): Promise<void>;
}

/** The actions that only the sandbox's own chain can take. */
export const changesChain: ReadonlySet<string> = new Set(["reorg", "pause_mining", "foreign_nonce"]);

/** The faults in a snapshot. */
interface FaultState {
  faults: readonly Fault[];
  /** Set while a fault has paused mining. */
  mining: MiningMode | null;
}

/** The faults of one process of a sandbox: sets them, and hands them to the layers where they act. */
export class SandboxFaults implements Faults, Part<FaultState> {
  readonly name = "faults";
  readonly schema = ownState<FaultState>();
  readonly #plan: FaultPlan;
  readonly #chain: ChainEffects;
  readonly #isOwnChain: boolean;
  readonly #receiver: { readonly isOwn: boolean; readonly url: string };
  readonly #changed: () => void;

  constructor(parts: {
    /** The ids of the programs that a fault can be limited to. */
    programs: readonly string[];
    /** Sends a request to the node directly, without faults. */
    request: EIP1193RequestFn;
    /** Whether it is the sandbox's own chain, which faults can reorganize and keep from mining. */
    isOwnChain: boolean;
    /** The pinned receiver of notifications. */
    receiver: { readonly isOwn: boolean; readonly url: string };
    /** Called when faults were set, cleared or restored. */
    changed: () => void;
  }) {
    this.#plan = new FaultPlan(parts.programs);
    this.#chain = new ChainEffects(toNode(parts.request));
    this.#isOwnChain = parts.isOwnChain;
    this.#receiver = parts.receiver;
    this.#changed = parts.changed;
  }

  /** Sets a fault, in either form. */
  async set(fault: FaultIntent | FaultRequest, options: object = {}): Promise<Fault> {
    if (typeof options !== "object" || options === null || Array.isArray(options))
      throw new FaultInvalidError(
        `The options of a fault are an object such as { operation: "executeRefund" }, not ${showValue(options)}.`,
      );
    return await this.add(readFault(typeof fault === "string" ? { ...options, intent: fault } : fault));
  }

  /** Sets a fault that {@link readFault} returned. @throws FaultInvalidError when it could never act. */
  async add(entry: FaultEntry): Promise<Fault> {
    const prepared = this.#plan.prepare(entry);
    if (!this.#isOwnChain && changesChain.has(prepared.action))
      throw needsOwnChain(`The fault ${prepared.action}`);
    this.#requireReceiver(prepared);
    if (prepared.layer !== "chain") this.#plan.add(prepared);
    else {
      if (entry.count !== undefined)
        throw new FaultInvalidError(
          "A fault of the layer chain acts once, immediately. Leave out the option count.",
        );
      await this.#actOnChain(prepared);
    }
    this.#changed();
    return structuredClone(prepared);
  }

  /** Returns the faults. */
  list(): Fault[] {
    return this.#plan.list();
  }

  /** Clears all faults. */
  async clear(): Promise<void> {
    await this.restore({ faults: [], mining: null });
  }

  /** Returns the state for a snapshot. */
  capture(): FaultState {
    return { faults: this.list(), mining: this.#chain.paused };
  }

  /** Restores the faults of a snapshot. */
  async restore({ faults, mining }: FaultState): Promise<void> {
    this.#plan.replace(faults);
    await this.#chain.restore(mining);
    this.#changed();
  }

  /** Digests the faults that can still act: without any, a fingerprint has no digest of them. */
  digest({ faults }: FaultState): { faults?: `0x${string}` } {
    const live = faults.filter(({ remaining }) => remaining !== 0);
    return live.length === 0 ? {} : { faults: hashJson(live) };
  }

  /** The faults of the relayer. */
  get relayer(): RelayerFaults {
    return {
      take: (point, action, { operation_id, program, kind, subject }) =>
        this.#plan.take(
          "relayer",
          point,
          { operation_id, program, kind, subject_id: subject.id },
          (fault) => fault.action === action,
        ),
      pauseMining: async () => await this.#chain.pauseMining(),
      reorganize: async (depth) => await this.#chain.reorganize(depth),
    };
  }

  /** The faults of the API. */
  get api(): ApiFaults {
    return {
      areLeft: () => this.#plan.list().some(({ layer, remaining }) => layer === "api" && remaining !== 0),
      take: (point, { idempotent, ...subject }) => {
        const fault = this.#plan.take("api", point, subject, (fault) =>
          idempotent ? true : fault.match["operation"] !== undefined,
        );
        return fault === null || !isApiAction(fault.action) ? null : { ...fault, action: fault.action };
      },
      crash: crashProcess,
    };
  }

  /** Counts one hit of the first fault of a call to the node, or of a delivery. */
  take(layer: "rpc" | "delivery", point: string, subject?: { [field: string]: string }): Fault | null {
    return this.#plan.take(layer, point, subject);
  }

  async #actOnChain(fault: Fault): Promise<void> {
    if (fault.action === "reorg") await this.#chain.reorganize(fault.depth ?? 1);
    else await this.#chain.pauseMining();
    fault.hits = 1;
    fault.remaining = 0;
    this.#plan.add(fault);
  }

  #requireReceiver({ layer, point }: Fault): void {
    if (layer !== "delivery" || point !== "at_receiver" || this.#receiver.isOwn) return;
    throw new FaultInvalidError(
      `Notifications go to ${this.#receiver.url}, and this fault acts at the test receiver. Make that receiver fail instead, as routing-sandbox listen --fail does.`,
    );
  }
}

function isApiAction(action: string): action is ApiFaultAction {
  return Object.hasOwn(apiFaultPlacements, action);
}
