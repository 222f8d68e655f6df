/**
 * Resident memory: of a sandbox with its Anvil, at rest and with 100,000 stored purchases, compared with a bare Express with a bare Anvil; and
 * of the Anvil alone after 1,000 purchases on chain, compared with a bare Anvil that has mined the same blocks. And the start with the purchases.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { keptStates } from "../../sandbox/chain/start-chain.ts";
import type { Benchmark } from "./benchmark.ts";

const host = fileURLToPath(new URL("memory-host.ts", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));

/** Measures in a process of its own. */
async function ask(what: string, number: number, data: string): Promise<number> {
  const args = ["--expose-gc", host, what, String(number), join(folder, data)];
  return Number((await promisify(execFile)(process.execPath, args)).stdout);
}

/** Leaves its data for the subjects after it. */
async function askAnew(what: string, number: number, data: string): Promise<number> {
  await rm(join(folder, data), { recursive: true, force: true });
  return await ask(what, number, data);
}

const started = "start with 100,000 purchases";
const sameBlocks = "bare Anvil, the same 3,000 transactions";

/** The benchmark `memory`. */
export const benchmark: Benchmark = {
  title: "Resident memory of the process and its Anvil, and of Anvil alone",
  baseline: "bare Express and Anvil",
  unit: "MiB",
  rounds: 3,
  subjects: {
    "bare Express and Anvil": async () => await ask("bare", 0, ""),
    "a sandbox at rest": async () => await askAnew("stored", 0, "rest"),
    "with 100,000 purchases": async () => await askAnew("stored", 100_000, "stored"),
    [started]: async () => await ask("start", 0, "stored"),
    "its Anvil, 1,000 purchases on chain": async () => await askAnew("chain", 1_000, "chain"),
    [sameBlocks]: async () => await ask("again", keptStates, "chain"),
  },
  units: { [started]: "ms" },
  comparedTo: {
    [started]: started,
    [sameBlocks]: sameBlocks,
    "its Anvil, 1,000 purchases on chain": sameBlocks,
  },
  bars: {
    "with 100,000 purchases": { noMoreThan: 900 },
    [started]: { noMoreThan: 3_000 },
    "its Anvil, 1,000 purchases on chain": { atMost: 1.25 },
  },
  close: async () => await rm(folder, { recursive: true, force: true }),
};
