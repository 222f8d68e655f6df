import { type FileHandle, lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";

/** A sync that a journal waits for. */
export interface HeldSync {
  /** Has the disk do it. */
  pass(): void;
  /** Has the disk refuse it; whether it has written anything is not known then. */
  fail(): void;
}

/** A disk that does nothing until it is released. */
export interface HeldDisk extends Disposable {
  /** The next sync that is asked for. */
  next(): Promise<HeldSync>;
  /** Returns the number of requested syncs. */
  asked(): number;
  /** Works as ever from now on. */
  release(): void;
}

/** Holds back the syncs of every journal in this process. */
export async function holdDisk(): Promise<HeldDisk> {
  await using handle = await open("/dev/null");
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  const { datasync } = prototype;
  const held: HeldSync[] = [];
  const all = new Set<HeldSync>();
  const waiting: ((sync: HeldSync) => void)[] = [];
  prototype.datasync = async function (this: FileHandle) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sync = { pass: resolve, fail: () => reject(new Error("EIO: i/o error, fdatasync")) };
    const next = waiting.shift();
    all.add(sync);
    if (next === undefined) held.push(sync);
    else next(sync);
    await promise;
    await datasync.call(this);
  };
  const release = () => {
    prototype.datasync = datasync;
    for (const { pass } of all) pass();
  };
  return {
    async next() {
      return held.shift() ?? (await new Promise((resolve) => waiting.push(resolve)));
    },
    asked: () => all.size,
    release,
    [Symbol.dispose]: release,
  };
}

/** The files of a directory by name, as the number of their inode. */
export interface Listing {
  [name: string]: number;
}

/** Returns the files that are in a directory now. */
export async function listingOf(directory: string): Promise<Listing> {
  const names = await readdir(directory);
  const entries = names.map(async (name) => [name, (await lstat(join(directory, name))).ino] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** A file whose content was synced, and what its directory listed by then. */
interface WrittenFile {
  ino: number;
  size: number;
  listed: Listing;
}

/**
 * The contents of a directory on disk after a power failure: its names each time that it is synced, and the files that
 * were synced.
 */
interface WatchedNames extends Disposable {
  synced: Listing[];
  written: WrittenFile[];
}

/** Notes each sync of a directory and of a file while a directory is written to. */
export async function watchNames(directory: string): Promise<WatchedNames> {
  await using handle = await open(directory, "r");
  const { ino } = await handle.stat();
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  const { sync } = prototype;
  const synced: Listing[] = [];
  const written: WrittenFile[] = [];
  prototype.sync = async function (this: FileHandle) {
    await sync.call(this);
    const file = await this.stat();
    const listed = await listingOf(directory);
    if (file.ino === ino) synced.push(listed);
    else if (file.isFile()) written.push({ ino: file.ino, size: file.size, listed });
  };
  return {
    synced,
    written,
    [Symbol.dispose]: () => {
      prototype.sync = sync;
    },
  };
}

/** Has the disk take half of what is appended to any file in this process, and refuse the rest. */
export async function tearWrites(): Promise<Disposable> {
  await using handle = await open("/dev/null");
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  const { appendFile } = prototype;
  prototype.appendFile = async function (this: FileHandle, data: string | Uint8Array) {
    const bytes = Buffer.from(data);
    await appendFile.call(this, bytes.subarray(0, bytes.length / 2));
    throw new Error("ENOSPC: no space left on device, write");
  };
  return {
    [Symbol.dispose]: () => {
      prototype.appendFile = appendFile;
    },
  };
}
