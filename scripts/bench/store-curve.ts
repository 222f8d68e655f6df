import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import type { Benchmark, Unit } from "./benchmark.ts";
import { type Curve, pointOf } from "./curve.ts";
import { originalPurchase } from "./purchase-copies.ts";
import type { StoreOfSize } from "./store-of-size.ts";

const units: { readonly [Series in keyof StoreOfSize]: Unit } = {
  write: "ms",
  read: "µs",
  page: "µs",
  start: "ms",
  memory: "MiB",
  disk: "MiB",
};
const program = fileURLToPath(new URL("store-of-size.ts", import.meta.url));

/** Writes what a real purchase leaves in the store to a file, for the copies. */
async function writeOriginal(file: string): Promise<void> {
  await using sandbox = await createSandbox({ seed: "bench" });
  await writeFile(file, JSON.stringify(await originalPurchase(sandbox)));
}

/**
 * Fills a directory store of each size, and returns the benchmark that measures them.
 *
 * @throws Error if a process ends while it fills a store.
 * @example export const benchmark = await openCurve(purchasesCurve, 3);
 */
export async function openCurve({ benchmark: name, sizes }: Curve, rounds: number): Promise<Benchmark> {
  const root = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
  const original = join(root, "purchase.json");
  await writeOriginal(original);
  const run = async (mode: "fill" | "measure", size: number) =>
    await promisify(execFile)(process.execPath, [
      "--expose-gc",
      program,
      mode,
      join(root, String(size)),
      String(size),
      original,
    ]);
  const subjects: Record<string, () => Promise<number>> = {};
  const comparedTo: Record<string, string> = {};
  const unitOf: Record<string, Unit> = {};
  for (const size of sizes) {
    process.stderr.write(`${name}: storing ${size.toLocaleString("en-US")} purchases\n`);
    await run("fill", size).catch(async (error: { stdout?: string }) => {
      await rm(root, { recursive: true, force: true });
      const stored = error.stdout?.trim().split("\n").at(-1) ?? "0";
      throw new Error(`The process of the store ended when it had stored ${stored} of ${size} purchases.`, {
        cause: error,
      });
    });
    let last: StoreOfSize | undefined;
    for (const [series, unit] of Object.entries(units) as [keyof StoreOfSize, Unit][]) {
      const subject = pointOf(series, size);
      unitOf[subject] = unit;
      comparedTo[subject] = pointOf(series, sizes[0] ?? size);
      subjects[subject] = async () => {
        // One process measures all series of a size, in each round.
        if (last === undefined || series === "write") last = JSON.parse((await run("measure", size)).stdout);
        return last?.[series] ?? Number.NaN;
      };
    }
  }
  return {
    title: "A directory store, by the number of its purchases",
    baseline: pointOf("write", sizes[0] ?? 0),
    subjects,
    comparedTo,
    units: unitOf,
    rounds,
    close: async () => await rm(root, { recursive: true, force: true }),
  };
}
