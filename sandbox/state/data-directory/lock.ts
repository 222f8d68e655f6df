import { access, constants, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { lock } from "proper-lockfile";
import { z } from "zod";
import { causesOf } from "../../../protocol/coded-error.ts";
import { readText } from "../../../server/lib/file-kind.ts";
import { makeDirectory } from "../../../server/lib/make-directory.ts";
import { replaceFile } from "../../../server/lib/replace-file.ts";
import { unwritable } from "../../../server/store/directory/directory-store.ts";
import { SandboxError } from "../../lib/errors/sandbox-error.ts";
import { isRunning, processRecord, recordProcess, signalProcess } from "../../lib/processes/processes.ts";
import { wait } from "../../lib/time/wait.ts";
import { requireFiles } from "./sandbox-file.ts";

// Node ignores this signal, so that a limit on the size of files refuses a write. proper-lockfile has it end the process unless there is
// another listener. It is imported with this module, because its listeners of other signals must come before those that stop a sandbox.
process.on("SIGXFSZ", () => {});

/** A data directory that this process has taken. */
export interface DirectoryLock {
  /** Names the Anvil that runs for it: the next process that takes the directory ends it if nothing else has. */
  nameAnvil(pid: number): Promise<void>;
  /** Gives the directory back. */
  release(): Promise<void>;
}

/**
 * Takes a data directory for this process. The lock names the process, so that one left by a dead process blocks no other.
 *
 * @throws SandboxError data_directory_in_use; StoreUnavailableError when the disk refuses.
 * @example const { release } = await lockDataDirectory(".sandbox")
 */
export async function lockDataDirectory(directory: string): Promise<DirectoryLock> {
  try {
    return await takeLock(directory);
  } catch (cause) {
    throw unwritable(`The data directory ${directory}`, cause);
  }
}

/**
 * Takes a data directory for a process that this one is about to start, and that takes it over with {@link lockDataDirectory}. So a start is seen from its
 * first moment on.
 *
 * @returns a function that gives the directory back, unless another process has taken it over.
 * @throws as {@link lockDataDirectory} does.
 * @example const release = await lockForChild(".sandbox")
 */
export async function lockForChild(directory: string): Promise<() => Promise<void>> {
  const { release } = await takeLock(directory, { forChild: true });
  return async () => {
    if ((await readLock(directory))?.pid === process.pid) await release();
  };
}

/**
 * Keeps a sandbox from being started in a data directory while it is read. Where nothing can be written, no sandbox can be started either.
 *
 * @returns a function that ends that.
 * @throws SandboxError data_directory_in_use; StoreUnavailableError when the disk refuses.
 */
export async function lockForReading(directory: string): Promise<() => Promise<void>> {
  try {
    return (await lockDataDirectory(directory)).release;
  } catch (error) {
    if (!causesOf(error).some((cause) => Reflect.get(cause, "code") === "EROFS")) throw error;
    await requireFree(directory);
    return async () => {};
  }
}

async function takeLock(directory: string, holder: { forChild?: boolean } = {}): Promise<DirectoryLock> {
  await makeDirectory(directory);
  await requireFiles(directory);
  // Without this, the lock would be tried for 10 s.
  await access(directory, constants.W_OK);
  const file = lockFileIn(directory);
  const record = { ...recordProcess(process.pid), ...holder, directory: await identityOf(directory) };
  // Two starters must not both find the same dead owner and both take its place.
  const retries = { retries: 100, minTimeout: 20, maxTimeout: 100 };
  const leave = await lock(directory, {
    lockfilePath: join(directory, "lock.taking"),
    stale: 5_000,
    retries,
  });
  try {
    await requireFree(directory);
    await endLeftAnvil(directory);
    await replaceFile(file, JSON.stringify(record));
  } finally {
    await leave();
  }
  return {
    nameAnvil: async (pid) =>
      await replaceFile(file, JSON.stringify({ ...record, anvil: recordProcess(pid) })),
    release: async () => await rm(file, { force: true }),
  };
}

/** Ends the Anvil of a sandbox that has ended, which its guard does unless it was killed with the sandbox. */
async function endLeftAnvil(directory: string): Promise<void> {
  const owner = await readOwner(directory);
  const pid = owner === null ? null : leftAnvilOf(owner);
  if (owner?.anvil === undefined || pid === null) return;
  signalProcess(pid, "SIGKILL");
  while (isRunning(owner.anvil)) await wait(10);
}

/**
 * Returns the process id of the Anvil in a lock, if it runs. Where the system does not tell when a process started, the id may be another one's, and
 * null is returned.
 */
export function leftAnvilOf({ anvil }: z.infer<typeof lockRecord>): number | null {
  return anvil === undefined || anvil.started === null || !isRunning(anvil) ? null : anvil.pid;
}

/** @throws SandboxError data_directory_in_use */
async function requireFree(directory: string): Promise<void> {
  const owner = await readOwner(directory);
  const isHeldForThis = owner?.forChild === true && owner.pid === process.ppid;
  if (owner !== null && isRunning(owner) && !isHeldForThis)
    throw new SandboxError(
      "data_directory_in_use",
      `Process ${owner.pid} runs a sandbox in ${directory}. Stop it, or choose another directory with the option dataDirectory.`,
    );
}

/**
 * Reads which process has taken a data directory; it may have ended since. Null when none has, and in a copy of a directory that one has
 * taken.
 */
export async function readOwner(directory: string): Promise<z.infer<typeof lockRecord> | null> {
  return (await isCopy(directory)) ? null : await readLock(directory);
}

/** Returns whether a directory is a copy of one that a process had taken. */
export async function isCopy(directory: string): Promise<boolean> {
  const owner = await readLock(directory);
  return owner?.directory !== undefined && owner.directory !== (await identityOf(directory));
}

/** Reads a lock; null when it is absent or not a lock: in either case it is not held. */
async function readLock(directory: string): Promise<z.infer<typeof lockRecord> | null> {
  try {
    return lockRecord.parse(JSON.parse((await readText(lockFileIn(directory))) ?? ""));
  } catch {
    return null;
  }
}

/** The content of a lock; `directory` is the {@link identityOf} the one that was taken. */
const lockRecord = processRecord.extend({
  directory: z.string().optional(),
  /** Whether the process has taken the directory for one that it starts. */
  forChild: z.boolean().optional(),
  anvil: processRecord.optional(),
});

/** Distinguishes a directory from its copies; it stays when the directory is renamed or mounted elsewhere. */
async function identityOf(directory: string): Promise<string> {
  const { dev, ino } = await stat(directory, { bigint: true });
  return `${dev}:${ino}`;
}

function lockFileIn(directory: string): string {
  return join(directory, "lock.json");
}
