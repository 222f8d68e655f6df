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
// another listener.
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

async function takeLock(directory: string): Promise<DirectoryLock> {
  await makeDirectory(directory);
  await requireFiles(directory);
  // Without this, the lock would be tried for 10 s.
  await access(directory, constants.W_OK);
  const file = lockFileIn(directory);
  const record = { ...recordProcess(process.pid), directory: await identityOf(directory) };
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

/**
 * Ends the Anvil of a sandbox that has ended. Its guard does that, unless it was killed with the sandbox. Where the system does not tell when
 * a process started, its id may be another one's, which is left alone.
 */
async function endLeftAnvil(directory: string): Promise<void> {
  const anvil = (await readOwner(directory))?.anvil;
  if (anvil === undefined || anvil.started === null || !isRunning(anvil)) return;
  signalProcess(anvil.pid, "SIGKILL");
  while (isRunning(anvil)) await wait(10);
}

/** @throws SandboxError data_directory_in_use */
async function requireFree(directory: string): Promise<void> {
  const owner = await readOwner(directory);
  if (owner !== null && isRunning(owner))
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
