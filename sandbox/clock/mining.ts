import type { ChainClient } from "../anvil/chain-client.ts";

/** When blocks are mined: at each transaction, so many seconds of real time apart, or only when they are asked for. */
export type MiningPace = "transaction" | "never" | number;

/**
 * Sets when blocks are mined. A restore leaves it as it is.
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
