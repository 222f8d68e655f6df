import { afterAll } from "vitest";
import type { SandboxOptions } from "../../sandbox/options/options.ts";
import type { Snapshot } from "../../sandbox/state/snapshot.ts";
import { createExplorableSandbox, type ExplorableSandbox } from "../../testkit/explore/explorable-sandbox.ts";

/**
 * Returns what gives each test of a file a sandbox as it was when it had started: the same one for all, restored first.
 *
 * @example
 * const freshSandbox = shareSandbox({ seed: "checkout" });
 * test("…", async () => {
 *   const { given } = await freshSandbox();
 * });
 */
export function shareSandbox(options: SandboxOptions = {}): () => Promise<ExplorableSandbox> {
  let shared: { sandbox: ExplorableSandbox; start: Snapshot } | undefined;
  afterAll(async () => await shared?.sandbox.close());
  return async () => {
    if (shared === undefined) {
      const sandbox = await createExplorableSandbox(options);
      shared = { sandbox, start: await sandbox.snapshot() };
    } else await shared.start.restore();
    return shared.sandbox;
  };
}
