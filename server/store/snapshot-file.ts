import { existsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type Adapter, Low } from "lowdb";
import { replaceFile } from "../replace-file.ts";
import { damaged, readCheckedLines, StoreDamagedError, toLine } from "./checked-lines.ts";
import { type CollectionName, collectionNames } from "./records.ts";
import type { Stored, StoreImage } from "./store.ts";

/** Everything that a store held at one moment. */
export interface StoreContents {
  /** The journal entries up to this number are in it. */
  upTo: number;
  counters: { readonly [counter: string]: number };
  /** Records are never changed in place, so that these stay as they were. */
  collections: ReadonlyMap<CollectionName, readonly Stored<unknown>[]>;
}

interface Header {
  format: number;
  up_to: number;
  counters: StoreContents["counters"];
}

/** A record as the file holds it. */
type RecordLine = [collection: CollectionName, key: string, revision: number, value: unknown];

/** The one format that is written and read. */
const currentFormat = 2;

/** How much is put together before it is written, in characters: a few milliseconds of work, between which commits continue. */
const portion = 2 ** 18;

/** The contents of a store that nothing was written to. */
export const emptyContents: StoreContents = { upTo: 0, counters: {}, collections: new Map() };

/**
 * Reads the snapshot of a data directory.
 *
 * @returns null when there is none.
 * @throws StoreDamagedError, also for another format.
 */
export async function readSnapshot(file: string): Promise<StoreContents | null> {
  if (!existsSync(file)) return null;
  await requireFormat(file);
  const snapshot = new Low<StoreContents>(new SnapshotFile(file), emptyContents);
  await snapshot.read();
  return snapshot.data;
}

/**
 * Replaces the snapshot of a data directory, durably; what was there before stays whole until then.
 *
 * @returns how long it is, in bytes.
 */
export async function writeSnapshot(file: string, contents: StoreContents): Promise<number> {
  const adapter = new SnapshotFile(file);
  await new Low<StoreContents>(adapter, contents).write();
  return adapter.bytes;
}

/** The adapter that lowdb reads and writes through: a line for each record, each with its checksum, the whole synced to disk. */
class SnapshotFile implements Adapter<StoreContents> {
  readonly #file: string;
  bytes = 0;

  constructor(file: string) {
    this.#file = file;
  }

  async read(): Promise<StoreContents> {
    const file = this.#file;
    const collections = new Map<CollectionName, Stored<unknown>[]>(collectionNames.map((name) => [name, []]));
    let header: Header | null = null;
    let records = 0;
    let complete = false;
    let last = 0;
    for await (const { number, text } of readCheckedLines(file, "refuse")) {
      last = number;
      const line: Header | RecordLine | { records: number } = JSON.parse(text);
      if (complete) throw damaged(file, number, "it comes after the end");
      if ("format" in line) header = line;
      else if ("records" in line) complete = line.records === records;
      else {
        const [collection, key, revision, value] = line;
        const list = collections.get(collection);
        if (list === undefined) throw damaged(file, number, `there is no collection ${collection}`);
        list.push({ key, revision, value });
        records += 1;
      }
    }
    if (header === null) throw damaged(file, 1, "the header is missing");
    if (!complete) throw damaged(file, last, "records are missing");
    return { upTo: header.up_to, counters: header.counters, collections };
  }

  async write(contents: StoreContents): Promise<void> {
    await replaceFile(this.#file, async (handle) => {
      this.bytes = await writeLines(handle, contents);
    });
  }
}

async function writeLines(
  handle: FileHandle,
  { upTo, counters, collections }: StoreContents,
): Promise<number> {
  let records = 0;
  let bytes = 0;
  let waiting = toLine({ format: currentFormat, up_to: upTo, counters } satisfies Header);
  const write = async () => {
    bytes += (await handle.write(waiting)).bytesWritten;
    waiting = "";
  };
  for (const [collection, stored] of collections)
    for (const { key, revision, value } of stored) {
      waiting += toLine([collection, key, revision, value] satisfies RecordLine);
      records += 1;
      if (waiting.length > portion) await write();
    }
  waiting += toLine({ records });
  await write();
  return bytes;
}

/** @throws StoreDamagedError for a snapshot of another format, and for one without a header. */
async function requireFormat(file: string): Promise<void> {
  if (await isOneDocument(file)) throw otherFormat(file, 1);
  for await (const { number, text } of readCheckedLines(file, "refuse")) {
    const { format }: Partial<Header> = JSON.parse(text);
    if (format === undefined) throw damaged(file, number, "the header is missing");
    if (format !== currentFormat) throw otherFormat(file, format);
    return;
  }
  throw damaged(file, 1, "the header is missing");
}

/** Format 1 was one JSON document; a line of this format begins with its checksum. */
async function isOneDocument(file: string): Promise<boolean> {
  await using handle = await open(file, "r");
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1);
  return bytesRead === 1 && buffer.toString() === "{";
}

function otherFormat(file: string, format: number): StoreDamagedError {
  return new StoreDamagedError(
    `${file}, line 1: this is format ${format}, and this version reads format ${currentFormat}. Use the version that wrote it, or start with --fresh.`,
  );
}

/** The contents of an image. */
export function contentsOf({ counters, collections }: StoreImage, upTo: number): StoreContents {
  const lists = collectionNames.map((name) => {
    const records = Object.entries(collections[name] ?? {});
    return [name, records.map(([key, { revision, value }]) => ({ key, revision, value }))] as const;
  });
  return { upTo, counters, collections: new Map(lists) };
}
