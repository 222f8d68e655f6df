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
  rounds: 50,
  subjects: {
    "bare evm_snapshot and evm_revert": async () =>
      await elapsed(async () => {
        const id = await client.snapshot();
        await client.revert({ id });
      }),
    "sandbox restore": async () => {
      await client.mine({ blocks: 1 });
      return await elapsed(async () => await start.restore());
    },
  },
  bars: { "sandbox restore": { atMost: 3 } },
  close: async () => await sandbox.close(),
};
