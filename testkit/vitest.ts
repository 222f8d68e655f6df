import { test as base } from "vitest";
import type { SandboxOptions } from "../sandbox/options/options.ts";
import { openPool, type Pool } from "./pool/pool.ts";

/** Options of `sandboxTest`. */
export interface SandboxTestOptions extends SandboxOptions {
  /**
   * `worker` (default): one sandbox per worker, reset before each test, which takes milliseconds. `test`: a new one
   * for each test, which is what `test.concurrent` needs.
   */
  scope?: "worker" | "test";
}

/**
 * A vitest `test` with a `sandbox` that is reset before each test; what an earlier test left under way reaches no later one, unless it asked the
 * URLs themselves.
 *
 * @example
 * const test = sandboxTest({ seed: "checkout" });
 * test("pays", async ({ sandbox }) => { … });
 */
export function sandboxTest({ scope = "worker", ...options }: SandboxTestOptions = {}) {
  return (
    base
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads what a fixture needs from this pattern, here nothing
      .extend("sandboxPool", { scope: "worker" }, async ({}, { onCleanup }): Promise<Pool> => {
        const pool = openPool(options, scope);
        onCleanup(async () => await pool.close());
        return pool;
      })
      .extend("sandbox", async ({ sandboxPool }, { onCleanup }) => {
        const { sandbox, end } = await sandboxPool.lease();
        onCleanup(end);
        return sandbox;
      })
  );
}
