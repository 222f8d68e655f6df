import { randomUUID } from "node:crypto";
import { lstatSync, readFileSync, statSync } from "node:fs";
import { access, constants, readdir, readlink, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { z } from "zod";
import { causesOf, codeOf } from "../../protocol/coded-error.ts";
import { makeDirectory } from "../../server/lib/make-directory.ts";
import { replaceFile } from "../../server/lib/replace-file.ts";
import { unwritable } from "../../server/store/directory/directory-store.ts";
import { StoreUnavailableError } from "../../server/store/store.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import {
  isRunning,
  type ProcessRecord,
  processRecord,
  recordProcess,
  signalProcess,
} from "../lib/processes/processes.ts";
import { readJson } from "../lib/read-json.ts";
import { wait } from "../lib/time/timers.ts";
import { readOwn, requireFiles } from "./sandbox-file.ts";

/** The longest time to wait for another process that takes the same directory, in milliseconds; it needs a few. */
export const takingMs = 5_000;
/** The largest number of bytes of a lock. */
const mostBytes = 4_096;

/**
 * Takes a data directory for this process. The lock names the process, so that one left by a dead process blocks no other.
 *
 * @throws SandboxError data_directory_in_use; StoreUnavailableError when the disk refuses.
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
 */
export async function lockForChild(directory: string): Promise<() => Promise<unknown>> {
  const lock = await takeLock(directory, { forChild: true });
  return async () => await lock.release();
}

/**
 * Keeps a sandbox from being started in a data directory while it is read. Where nothing can be written, no sandbox can be started either.
 *
 * @returns a function that ends that.
 * @throws SandboxError data_directory_in_use; StoreUnavailableError when the disk refuses.
 */
export async function lockForReading(directory: string): Promise<() => Promise<unknown>> {
  try {
    const lock = await lockDataDirectory(directory);
    return async () => await lock.release();
  } catch (error) {
    if (!causesOf(error).some((cause) => codeOf(cause) === "EROFS")) throw error;
    await requireFree(directory);
    return async () => {};
  }
}

const ignored = ".gitignore";

/** Makes a data directory if it is missing. It will hold keys, and belongs into no repository. @returns as `makeDirectory` does. */
export async function makeDataDirectory(directory: string): Promise<string | undefined> {
  const made = await makeDirectory(directory);
  if (made !== undefined) await writeFile(join(directory, ignored), "*\n", { mode: 0o600 });
  return made;
}

/** Removes a data directory that holds nothing. */
export async function removeUnused(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  if (names.every((name) => name === ignored)) await rm(directory, { recursive: true, force: true });
}

async function takeLock(directory: string, holder: { forChild?: boolean } = {}): Promise<DirectoryLock> {
  await makeDataDirectory(directory);
  await requireFiles(directory);
  await access(directory, constants.W_OK);
  return await whileTaking(directory, async () => {
    await requireFree(directory);
    await endLeftAnvil(directory);
    const record = {
      ...recordProcess(process.pid),
      id: randomUUID(),
      ...holder,
      directory: requireIdentity(directory),
    };
    const lock = new DirectoryLock(directory, record);
    await lock.write();
    return lock;
  });
}

/** A data directory that this process has taken. */
export class DirectoryLock {
  readonly #directory: string;
  readonly #record: LockRecord;
  /** The beginning of the lock, to which the Anvil is added later. */
  readonly #head: string;
  #anvil: ProcessRecord | undefined;
  #store: (FollowedStore & { identity: string }) | null = null;
  readonly #lost = Promise.withResolvers<StoreUnavailableError>();
  #loss: StoreUnavailableError | null = null;

  constructor(directory: string, record: LockRecord) {
    this.#directory = directory;
    this.#record = record;
    this.#head = JSON.stringify(record).slice(0, -1);
  }

  /** Resolves with the reason when this process no longer has the directory: nothing in it may be written any more. */
  get lost(): Promise<StoreUnavailableError> {
    return this.#lost.promise;
  }

  /** Also makes sure from now on that the store is the one that this process has opened; null for none. */
  follow(store: FollowedStore | null): void {
    this.#store = store === null ? null : { ...store, identity: requireIdentity(store.directory) };
  }

  /** Names the Anvil that runs for the sandbox: the next process that takes the directory ends it if nothing else has. */
  async nameAnvil(pid: number): Promise<void> {
    this.#anvil = recordProcess(pid);
    await this.confirm();
    await this.write();
  }

  /**
   * Makes sure that this process still has the directory. A lock that was removed or damaged is written again.
   *
   * @throws StoreUnavailableError when it has not, or when the disk does not tell.
   */
  async confirm(): Promise<void> {
    if (this.#loss !== null) throw this.#loss;
    try {
      if (this.#isHeld()) return;
      await whileTaking(this.#directory, async () => {
        if (!this.#isHeld()) await this.#restore();
      });
    } catch (cause) {
      throw unwritable(`The data directory ${this.#directory}`, cause);
    }
  }

  /** Returns whether this process still has the directory, as far as the disk tells. */
  async isHeld(): Promise<boolean> {
    return await this.confirm().then(
      () => true,
      () => false,
    );
  }

  /**
   * Gives the directory back.
   *
   * @returns false when this process no longer has it: then nothing is changed.
   */
  async release(): Promise<boolean> {
    const isHeld = await this.isHeld();
    if (isHeld) await rm(lockFileIn(this.#directory), { force: true });
    return isHeld;
  }

  /** Writes the lock. @internal */
  async write(): Promise<void> {
    const anvil = this.#anvil === undefined ? {} : { anvil: this.#anvil };
    await replaceFile(lockFileIn(this.#directory), JSON.stringify({ ...this.#record, ...anvil }));
  }

  /** Synchronous, which takes some microseconds: every write asks it. */
  #isHeld(): boolean {
    const store = this.#store;
    if (store !== null && identityOf(store.directory) !== store.identity) return false;
    const file = lockFileIn(this.#directory);
    const there = lstatSync(file, { throwIfNoEntry: false });
    // To read a pipe or a device might never end.
    if (there?.isFile() !== true || there.size > mostBytes) return false;
    return readFileSync(file, "utf8").startsWith(this.#head);
  }

  async #restore(): Promise<void> {
    const directory = this.#directory;
    const store = this.#store;
    if (identityOf(directory) !== this.#record.directory) this.#lose(removed(directory));
    const owner = await readLock(directory);
    if (owner !== null && owner.id !== this.#record.id)
      this.#lose(
        `Process ${owner.pid} has taken ${directory} from this sandbox, whose lock.json was removed. Stop a sandbox before you start another one in its data directory.`,
      );
    if (store !== null && identityOf(store.directory) !== store.identity)
      this.#lose(removed(store.directory));
    // A sandbox may have been started and stopped meanwhile.
    if (store?.isUntouched() === false)
      this.#lose(
        `${lockFileIn(directory)} was removed while it was in use, and the store was changed since. Stop a sandbox before you change its data directory.`,
      );
    try {
      await requireFiles(directory);
      await this.write();
    } catch (error) {
      // It may have been moved only now.
      if (identityOf(directory) !== this.#record.directory) this.#lose(removed(directory));
      throw error;
    }
  }

  #lose(message: string): never {
    this.#loss = new StoreUnavailableError(message);
    this.#lost.resolve(this.#loss);
    throw this.#loss;
  }
}

/** The store in a data directory. */
interface FollowedStore {
  directory: string;
  /** Returns whether no other process has written to it. */
  isUntouched: () => boolean;
}

function removed(directory: string): string {
  return `${directory} was removed, moved or replaced while it was in use. Remove or move a data directory only after its sandbox has stopped.`;
}

/**
 * Runs a step while no other process takes the same directory: two starters must not both find the same dead owner and both take its place. If
 * they do, as on a file system without symbolic links, one of them loses the lock and notices that with its next write.
 */
async function whileTaking<T>(directory: string, step: () => Promise<T>): Promise<T> {
  const file = join(directory, "lock.taking");
  const { pid, started } = recordProcess(process.pid);
  // A link is made with its content, so that a process that is killed has left nothing or its name.
  const own = `${pid} ${started ?? ""}`;
  const deadline = performance.now() + takingMs;
  for (;;) {
    const isTaken = await symlink(own, file).then(
      () => false,
      (error: unknown) => codeOf(error) === "EEXIST",
    );
    if (!isTaken || performance.now() > deadline) break;
    const there = lstatSync(file, { throwIfNoEntry: false });
    if (there === undefined) continue;
    // Of the first versions: a directory.
    if (there.isDirectory()) await rmdir(file).catch(async () => await wait(10));
    else if (!there.isSymbolicLink() || isLeft(await readlink(file).catch(() => own)))
      await rm(file, { force: true });
    else await wait(10);
  }
  try {
    return await step();
  } finally {
    if ((await readlink(file).catch(() => null)) === own) await rm(file, { force: true });
  }
}

/** Returns whether the process that a link names has ended, or whether no process can have made the link. */
function isLeft(holder: string): boolean {
  const [, pid, started = ""] = /^(\d+) (\d*)$/.exec(holder) ?? [];
  return pid === undefined || !isRunning({ pid: Number(pid), started: started === "" ? null : started });
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
export function leftAnvilOf({ anvil }: LockRecord): number | null {
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
export async function readOwner(directory: string): Promise<LockRecord | null> {
  return (await isCopy(directory)) ? null : await readLock(directory);
}

/** Returns whether a directory is a copy of one that a process had taken. */
export async function isCopy(directory: string): Promise<boolean> {
  const owner = await readLock(directory);
  return owner?.directory !== undefined && owner.directory !== identityOf(directory);
}

/** Reads a lock; null when it is absent or not a lock: in either case it is not held. @throws StoreUnavailableError as {@link readOwn} does. */
async function readLock(directory: string): Promise<LockRecord | null> {
  const text = await readOwn(lockFileIn(directory));
  return lockRecord.safeParse(readJson(text ?? "")).data ?? null;
}

/** The content of a lock; `directory` is the {@link identityOf} the one that was taken. */
const lockRecord = processRecord.extend({
  /** Distinguishes the locks of one process. */
  id: z.string().optional(),
  directory: z.string().optional(),
  /** Whether the process has taken the directory for one that it starts. */
  forChild: z.boolean().optional(),
  anvil: processRecord.optional(),
});

type LockRecord = z.infer<typeof lockRecord>;

/** Distinguishes a directory from its copies; it stays when the directory is renamed or mounted elsewhere. Null when it is missing. */
function identityOf(directory: string): string | null {
  const there = statSync(directory, { bigint: true, throwIfNoEntry: false });
  return there === undefined ? null : `${there.dev}:${there.ino}`;
}

function requireIdentity(directory: string): string {
  const identity = identityOf(directory);
  if (identity === null) throw new StoreUnavailableError(removed(directory));
  return identity;
}

function lockFileIn(directory: string): string {
  return join(directory, "lock.json");
}
