/** From the call to a ready sandbox, in a process that has it loaded, beside a bare Anvil and `hardhat node`. */
import { startAnvil } from "../../sandbox/anvil/start-anvil.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import type { Benchmark } from "./benchmark.ts";
import { untilHardhatAnswers } from "./rpc-node.ts";

async function elapsed(open: () => Promise<AsyncDisposable>): Promise<number> {
  const began = performance.now();
  await using _opened = await open();
  return performance.now() - began;
}

/** The benchmark `create`. */
export const benchmark: Benchmark = {
  title: "From the call to a ready sandbox: chain, contracts, relayer, API, documentation and control",
  baseline: "bare Anvil",
  rounds: 9,
  subjects: {
    "bare Anvil": async () => await elapsed(async () => await startAnvil()),
    "hardhat node": untilHardhatAnswers,
    createSandbox: async () => await elapsed(async () => await createSandbox()),
  },
};
