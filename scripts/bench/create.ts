/** From the call to a ready sandbox, in a process that has it loaded, compared with a bare Anvil. */
import { startAnvil } from "../../sandbox/chain/anvil/start-anvil.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { type Benchmark, elapsed } from "./benchmark.ts";

async function start(open: () => Promise<AsyncDisposable>): Promise<number> {
  await using opened = new AsyncDisposableStack();
  return await elapsed(async () => opened.use(await open()));
}

/** The benchmark `create`. */
export const benchmark: Benchmark = {
  title: "From the call to a ready sandbox: chain, contracts, relayer, API, documentation and control",
  baseline: "bare Anvil",
  rounds: 9,
  subjects: {
    "bare Anvil": async () => await start(async () => await startAnvil()),
    createSandbox: async () => await start(async () => await createSandbox()),
  },
};
