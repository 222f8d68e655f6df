import { expect } from "vitest";
import type { SandboxOptions } from "../../sandbox/options/options.ts";
import type { Snapshot } from "../../sandbox/state/snapshot.ts";
import { createExplorableSandbox, type ExplorableSandbox } from "../../testkit/explore/explorable-sandbox.ts";

/** A sandbox that test files share, and the file that used it last. */
interface Shared {
  sandbox: ExplorableSandbox;
  start: Snapshot;
  user: string | undefined;
}

/** The sandboxes that this worker runs, by their options; all of its test files share them. They end with the worker. */
const running = new Map<string, Shared>();

/**
 * Returns a sandbox that is as it was when it had started: the one that earlier tests of this worker used, restored, or a new one if there is none.
 * It is the caller's until the next call with the same options. Do not close it, and do not end its Anvil.
 *
 * @param options - as JSON can write them: what a test passes as a function needs a sandbox of its own.
 * @throws Error when the test before has left the sandbox in a state that cannot be restored; names the file of that test.
 * @example const { given, client } = await freshSandbox();
 */
export async function freshSandbox(options: SandboxOptions = {}): Promise<ExplorableSandbox> {
  const key = JSON.stringify(options);
  const user = expect.getState().testPath;
  const shared = running.get(key);
  if (shared !== undefined) {
    running.delete(key);
    if (await isRestored(shared)) {
      running.set(key, { ...shared, user });
      return shared.sandbox;
    }
    await shared.sandbox.close();
  }
  const sandbox = await createExplorableSandbox(options);
  running.set(key, { sandbox, start: await sandbox.snapshot(), user });
  return sandbox;
}

/** Restores a sandbox, unless a reorg has removed the block that it started with. */
async function isRestored({ start, user }: Shared): Promise<boolean> {
  try {
    await start.restore();
    return true;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "stale_snapshot") return false;
    throw new Error(`The sandbox that ${user} used last cannot be restored.`, { cause });
  }
}
