import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** A sync that a journal waits for. */
export interface HeldSync {
  /** Has the disk do it. */
  pass(): void;
  /** Has the disk refuse it; whether it has written anything is not known then. */
  fail(): void;
}

/** A disk that does nothing until it is told to. */
export interface HeldDisk extends Disposable {
  /** The next sync that is asked for. */
  next(): Promise<HeldSync>;
  /** How many syncs were asked for. */
  asked(): number;
  /** Works as ever from now on. */
  release(): void;
}

/** Stands before the syncs of every journal in this process. */
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

/** The files of a directory by name, as the number of their inode: what a name stands for. */
export interface Listing {
  [name: string]: number;
}

/** Which files are in a directory now. */
export async function listingOf(directory: string): Promise<Listing> {
  const names = await readdir(directory);
  const entries = names.map(async (name) => [name, (await stat(join(directory, name))).ino] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** Notes what a directory lists each time that it is synced: what is there after a power failure. */
export async function watchNames(directory: string): Promise<{ synced: Listing[] } & Disposable> {
  await using handle = await open(directory, "r");
  const { ino } = await handle.stat();
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  const { sync } = prototype;
  const synced: Listing[] = [];
  prototype.sync = async function (this: FileHandle) {
    await sync.call(this);
    if ((await this.stat()).ino === ino) synced.push(await listingOf(directory));
  };
  return {
    synced,
    [Symbol.dispose]: () => {
      prototype.sync = sync;
    },
  };
}
