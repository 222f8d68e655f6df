import type { MiningMode } from "../../relayer/relayer.ts";
import type { ChainClient } from "../anvil/chain-client.ts";

/** When blocks are mined: at each transaction, so many seconds of real time apart, or only when they are asked for. */
export type MiningPace = "transaction" | "never" | number;

/**
 * Sets when blocks are mined. A restore brings back what the snapshot saw.
 *
 * @example await setMining(client, "never"); // what is sent stays pending
 */
export async function setMining(client: ChainClient, every: MiningPace): Promise<void> {
  if (every === "transaction") {
    await client.setAutomine(true);
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

/**
 * Ends mining: what is pending is dropped, and a block that is being made is made when this resolves. A revert that meets
 * mining would leave its block on the chain, on top of what was reverted to.
 */
export async function endMining(client: ChainClient): Promise<void> {
  await setMining(client, "never");
  await client.request({ method: "anvil_dropAllTransactions" });
  // Anvil makes one block at a time: this one comes after any other.
  await client.mine({ blocks: 1 });
}

/** Has a node mine as it did. */
export async function restoreMining(client: ChainClient, { automine, interval }: MiningMode): Promise<void> {
  await setMining(client, automine ? "transaction" : (interval ?? "never"));
}
