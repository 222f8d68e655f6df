/** Resident memory of a sandbox with its Anvil, at rest and with 100,000 purchases, compared with a bare Express with a bare Anvil. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";
import type { Benchmark } from "./benchmark.ts";

const host = fileURLToPath(new URL("memory-host.ts", import.meta.url));
const weighed = z.object({ node: z.number(), anvil: z.number() });

async function weigh(what: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", host, what]);
  const { node, anvil } = weighed.parse(JSON.parse(stdout));
  return node + anvil;
}

/** The benchmark `memory`. */
export const benchmark: Benchmark = {
  title: "Resident memory of the process and its Anvil",
  baseline: "bare Express and Anvil",
  unit: "MiB",
  rounds: 3,
  subjects: {
    "bare Express and Anvil": async () => await weigh("bare"),
    "a sandbox at rest": async () => await weigh("0"),
    "with 100,000 purchases": async () => await weigh("100000"),
  },
};
