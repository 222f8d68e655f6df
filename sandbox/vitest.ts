import { test as base } from "vitest";
import { createSandbox } from "./create-sandbox.ts";
import type { SandboxOptions } from "./options.ts";

/**
 * A vitest `test` with a `sandbox`: one sandbox a worker, back at its first moment before each test.
 *
 * @example
 * const test = sandboxTest({ seed: "checkout" });
 * test("pays", async ({ sandbox }) => { … });
 */
export function sandboxTest(options: SandboxOptions = {}) {
  return (
    base
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads what a fixture needs from this pattern, here nothing
      .extend("freshSandbox", { scope: "worker" }, async ({}, { onCleanup }) => {
        const sandbox = await createSandbox(options);
        const start = await sandbox.snapshot();
        onCleanup(async () => await sandbox.close());
        return { sandbox, start };
      })
      .extend("sandbox", async ({ freshSandbox: { sandbox, start } }) => {
        await start.restore();
        return sandbox;
      })
  );
}
