import type { Hex } from "viem";
import { awaitAutomine } from "../../relayer/node/automine.ts";
import { toNode } from "../../relayer/node/node.ts";
import type { Relayer } from "../../relayer/relayer.ts";
import type { BlockPoint } from "../../server/chain/chain-reader.ts";
import { absent } from "../../server/chain/head-reader.ts";
import type { ChainClient } from "../chain/client/chain-client.ts";
import { drainMining, isMining } from "../chain/clock/mining.ts";
import type { ChainNode } from "../chain/start-chain.ts";
import { needsOwnChain } from "../lib/errors/needs-own-chain.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import type { RequestGate } from "../lib/http/request-gate.ts";
import {
  captureParts,
  type PartStates,
  type RestoredParts,
  restoreParts,
  restoreTogether,
} from "../lib/part.ts";

/**
 * A state of the whole sandbox that can be restored as one: the chain and its clock, the store with the relayer's journal, the relayer's
 * faults, when blocks are mined, whom the node impersonates, request ids, the counts of the rate limit, the credentials of the client and of given states, deliveries
 * and their faults, the pinned receiver, refusals, and the parts of the option `parts`. The list is in sandbox/restored-state.ts.
 */
export interface Snapshot {
  /**
   * Restores this state, any number of times.
   *
   * @throws SandboxError stale_snapshot when an older snapshot was restored after this one was taken, or a reorg removed its block;
   * snapshot_timeout when a request in progress does not end in time; part_failed when a part of the option `parts` throws. In each case
   * nothing has changed, and a snapshot that is not stale can be restored again.
   * @example
   * const before = await sandbox.snapshot();
   * await before.restore();
   */
  restore(): Promise<void>;
  /**
   * Restores this state for another test, lease or run: requests that were sent before get a 503, where a restore has some of them run in the restored
   * state.
   *
   * @internal
   */
  reset(): Promise<void>;
}

/** A snapshot that tells whether it can still be restored. */
export interface HeldSnapshot extends Snapshot {
  /** Returns whether the restore of an older one has made it stale. */
  isStale(): boolean;
}

/** A snapshot that its first restore uses up, so that the node keeps no copy of its state for it. */
export interface OneTimeSnapshot extends Pick<HeldSnapshot, "isStale"> {
  /** The newest block of this state. */
  readonly block: { readonly number: bigint; readonly hash: Hex };
  /** Restores this state, and returns false when it is no longer there. @throws SandboxError snapshot_timeout, sandbox_shared, part_failed */
  restoreOnce(): Promise<boolean>;
}

interface SnapshotState {
  /** Counts snapshots; restoring one makes all later ones stale. */
  number: number;
  /** The id that `evm_snapshot` gave. */
  snapshotId: Hex;
  block: { number: bigint; hash: Hex; timestamp: bigint; gasLimit: bigint };
  baseFee: bigint;
  /** The gas limit of the next block. */
  gasLimit: bigint;
  offset: number;
  /** The heads that the relayer had processed. */
  seenHeads: ReturnType<Relayer["captureTrail"]>;
  parts: PartStates;
  /** Whether the current node still has this snapshot. */
  isHeld: boolean;
}

/** Everything that a snapshot contains or pauses. */
export interface SnapshotSources {
  gate: RequestGate;
  chain: ChainNode;
  relayer: Relayer;
  /** All state but the chain's: what `listParts` of restored-state.ts returns. */
  parts: RestoredParts;
  /** Ends the calls that would continue after a restore. */
  endCalls: () => Promise<void>;
  /** Runs a step while no other process is in the sandbox. @throws SandboxError sandbox_shared */
  runAsOnlyProcess: <T>(step: () => Promise<T>) => Promise<T>;
  /** Called after each restore, with the newest block, and whether it was for another test, lease or run. */
  restored: (head: BlockPoint, isReset: boolean) => Promise<void>;
}

/** Takes and restores snapshots of a whole sandbox. */
export class Snapshots {
  readonly #sources: SnapshotSources;
  #taken = 0;
  readonly #valid = new Set<SnapshotState>();

  constructor(sources: SnapshotSources) {
    this.#sources = sources;
  }

  /**
   * Takes a snapshot once everything in progress has ended; requests that arrive meanwhile wait.
   *
   * @throws SandboxError snapshot_timeout when something in progress does not end in time.
   */
  async take(): Promise<HeldSnapshot> {
    const state = await this.#take();
    return {
      isStale: () => !this.#valid.has(state),
      restore: async () => await this.#restore(state, { keeps: true }),
      reset: async () => await this.#restore(state, { keeps: true, isReset: true }),
    };
  }

  /** Takes a snapshot that can be restored once. @throws SandboxError snapshot_timeout, sandbox_shared */
  async takeOnce(): Promise<OneTimeSnapshot> {
    const state = await this.#take();
    return {
      block: state.block,
      isStale: () => !this.#valid.has(state) || !state.isHeld,
      restoreOnce: async () => {
        try {
          await this.#restore(state, { keeps: false });
          return true;
        } catch (error) {
          if (error instanceof SandboxError && error.code === "stale_snapshot") return false;
          throw error;
        }
      },
    };
  }

  async #take(): Promise<SnapshotState> {
    const { gate, chain, relayer, parts, runAsOnlyProcess } = this.#sources;
    if (!chain.isOwn) throw needsOwnChain("A snapshot");
    const take = async () => {
      await relayer.drain();
      // Right after a start, the relayer has not looked at a head yet: without one, it would look at the chain after every restore.
      if (relayer.captureTrail().length === 0) await relayer.observe();
      const { client, clock } = chain;
      const { latest, pending, snapshotId } = await snapshotChain(client);
      this.#taken += 1;
      const state: SnapshotState = {
        number: this.#taken,
        snapshotId,
        block: latest,
        baseFee: pending.baseFeePerGas ?? 0n,
        gasLimit: pending.gasLimit,
        offset: clock.offset(),
        seenHeads: relayer.captureTrail(),
        parts: await captureParts(parts.all),
        isHeld: true,
      };
      this.#valid.add(state);
      return state;
    };
    return await gate.runExclusive(async () => await runAsOnlyProcess(take));
  }

  /** Makes all snapshots stale, because a new node has replaced the node that had them. */
  forget(): void {
    for (const state of this.#valid) state.isHeld = false;
  }

  /** @param keeps - whether the state can be restored again. */
  async #restore(
    state: SnapshotState,
    { keeps, isReset = false }: { keeps: boolean; isReset?: boolean },
  ): Promise<void> {
    const { gate, chain, relayer, parts, endCalls, runAsOnlyProcess, restored } = this.#sources;
    const restore = async () => {
      if (!this.#valid.has(state))
        throw new SandboxError(
          "stale_snapshot",
          "This snapshot is no longer valid, because an older one was restored after it was taken. Take a new one.",
        );
      await relayer.drain();
      const { client } = chain;
      const [mines] = await Promise.all([
        isMining(client),
        this.#requireBlock(state),
        this.#requireHeld(state),
      ]);
      await restoreTogether(parts.added, state.parts, async () => {
        if (mines) await drainMining(client);
        await chain.journal?.pause();
        try {
          await restoreParts(parts.durable, state.parts);
        } catch (error) {
          chain.journal?.resume();
          throw error;
        }
      });
      await this.#revert(state);
      relayer.restoreTrail(state.seenHeads);
      gate.undo(isReset);
      const [snapshotId] = await Promise.all([
        keeps ? client.snapshot() : null,
        client.setNextBlockBaseFeePerGas({ baseFeePerGas: state.baseFee }),
        // A revert sets the limit to that of the newest block.
        state.gasLimit === state.block.gasLimit
          ? undefined
          : client.setBlockGasLimit({ gasLimit: state.gasLimit }),
        chain.clock.pin(state.offset, Number(state.block.timestamp)),
        // Nothing is pending, so that no part makes a block.
        restoreParts(parts.others, state.parts),
      ]);
      if (snapshotId === null) this.#valid.delete(state);
      else state.snapshotId = snapshotId;
      for (const other of this.#valid) if (other.number > state.number) this.#valid.delete(other);
    };
    if (isReset) await gate.allArrive();
    await endCalls();
    await gate.runExclusive(async () => await runAsOnlyProcess(restore));
    const { number, hash, timestamp } = state.block;
    await restored({ number: Number(number), hash, timestamp: Number(timestamp) }, isReset);
  }

  /** Has the node go back, which the journal has done. */
  async #revert({ snapshotId, block }: SnapshotState): Promise<void> {
    const { client, journal } = this.#sources.chain;
    try {
      const isReverted = await client.request({ method: "evm_revert", params: [snapshotId] });
      if (!isReverted) throw gone();
    } finally {
      journal?.resume({ number: Number(block.number), hash: block.hash });
    }
  }

  /** Nothing may be changed when the node has dropped the snapshot. */
  async #requireHeld({ snapshotId, isHeld }: SnapshotState): Promise<void> {
    if (!isHeld) throw gone();
    const { snapshots } = await this.#sources.chain.client.request({ method: "anvil_metadata" });
    if (!Object.hasOwn(snapshots, snapshotId)) throw gone();
  }

  /** A revert to a block that a reorg took away would leave Anvil without a newest block, so it is looked for first. */
  async #requireBlock({ block }: SnapshotState): Promise<void> {
    const { client } = this.#sources.chain;
    const there = await client.getBlock({ blockNumber: block.number }).catch(absent);
    if (there?.hash === block.hash) return;
    throw new SandboxError(
      "stale_snapshot",
      `This snapshot is no longer valid, because a reorg removed block ${block.number}, at which it was taken. Take a new one.`,
    );
  }
}

function gone(): SandboxError {
  return new SandboxError("stale_snapshot", "The node no longer has this snapshot. Take a new one.");
}

/** Has the node keep its state of a block, all of it: of one that is being made it would keep the state with the number before. */
async function snapshotChain(client: ChainClient) {
  for (;;) {
    await awaitAutomine(toNode(client.request));
    const latest = await client.getBlock({ blockTag: "latest" });
    const snapshotId = await client.snapshot();
    const [after, pending] = await Promise.all([
      client.getBlock({ blockTag: "latest" }),
      client.getBlock({ blockTag: "pending" }),
    ]);
    if (after.hash === latest.hash) return { latest, pending, snapshotId };
  }
}
