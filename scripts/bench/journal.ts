/**
 * Measures the size of a block in a data directory behind the last checkpoint, compared with its signed transaction.
 */
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { approveCall } from "../../protocol/call.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { readDirectory } from "../../server/store/directory/directory-store.ts";
import type { Benchmark } from "./benchmark.ts";

/** With all blocks of a run, fewer than have a checkpoint written. */
const transactions = 100;
const purchases = 20;

const dataDirectory = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
const sandbox = await createSandbox({ dataDirectory });
const store = join(dataDirectory, "store");

async function sizeOfStore(): Promise<number> {
  const files = (await readdir(store)).map(async (name) => (await stat(join(store, name))).size);
  return (await Promise.all(files)).reduce((sum, size) => sum + size, 0);
}

/** KiB for each block of which a step made one or more. */
async function grownBy(step: () => Promise<void>): Promise<number> {
  const { client, journal } = sandbox.chain;
  const [size, height] = [await sizeOfStore(), await client.getBlockNumber()];
  await step();
  await journal?.announce();
  return ((await sizeOfStore()) - size) / Number((await client.getBlockNumber()) - height) / 1_024;
}

const signed = "the signed transactions alone";

/** The benchmark `journal`. */
export const benchmark: Benchmark = {
  title: "KiB that a data directory grows by for each block behind the last checkpoint",
  baseline: signed,
  unit: "KiB per block",
  rounds: 1,
  subjects: {
    "a wallet's transactions": async () =>
      await grownBy(async () => {
        const { token, registrar } = sandbox.description.contracts;
        for (let sent = 0; sent < transactions; sent += 1)
          await sandbox.wallets.buyer.sendCall(approveCall(token, registrar, BigInt(sent)));
      }),
    "refunded purchases, with all records": async () =>
      await grownBy(async () => {
        for (let made = 0; made < purchases; made += 1)
          await sandbox.given.purchase({ state: "refunded", claimed: "1" });
      }),
    [signed]: async () => {
      const { chain = [] } = await readDirectory(store);
      const blocks = chain.filter((change) => change.kind === "block");
      const bytes = blocks.flatMap((block) => block.transactions).map((raw) => (String(raw).length - 2) / 2);
      return bytes.reduce((sum, length) => sum + length, 0) / blocks.length / 1_024;
    },
  },
  bars: { "a wallet's transactions": { noMoreThan: 2 } },
  close: async () => {
    await sandbox.close();
    await rm(dataDirectory, { recursive: true, force: true });
  },
};
