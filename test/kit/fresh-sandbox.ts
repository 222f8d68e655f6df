import { expect } from "vitest";
import type { SandboxOptions } from "../../sandbox/options/options.ts";
import type { Snapshot } from "../../sandbox/snapshots/snapshot.ts";
import { createExplorableSandbox, type ExplorableSandbox } from "../../testkit/explore/explorable-sandbox.ts";

/** A sandbox that the tests of a file share. */
interface Shared {
  file: string | undefined;
  sandbox: ExplorableSandbox;
  start: Snapshot;
}

/** The sandboxes that this worker runs, by their options. The last ones end with the worker. */
const running = new Map<string, Shared>();

/**
 * Returns a sandbox that is as it was when it had started: the one that earlier tests of the same file used, restored, or a new one if there is none.
 * It is the caller's until the next call with the same options. Do not close it, and do not end its Anvil.
 *
 * A file does not get the sandbox of another one: Anvil keeps the states of 500 blocks, those that a restore has removed included.
 *
 * @param options - as JSON can write them: what a test passes as a function needs a sandbox of its own.
 * @example const { given, client } = await freshSandbox();
 */
export async function freshSandbox(options: SandboxOptions = {}): Promise<ExplorableSandbox> {
  const file = expect.getState().testPath;
  for (const [key, { sandbox, file: other }] of running)
    if (other !== file) {
      running.delete(key);
      await sandbox.close();
    }
  const key = JSON.stringify(options);
  const shared = running.get(key);
  if (shared !== undefined) {
    if (await isRestored(shared.start)) return shared.sandbox;
    running.delete(key);
    await shared.sandbox.close();
  }
  const sandbox = await createExplorableSandbox(options);
  running.set(key, { file, sandbox, start: await sandbox.snapshot() });
  return sandbox;
}

/** Restores a snapshot, unless a reorg has removed its block. */
async function isRestored(start: Snapshot): Promise<boolean> {
  try {
    await start.restore();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "stale_snapshot") return false;
    throw error;
  }
}
