import { maxUint64, maxUint128, toHex } from "viem";
import type { MiningMode } from "../../relayer/relayer.ts";
import { awaitAutomine } from "../../server/chain/await-automine.ts";
import type { ChainClient } from "../anvil/chain-client.ts";

/** When blocks are mined: at each transaction, so many seconds of real time apart, or only when they are asked for. */
export type MiningPace = "transaction" | "never" | number;

/**
 * Sets when blocks are mined. A restore brings back what the snapshot saw. What a node that mines at once has to mine is mined before
 * it stops doing so, and what is pending once it does so again.
 *
 * @example await setMining(client, "never"); // what is sent stays pending
 */
export async function setMining(client: ChainClient, every: MiningPace): Promise<void> {
  await awaitAutomine(client.request);
  if (every === "transaction") {
    await client.setAutomine(true);
    await awaitAutomine(client.request);
    return;
  }
  await client.setAutomine(false);
  await client.setIntervalMining({ interval: every === "never" ? 0 : every });
}

/** Reads how a node mines. */
export async function readMining(client: ChainClient): Promise<MiningMode> {
  const [automine, interval] = await Promise.all([
    client.getAutomine(),
    client.request({ method: "anvil_getIntervalMining" }),
  ]);
  return { automine, interval };
}

/** Whether a node makes a block now, or may at any moment. */
export async function isMining(client: ChainClient): Promise<boolean> {
  // A transaction stays in the pool until its block is made.
  const [{ pending, queued }, { interval }] = await Promise.all([
    client.getTxpoolStatus(),
    readMining(client),
  ]);
  return pending + queued > 0 || interval !== null;
}

/** Pays itself; a revert takes it back. */
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
  // What Anvil has taken from its pool waits in a queue, also when it is dropped, and no call shows it: the way to know that the queue
  // is empty is to go through it. The first may be in it twice if it met automine's beginning, the second is not.
  const flush = { from: flusher, to: flusher, gas: toHex(21_000), gasPrice: toHex(maxUint64) } as const;
  await client.request({ method: "eth_sendTransactionSync", params: [flush] });
  await client.request({ method: "eth_sendTransactionSync", params: [flush] });
  await client.stopImpersonatingAccount({ address: flusher });
}

/** Has a node mine as it did. */
export async function restoreMining(client: ChainClient, { automine, interval }: MiningMode): Promise<void> {
  await setMining(client, automine ? "transaction" : (interval ?? "never"));
}
