import { Mutex } from "async-mutex";
import { z } from "zod";
import { structuredClone } from "../../protocol/globals.ts";
import { lookUntil } from "../../relayer/faults/fault-effects.ts";
import { isAutomining, startAutomine } from "../../relayer/node/automine.ts";
import { askNode, countMinable, type Node } from "../../relayer/node/node.ts";
import { FaultInvalidError, RpcRefusedError, RpcUnavailableError } from "../../relayer/relayer.ts";
import type { MiningMode } from "../chain/clock/mining.ts";
import { wait } from "../lib/time/timers.ts";

/** Does to a chain what faults do: reorgs, and a pause of mining that ends when the faults are cleared. */
export class ChainEffects {
  readonly #node: Node;
  /** One change of how the node mines at a time: each reads how it mines, and puts that back later. */
  readonly #turns = new Mutex();
  #paused: MiningMode | null = null;

  constructor(node: Node) {
    this.#node = node;
  }

  /** How the node mined before the first pause; null when it is not paused. */
  get paused(): MiningMode | null {
    return structuredClone(this.#paused);
  }

  /** Pauses mining. */
  async pauseMining(): Promise<void> {
    await this.#turns.runExclusive(async () => {
      const automine = await isAutomining(this.#node);
      const interval = await askNode(this.#node, "anvil_getIntervalMining", [], z.number().nullable());
      this.#paused ??= { automine, interval };
      await this.#stopMining();
    });
  }

  /** Pauses mining or resumes it, as `paused` was; when it is resumed, everything that waited is mined when this returns. */
  async restore(paused: MiningMode | null): Promise<void> {
    await this.#turns.runExclusive(async () => {
      await this.#resume();
      this.#paused = structuredClone(paused);
      if (paused !== null) await this.#stopMining();
    });
  }

  /**
   * Removes the newest blocks from the chain, with the block of a transaction just sent: automine answers before it makes the block.
   *
   * Anvil makes blocks while it reorganizes. The chain then lacks a block, and has receipts whose effects are not in its state.
   * So no block may be in progress and none may begin: automine is off, and there is nothing that it could have begun with.
   *
   * @throws FaultInvalidError when the node refuses, as it does for more blocks than it can take.
   */
  async reorganize(depth: number): Promise<void> {
    await this.#turns.runExclusive(async () => {
      if (!(await isAutomining(this.#node))) return await this.#reorg(depth);
      const isDone = async () => (await countMinable(this.#node)) === 0 && (await this.#reorgIfStill(depth));
      if (!(await lookUntil(isDone, { wait })))
        throw new RpcUnavailableError("anvil_reorg", new Error("the node does not mine what its pool has"));
    });
  }

  async #resume(): Promise<void> {
    const paused = this.#paused;
    this.#paused = null;
    if (paused === null) return;
    if (paused.interval !== null)
      await askNode(this.#node, "evm_setIntervalMining", [paused.interval], z.unknown());
    if (paused.automine) await startAutomine(this.#node);
  }

  async #stopMining(): Promise<void> {
    await askNode(this.#node, "evm_setAutomine", [false], z.unknown());
    await askNode(this.#node, "evm_setIntervalMining", [0], z.unknown());
  }

  async #reorgIfStill(depth: number): Promise<boolean> {
    await askNode(this.#node, "evm_setAutomine", [false], z.unknown());
    try {
      const still = (await countMinable(this.#node)) === 0;
      if (still) await this.#reorg(depth);
      return still;
    } finally {
      await askNode(this.#node, "evm_setAutomine", [true], z.unknown());
    }
  }

  async #reorg(depth: number): Promise<void> {
    try {
      await askNode(this.#node, "anvil_reorg", [depth, []], z.unknown());
    } catch (error) {
      // The operation is where it was: it is the fault that was refused.
      if (error instanceof RpcRefusedError) throw new FaultInvalidError(error.message, { cause: error });
      throw error;
    }
  }
}
