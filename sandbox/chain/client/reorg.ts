import { Mutex } from "async-mutex";
import { type EIP1193RequestFn, type Transport, zeroAddress } from "viem";
import { z } from "zod";
import { RpcRefusedError } from "../../../relayer/errors.ts";
import { awaitAutomine, isAutomining, startAutomine } from "../../../relayer/node/automine.ts";
import {
  askNode,
  countMinable,
  type Node,
  readBlockTime,
  readHead,
  readNextBlockTime,
  readNonce,
  toNode,
} from "../../../relayer/node/node.ts";
import { raiseOffset, readOffset } from "../clock/anvil-offset.ts";
import type { ClockMode } from "../clock/clock.ts";
import { rpcErrorCodes } from "../rpc/error-codes.ts";
import { awaitsBlock } from "./node-socket.ts";

/** The blocks that a chain needs to be the one that it is. */
interface ChainBeginning {
  /** The newest block that Anvil loaded when it started. */
  loadedBlock: number;
  /** The block that the chain's epoch is made of, the last one of the prepared chain. */
  epochBlock: number;
}

/**
 * Thrown when a reorg would lose more than its blocks: the state before them, or the time.
 *
 * Not a CodedError: a client of a chain expects the number of a JSON-RPC error (EIP-1193), and viem repeats a request that fails without one.
 */
class ReorgDepthError extends Error {
  override readonly name = "ReorgDepthError";
  readonly code = rpcErrorCodes.invalidParams;
}

/**
 * Makes sure that Anvil can take the given number of blocks off the chain. Of blocks before the newest one that it loaded it has no contract code
 * to go back to, and leaves every address without code while it answers success; of blocks whose state it no longer keeps it has nothing.
 * Without the block of its epoch, the chain would be another one.
 *
 * @throws ReorgDepthError with the greatest depth that is possible now.
 */
async function requireReorgDepth(
  node: Node,
  { loadedBlock, epochBlock }: ChainBeginning,
  depth: number,
): Promise<void> {
  const head = await readHead(node);
  const oldest = Math.max(loadedBlock, epochBlock);
  if (head - depth >= oldest && (await keepsState(node, head - depth))) return;
  const first = await findOldestKept(node, oldest, head);
  const reason =
    first === epochBlock
      ? `the prepared chain ends with block ${epochBlock}`
      : first === loadedBlock
        ? `Anvil loaded the chain at block ${loadedBlock} and has no contract code for blocks before it`
        : `Anvil keeps no state of blocks before block ${first}`;
  const most = head - first;
  const isLimitOfStates = first !== epochBlock && first !== loadedBlock;
  // Each mined block drops the oldest state, so mining helps only against the other two limits.
  const remedy = isLimitOfStates ? "Remove fewer blocks." : "Remove fewer blocks, or mine first.";
  throw new ReorgDepthError(
    `A reorg can remove at most ${most} ${most === 1 ? "block" : "blocks"} now, not ${depth}, because ${reason}. ${remedy}`,
  );
}

/** The oldest block from `oldest` to `head` whose state is kept; those before it were dropped first. */
async function findOldestKept(node: Node, oldest: number, head: number): Promise<number> {
  let low = oldest;
  let high = head;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await keepsState(node, middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

async function keepsState(node: Node, block: number): Promise<boolean> {
  try {
    await readNonce(node, zeroAddress, block);
    return true;
  } catch (error) {
    if (error instanceof RpcRefusedError) return false;
    throw error;
  }
}

/** A chain that can be reorganized. */
export interface ReorgedChain {
  beginning: () => ChainBeginning;
  mode: ClockMode;
  gate: MiningGate;
  /** The recorder of the changes of the chain, if they are recorded. */
  recorded?: RecordedChain;
}

/** Records what happens on a chain. */
export interface RecordedChain {
  /** The transport for requests other than reorgs. */
  transport: Transport;
  /** Makes a call and records it. */
  call: <T>(call: { method: string; params: readonly unknown[] }, run: () => Promise<T>) => Promise<T>;
  /** Returns whether a call has to run while the node makes no block. */
  isBetween: (method: string) => boolean;
}

const reorgParams = z.tuple([z.coerce.number(), z.array(z.tuple([z.unknown(), z.unknown()])).default([])]);

/** The transactions of the new blocks, each with the number of its block, from 0. */
type Placed = z.infer<typeof reorgParams>[1];

/** The number of tries to stop automine while it has nothing to mine. */
const attempts = 1_000;

/** Lets requests to a node run together, and what must not meet a block exclusively, while the node makes none. */
export class MiningGate {
  readonly #node: Node;
  readonly #exclusive = new Mutex();
  #underWay = 0;
  #allEnded: PromiseWithResolvers<void> | undefined;

  /** @param node - is asked without the gate. */
  constructor(node: Node) {
    this.#node = node;
  }

  /**
   * Does work that waits for a block, when nothing runs exclusively. Exclusive work does not wait for its end, because Anvil waits up to 30
   * seconds for a transaction that cannot be mined; a transaction that arrives during exclusive work is mined after it.
   */
  async runWaiting<T>(work: () => Promise<T>): Promise<T> {
    await this.#untilOpen();
    return await work();
  }

  /** Does work that may make a block, unless something runs exclusively: then it waits for that. */
  async runShared<T>(work: () => Promise<T>): Promise<T> {
    await this.#untilOpen();
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#allEnded?.resolve();
    }
  }

  /** Does work when all shared work has ended, while the node makes no block. Blocks that are made by interval are shared work. */
  async runExclusive<T>(work: () => Promise<T>): Promise<T> {
    return await this.#exclusive.runExclusive(async () => {
      if (this.#underWay > 0) {
        this.#allEnded = Promise.withResolvers();
        await this.#allEnded.promise;
      }
      return await withoutAutomine(this.#node, work);
    });
  }

  async #untilOpen(): Promise<void> {
    while (this.#exclusive.isLocked()) await this.#exclusive.waitForUnlock();
  }
}

/**
 * A transport to an Anvil whose reorgs keep the time: no new block has a time before the reorg's time. While one runs, all other requests
 * wait and nothing is mined. Refused before they reach Anvil: a reorg that is too deep, and every rollback, which makes no
 * block that could have the time.
 */
export function guardReorgs(transport: Transport, chain: ReorgedChain): Transport {
  return (parameters) => {
    const inner = transport(parameters);
    const node = toNode(inner.request);
    const { gate, recorded } = chain;
    const passed = recorded?.transport(parameters) ?? inner;
    const request: EIP1193RequestFn = async (question) => {
      const { method, params }: { method: string; params?: unknown } = question;
      if (method === "anvil_rollback")
        throw new ReorgDepthError(
          "anvil_rollback is refused because time would go back. Replace blocks with anvil_reorg, or restore a snapshot.",
        );
      if (method === "anvil_reorg")
        return await gate.runExclusive(async () => {
          const [depth, placed] = reorgParams.parse(params);
          await requireReorgDepth(node, chain.beginning(), depth);
          const replaced = { mode: chain.mode, depth, placed };
          const { call = async (_, run) => await run() }: Partial<RecordedChain> = recorded ?? {};
          return await call(
            { method, params: [depth, placed] },
            async () => await keepTime(node, replaced, async () => await inner.request(question)),
          );
        });
      if (recorded?.isBetween(method))
        return await gate.runExclusive(async () => await passed.request(question));
      if (awaitsBlock({ method })) return await gate.runWaiting(async () => await passed.request(question));
      return await gate.runShared(async () => await passed.request(question));
    };
    return { ...inner, request };
  };
}

/**
 * Replaces the newest blocks by others from now on. Anvil sets its clock to the block that it goes back to, and of what is set only the
 * interval between blocks outlasts that: with all the lost time as the interval the first new block comes now, and a second reorg gives the later
 * blocks the times after it.
 */
async function keepTime<Answer>(
  node: Node,
  { mode, depth, placed }: { mode: ClockMode; depth: number; placed: Placed },
  reorg: () => Promise<Answer>,
): Promise<Answer> {
  const head = await readHead(node);
  const [kept, now, offset] = await Promise.all([
    readBlockTime(node, head - depth),
    mode === "live" ? readNextBlockTime(node) : readBlockTime(node, head),
    readOffset(node),
  ]);
  const step = mode === "live" ? 0 : 1;
  try {
    await setTimestampInterval(node, now - kept);
    const answer = await reorg();
    await setTimestampInterval(node, step);
    const later = placed.flatMap(([transaction, block]) =>
      Number(block) > 0 ? [[transaction, Number(block) - 1]] : [],
    );
    if (depth > 1) await askNode(node, "anvil_reorg", [depth - 1, later], z.unknown());
    return answer;
  } finally {
    if (mode === "live") {
      await askNode(node, "anvil_removeBlockTimestampInterval", [], z.unknown());
      await raiseOffset(node, offset);
    } else await setTimestampInterval(node, step);
  }
}

async function setTimestampInterval(node: Node, seconds: number): Promise<void> {
  await askNode(node, "anvil_setBlockTimestampInterval", [seconds], z.unknown());
}

/**
 * Runs a step while the node makes no block, outside the gate: a block that is made during a dump leaves the dump torn. Pending
 * transactions are mined afterwards, in the mode in which the node mined before.
 */
export async function withoutMining<Answer>(node: Node, step: () => Promise<Answer>): Promise<Answer> {
  return await withoutAutomine(node, async () => {
    const interval = await askNode(node, "anvil_getIntervalMining", [], z.int().nullable());
    if (interval === null) return await step();
    await askNode(node, "evm_setIntervalMining", [0], z.unknown());
    try {
      return await step();
    } finally {
      await askNode(node, "evm_setIntervalMining", [interval], z.unknown());
    }
  });
}

/** A block that is made during a reorg leaves the chain without another. */
async function withoutAutomine<Answer>(node: Node, step: () => Promise<Answer>): Promise<Answer> {
  if (!(await isAutomining(node))) return await step();
  await stopAutomine(node);
  try {
    return await step();
  } finally {
    await startAutomine(node);
  }
}

/** Stops automine when it has mined everything, or at once when it cannot. */
async function stopAutomine(node: Node): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const settled = await awaitAutomine(node);
    await askNode(node, "evm_setAutomine", [false], z.unknown());
    if (!settled || (await countMinable(node)) === 0) return;
    await askNode(node, "evm_setAutomine", [true], z.unknown());
  }
}
