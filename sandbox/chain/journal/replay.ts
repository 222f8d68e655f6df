import { zeroAddress } from "viem";
import { z } from "zod";
import { RpcRefusedError } from "../../../relayer/errors.ts";
import { askNode, type Node, readHeadBlock, toNode } from "../../../relayer/node/node.ts";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import {
  type BlockChange,
  type CallChange,
  type ChainChange,
  isImpersonation,
} from "../../../server/store/chain-changes.ts";
import { anvilVersion } from "../anvil/anvil-binary.ts";
import { AnvilError } from "../anvil/anvil-error.ts";
import type { ChainClient } from "../client/chain-client.ts";
import { setMining } from "../clock/mining.ts";
import { lastPace } from "./chain-journal.ts";
import type { KnownBlock } from "./known-blocks.ts";

const minedSchema = z.array(z.object({ hash: z.string() }));

/** How the blocks of a journal are made again. */
interface ReplayOptions {
  /** How many of the changes the state of the node has in it; the last of them is the checkpoint. */
  position: number;
  /** Called for each block, with how many are made, and of how many. */
  made: (blocks: number, all: number) => void;
  /**
   * Whether to find out which calls came after the next block, instead of making all of them before it. The node then keeps a copy of the state
   * for each block with calls, as no snapshot can be dropped without going back to it.
   */
  searches: boolean;
  /** The folder of the journal. */
  folder: string;
}

/**
 * Makes the blocks of a journal again on the state that they came from, or on a checkpoint's state, and compares the hash of each.
 *
 * @throws AnvilError replay_failed with the first block that differs.
 */
export async function replay(
  node: Node,
  changes: readonly ChainChange[],
  { position, made, searches, folder }: ReplayOptions,
): Promise<void> {
  const replayer = new Replayer(node, searches, folder);
  const behind = changes.slice(position);
  const all = behind.filter(({ kind }) => kind === "block").length;
  let blocks = 0;
  await replayer.begin(changes[position - 1]);
  for (const change of behind) {
    if (change.kind === "call") replayer.postpone(change);
    if (change.kind !== "block") continue;
    await replayer.make(change);
    blocks += 1;
    made(blocks, all);
  }
  await replayer.end(changes);
}

/**
 * Resumes mining after a replay, once the clock is set: sends again what waited for a block, and sets when blocks are made.
 */
export async function resumeMining(client: ChainClient, changes: readonly ChainChange[]): Promise<void> {
  const node = toNode(client.request);
  for (const change of changes)
    if (change.kind === "sent")
      // A transaction that is no longer possible would not have been mined.
      await node("eth_sendRawTransaction", [change.transaction]).catch((error: unknown) => {
        if (!(error instanceof RpcRefusedError)) throw error;
      });
  await setMining(client, lastPace(changes));
}

class Replayer {
  readonly #node: Node;
  readonly #searches: boolean;
  readonly #folder: string;
  /** The calls since the latest block. */
  #calls: CallChange[] = [];
  #coinbase = "";
  #gasLimit = "";
  #isTimed = false;

  constructor(node: Node, searches: boolean, folder: string) {
    this.#node = node;
    this.#searches = searches;
    this.#folder = folder;
  }

  async begin(loaded: ChainChange | undefined): Promise<void> {
    await this.#ask("evm_setAutomine", [false]);
    if (loaded?.kind !== "checkpoint") return;
    const { hash } = await readHeadBlock(this.#node);
    if (hash !== loaded.hash) throw this.#differs(loaded);
    await this.#ask("evm_setBlockGasLimit", [loaded.gas_limit]);
    await this.#ask("anvil_setNextBlockBaseFeePerGas", [loaded.base_fee]);
  }

  postpone(call: CallChange): void {
    this.#calls.push(call);
  }

  /** Makes a block. A call that came while it was being made may have had its effect before it or after it: the hash shows which. */
  async make(block: BlockChange): Promise<void> {
    const calls = this.#calls;
    this.#calls = [];
    if (calls.length === 0 || !this.#searches) {
      for (const call of calls) await this.#call(call);
      if (await this.#mine(block)) return;
      throw this.#differs(block);
    }
    for (let before = calls.length; before >= 0; before -= 1) {
      const id = await askNode(this.#node, "evm_snapshot", [], hexSchema);
      for (const call of calls.slice(0, before)) await this.#call(call);
      if (await this.#mine(block)) {
        this.#calls = calls.slice(before);
        return;
      }
      await this.#ask("anvil_dropAllTransactions", []);
      await this.#ask("evm_revert", [id]);
      // A revert takes back more than the state.
      this.#gasLimit = "";
      this.#coinbase = "";
      this.#isTimed = false;
    }
    throw this.#differs(block);
  }

  /** Leaves the node as it was when the last change happened. */
  async end(changes: readonly ChainChange[]): Promise<void> {
    await this.#ask("anvil_setCoinbase", [zeroAddress]);
    for (const call of this.#calls) await this.#call(call);
    for (const change of changes) if (isImpersonation(change)) await this.#call(change);
  }

  async #call({ method, params }: CallChange): Promise<void> {
    await this.#ask(method, params);
  }

  /** @returns whether the block is the one that there was. */
  async #mine(block: BlockChange): Promise<boolean> {
    try {
      return (await this.#makeOne(block)) === block.hash;
    } catch (error) {
      // On another state, a transaction may lack its funds or its nonce.
      if (error instanceof RpcRefusedError) return false;
      throw error;
    }
  }

  async #makeOne(block: BlockChange): Promise<string | undefined> {
    if (block.coinbase !== this.#coinbase) await this.#ask("anvil_setCoinbase", [block.coinbase]);
    if (block.gas_limit !== this.#gasLimit) await this.#ask("evm_setBlockGasLimit", [block.gas_limit]);
    this.#coinbase = block.coinbase;
    this.#gasLimit = block.gas_limit;
    await this.#ask("anvil_setNextBlockBaseFeePerGas", [block.base_fee]);
    for (const account of block.touched ?? []) await this.#ask("anvil_setBalance", [account, "0x0"]);
    const impersonated = new Set<unknown>();
    for (const transaction of block.transactions)
      if (typeof transaction === "string") await this.#ask("eth_sendRawTransaction", [transaction]);
      else {
        const { from } = transaction;
        await this.#ask("anvil_impersonateAccount", [from]);
        impersonated.add(from);
        await this.#ask("eth_sendTransaction", [transaction]);
      }
    // The clock first, once: the time of a block may not lie before it.
    if (!this.#isTimed) await this.#ask("evm_setTime", [block.timestamp]);
    this.#isTimed = true;
    const [mined] = await askNode(
      this.#node,
      "evm_mine_detailed",
      [{ timestamp: block.timestamp }],
      minedSchema,
    );
    for (const account of impersonated) await this.#ask("anvil_stopImpersonatingAccount", [account]);
    return mined?.hash;
  }

  async #ask(method: string, params: readonly unknown[]): Promise<void> {
    await this.#node(method, params);
  }

  #differs({ number, hash }: KnownBlock): AnvilError {
    return new AnvilError(
      "replay_failed",
      `Block ${number} of ${this.#folder} cannot be made again: Anvil ${anvilVersion()} makes a block with another hash than ${hash}. Start with the version of Anvil that made it, or restore the data directory from a backup; nothing in it was changed.`,
    );
  }
}
