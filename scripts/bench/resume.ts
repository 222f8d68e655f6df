/** A stop and a resume of a data directory with 5,000 purchases, compared with Anvil's load of the same state and a bare write of the same bytes. */
import { mkdtemp, open, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAnvil } from "../../sandbox/chain/anvil/start-anvil.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { type Benchmark, elapsed } from "./benchmark.ts";

const purchases = 5_000;
const startTimeoutMs = 600_000;
const gasBudgetWei = 10n ** 22n;
/** So many that a stop writes a checkpoint. */
const blocks = 20;

const written = "write and sync of the same files";

const dataDirectory = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
const start = async () => await createSandbox({ dataDirectory, startTimeoutMs, gasBudgetWei });
let sandbox = await start();
for (let made = 1; made <= purchases; made += 1) {
  await sandbox.given.purchase({ state: "active" });
  if (made % 500 === 0) process.stderr.write(`${made} purchases\n`);
}

async function writeBare(): Promise<number> {
  const store = join(dataDirectory, "store");
  const names = await readdir(store);
  const files = await Promise.all(
    names.map(async (name) => [name, await readFile(join(store, name))] as const),
  );
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
  const took = await elapsed(async () => {
    for (const [name, bytes] of files) {
      await using file = await open(join(folder, name), "w");
      await file.writeFile(bytes);
      await file.sync();
    }
  });
  await rm(folder, { recursive: true });
  return took;
}

async function loadBare(): Promise<number> {
  const checkpoint = (await readdir(join(dataDirectory, "store"))).find((name) =>
    /^chain\.\w{16}\.json$/.test(name),
  );
  if (checkpoint === undefined) throw new Error("The stop has written no checkpoint.");
  const initialState = join(dataDirectory, "store", checkpoint);
  let anvil: AsyncDisposable | undefined;
  const took = await elapsed(async () => {
    anvil = await startAnvil({ initialState });
  });
  await anvil?.[Symbol.asyncDispose]();
  return took;
}

/** The benchmark `resume`. */
export const benchmark: Benchmark = {
  title: `A stop and a resume with ${purchases} active purchases, each with its block`,
  baseline: "Anvil alone, loading the checkpoint",
  rounds: 5,
  subjects: {
    stop: async () => {
      await sandbox.chain.client.mine({ blocks });
      return await elapsed(async () => await sandbox.close());
    },
    [written]: writeBare,
    "Anvil alone, loading the checkpoint": loadBare,
    resume: async () =>
      await elapsed(async () => {
        sandbox = await start();
      }),
  },
  comparedTo: { stop: written, [written]: written },
  bars: { stop: { noMoreThan: 2_000 }, resume: { noMoreThan: 2_000 } },
  close: async () => {
    await sandbox.close();
    await rm(dataDirectory, { recursive: true, force: true });
  },
};
