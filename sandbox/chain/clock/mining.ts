import { maxUint64, maxUint128, toHex } from "viem";
import { z } from "zod";
import { awaitAutomine, startAutomine } from "../../../relayer/node/automine.ts";
import { toNode } from "../../../relayer/node/node.ts";
import type { Part } from "../../lib/part.ts";
import type { ChainClient } from "../client/chain-client.ts";

/** How a node mines. */
export interface MiningMode {
  automine: boolean;
  /** Seconds between blocks, or null. */
  interval: number | null;
}

/** The pace of mining: at each transaction, at a fixed interval in seconds of real time, or only on request. */
export type MiningPace = "transaction" | "never" | number;

/**
 * Sets when blocks are mined; a restore brings back the pace that the snapshot had. A node that mines at each transaction mines its
 * pending transactions before it stops doing so; transactions that are pending then are mined once it does so again.
 *
 * @example await setMining(client, "never"); // transactions stay pending
 */
export async function setMining(client: ChainClient, every: MiningPace): Promise<void> {
  const node = toNode(client.request);
  if (every === "transaction") {
    await startAutomine(node);
    return;
  }
  await awaitAutomine(node);
  await client.setAutomine(false);
  await client.setIntervalMining({ interval: every === "never" ? 0 : every });
}

/** The number of blocks of one request to the node. The node mines no others meanwhile, and mining gets slower with every block. */
const portion = 100;

/** The sizes of the portions that many blocks are mined in, so that a restore does not wait for all of them. */
export function portionsOf(blocks: number): number[] {
  return Array.from({ length: Math.ceil(blocks / portion) }, (_, index) =>
    Math.min(portion, blocks - index * portion),
  );
}

/** Mines a portion of blocks, after the block of a transaction that was already sent to an automining node. */
export async function mineBlocks(client: ChainClient, blocks: number): Promise<void> {
  await awaitAutomine(toNode(client.request));
  await client.mine({ blocks });
}

/** Reads how a node mines. */
export async function readMining(client: ChainClient): Promise<MiningMode> {
  const [automine, interval] = await Promise.all([
    client.getAutomine(),
    client.request({ method: "anvil_getIntervalMining" }),
  ]);
  return { automine, interval };
}

/** Returns whether a node is mining a block, or can start to at any time. */
export async function isMining(client: ChainClient): Promise<boolean> {
  // A transaction stays in the pool until its block is made.
  const [{ pending, queued }, interval] = await Promise.all([
    client.getTxpoolStatus(),
    client.request({ method: "anvil_getIntervalMining" }),
  ]);
  return pending + queued > 0 || interval !== null;
}

/** An account that pays itself; a revert undoes the payment. */
const flusher = "0x00000000000000000000000000000000000F1005";

/**
 * Has a node be done with mining: what is pending is dropped, and every block that the node has begun or will still begin is made when this resolves. A
 * revert that meets mining would leave its block on the chain, on top of what was reverted to. Leaves blocks of its own, and the node
 * mining at once with nothing to mine.
 */
export async function drainMining(client: ChainClient): Promise<void> {
  await client.request({ method: "anvil_dropAllTransactions" });
  await Promise.all([
    client.setAutomine(true),
    client.setBalance({ address: flusher, value: maxUint128 }),
    client.impersonateAccount({ address: flusher }),
  ]);
  // Transactions that Anvil has taken from its pool wait in a queue, also when they are dropped, and no call shows the queue. It is empty
  // once a new transaction has passed through it. The first may be in it twice if it met automine's beginning, the second is not.
  const flush = { from: flusher, to: flusher, gas: toHex(21_000), gasPrice: toHex(maxUint64) } as const;
  await client.request({ method: "eth_sendTransactionSync", params: [flush] });
  await client.request({ method: "eth_sendTransactionSync", params: [flush] });
  // The answer tells of the block; the pool lets go of the transaction after that.
  await Promise.all([
    client.stopImpersonatingAccount({ address: flusher }),
    awaitAutomine(toNode(client.request)),
  ]);
}

/** Returns the part with a node's mining mode. It is restored after the relayer's faults, which can pause mining. */
export function miningPart(
  client: ChainClient,
  journal: { restoredMining(every: MiningPace): void } | null,
): Part<MiningMode> {
  return {
    name: "mining",
    schema: z.object({ automine: z.boolean(), interval: z.int().nullable() }),
    capture: async () => await readMining(client),
    async restore({ automine, interval }) {
      const now = await readMining(client);
      const every = automine ? "transaction" : (interval ?? "never");
      journal?.restoredMining(every);
      if (now.automine !== automine || now.interval !== interval) await setMining(client, every);
    },
  };
}
