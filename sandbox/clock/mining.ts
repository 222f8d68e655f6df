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

/** Has a node mine as it did. */
export async function restoreMining(client: ChainClient, { automine, interval }: MiningMode): Promise<void> {
  await setMining(client, automine ? "transaction" : (interval ?? "never"));
}
