import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import {
  findListener,
  isRunning,
  type ProcessRecord,
  recordProcess,
  signalProcess,
} from "../../sandbox/lib/processes/processes.ts";
import { wait } from "../../sandbox/lib/time/wait.ts";
import { askControl } from "../../sandbox/state/ask-control.ts";
import { lockDataDirectory, readOwner } from "../../sandbox/state/data-directory/lock.ts";
import { unpublish } from "../../sandbox/state/data-directory/sandbox-file.ts";

const status = z.looseObject({ pid: z.int() });

/**
 * Stops the sandbox of a data directory. Removes the lock, the `sandbox.json` and the Anvil of a sandbox that was killed.
 *
 * @returns its process id; null if none runs.
 * @throws Error when it does not end in time.
 */
export async function stopIn(directory: string, timeoutMs: number): Promise<number | null> {
  const owner = await readOwner(directory);
  const runs = owner !== null && isRunning(owner);
  if (runs) await end(owner, timeoutMs);
  if (existsSync(join(directory, "lock.json"))) {
    const lock = await lockDataDirectory(directory);
    await unpublish(directory);
    await lock.release();
  }
  return runs ? owner.pid : null;
}

/**
 * Stops the sandbox that answers at the URL of a control API.
 *
 * @returns its process id; null if nothing answers there.
 * @throws Error when it is no process of this machine, and when it does not end in time.
 */
export async function stopAt(control: string, timeoutMs: number): Promise<number | null> {
  const answer = await askControl(control, "GET", "/status").catch(() => null);
  if (answer === null) return null;
  const { data } = status.safeParse(await answer.json().catch(() => null));
  const listener = await findListener(Number(new URL(control).port));
  // In another container, the id that it has there may be that of any process here.
  if (data === undefined || listener?.pid !== data.pid)
    throw new Error(
      `${control} is not the control API of a sandbox that runs as a process here. Stop it where it runs.`,
    );
  await end(recordProcess(data.pid), timeoutMs);
  return data.pid;
}

async function end(owner: ProcessRecord, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  signalProcess(owner.pid, "SIGTERM");
  while (isRunning(owner)) {
    if (performance.now() > deadline)
      throw new Error(
        `Process ${owner.pid} still runs after ${timeoutMs / 1_000} s. Wait longer with --timeout, or end it with kill -9 ${owner.pid}.`,
      );
    await wait(10);
  }
}
