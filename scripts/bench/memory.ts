/**
 * Resident memory: of a sandbox with its Anvil, at rest and with 100,000 stored purchases, compared with a bare Express with a bare Anvil; and
 * of the Anvil alone after 1,000 purchases on chain, compared with a bare Anvil that has mined the same blocks.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";
import { keptStates } from "../../sandbox/chain/start-chain.ts";
import type { Benchmark } from "./benchmark.ts";

const host = fileURLToPath(new URL("memory-host.ts", import.meta.url));
const weighed = z.object({ node: z.number(), anvil: z.number() });
const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
const data = join(folder, "data");

async function weigh(what: string, ...rest: string[]): Promise<z.infer<typeof weighed>> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", host, what, ...rest]);
  return weighed.parse(JSON.parse(stdout));
}

async function both(what: string, ...rest: string[]): Promise<number> {
  const { node, anvil } = await weigh(what, ...rest);
  return node + anvil;
}

/** Leaves its blocks for the bare Anvil, which is weighed after it. */
async function sandboxAnvil(): Promise<number> {
  await rm(data, { recursive: true, force: true });
  return (await weigh("chain", "1000", data)).anvil;
}

const sameBlocks = "bare Anvil, the same 3,000 transactions";

/** The benchmark `memory`. */
export const benchmark: Benchmark = {
  title: "Resident memory of the process and its Anvil, and of Anvil alone",
  baseline: "bare Express and Anvil",
  unit: "MiB",
  rounds: 3,
  subjects: {
    "bare Express and Anvil": async () => await both("bare"),
    "a sandbox at rest": async () => await both("stored", "0"),
    "with 100,000 purchases": async () => await both("stored", "100000"),
    "its Anvil, 1,000 purchases on chain": sandboxAnvil,
    [sameBlocks]: async () => (await weigh("again", String(keptStates), data)).anvil,
    "bare Anvil, them and one state": async () => (await weigh("again", "1", data)).anvil,
  },
  comparedTo: {
    [sameBlocks]: sameBlocks,
    "its Anvil, 1,000 purchases on chain": sameBlocks,
    "bare Anvil, them and one state": sameBlocks,
  },
  bars: {
    "with 100,000 purchases": { noMoreThan: 400 },
    "its Anvil, 1,000 purchases on chain": { atMost: 1.25 },
  },
  close: async () => await rm(folder, { recursive: true, force: true }),
};
