/** Restoring a snapshot: the whole sandbox compared with the bare chain's snapshot and revert. */
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { runDemo } from "../../testkit/demo/run-demo.ts";
import { type Benchmark, elapsed } from "./benchmark.ts";

const sandbox = await createSandbox({ seed: "bench" });
const { client } = sandbox.chain;

/** The state of one whole demo, so that there is something to restore. */
await runDemo(sandbox.description, silentPrinter);
const start = await sandbox.snapshot();

/** The benchmark `restore`. */
export const benchmark: Benchmark = {
  title: "Restoring a snapshot: chain, store, journal, clock and faults as one",
  baseline: "bare evm_snapshot and evm_revert",
  rounds: 9,
  subjects: {
    "bare evm_snapshot and evm_revert": async () => {
      let id = await client.snapshot();
      return await meanOf(async () => {
        await client.revert({ id });
        id = await client.snapshot();
      });
    },
    "sandbox restore": async () => await meanOf(async () => await start.restore()),
  },
  bars: { "sandbox restore": { atMost: 3 } },
  close: async () => await sandbox.close(),
};

/** Returns the mean time of going back over one block, in milliseconds, as in a run of tests that restores before each of them. */
async function meanOf(goBack: () => Promise<unknown>): Promise<number> {
  const times = 20;
  let sum = 0;
  for (let time = 0; time < times; time += 1) {
    await client.mine({ blocks: 1 });
    sum += await elapsed(async () => void (await goBack()));
  }
  return sum / times;
}
