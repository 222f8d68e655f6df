import { type FileHandle, open } from "node:fs/promises";

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
