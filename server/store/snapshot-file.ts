import { type FileHandle, open } from "node:fs/promises";
import { type Adapter, Low } from "lowdb";
import { JSONFile } from "lowdb/node";
import { replaceFile } from "../replace-file.ts";
import { damaged, readCheckedLines, StoreDamagedError, toLine } from "./checked-lines.ts";
import { type CollectionName, collectionNames } from "./records.ts";
import type { Stored, StoreImage } from "./store.ts";
import { upgradeRecord } from "./upgrade-record.ts";

/** Everything that a store held at one moment. */
export interface StoreContents {
  /** The journal entries up to this number are in it. */
  upTo: number;
  counters: { readonly [counter: string]: number };
  /** Records are never changed in place, so that these stay as they were. */
  collections: ReadonlyMap<CollectionName, readonly Stored<unknown>[]>;
}

/** What was found on disk, and the format that it was written in. */
export interface KeptContents extends StoreContents {
  format: number;
}

interface Header {
  format: number;
  up_to: number;
  counters: StoreContents["counters"];
}

/** A record as the file holds it. */
type RecordLine = [collection: CollectionName, key: string, revision: number, value: unknown];

/** The snapshot of format 1: one JSON document. */
interface FirstFormat {
  up_to: number;
  image: StoreImage;
}

/** The format that is written. */
export const currentFormat = 2;

/** How much is put together before it is written, in characters: a few milliseconds of work, between which commits go on. */
const portion = 2 ** 18;

const nothing: StoreContents = { upTo: 0, counters: {}, collections: new Map() };

/**
 * Reads the snapshot of a data directory, in this format or an older one.
 *
 * @returns format 0 when there is none.
 * @throws StoreDamagedError, also for a newer format.
 */
export async function readSnapshot(file: string): Promise<KeptContents> {
  switch (await formatOf(file)) {
    case 0:
      return { ...nothing, format: 0 };
    case 1:
      return await readFirstFormat(file);
    default: {
      const snapshot = new Low<StoreContents>(new SnapshotFile(file), nothing);
      await snapshot.read();
      return { ...snapshot.data, format: currentFormat };
    }
  }
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

/** 0 when there is no file. */
async function formatOf(file: string): Promise<number> {
  try {
    await using handle = await open(file, "r");
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1);
    if (bytesRead === 1 && buffer.toString() === "{") return 1;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return 0;
    throw error;
  }
  for await (const { number, text } of readCheckedLines(file, "refuse")) {
    const { format }: Partial<Header> = JSON.parse(text);
    if (format === currentFormat) return format;
    if (format === undefined) throw damaged(file, number, "the header is missing");
    throw new StoreDamagedError(
      `${file}, line 1: this is format ${format}, and this version reads the formats 1 to ${currentFormat}. Use the version that wrote it, or start with --fresh.`,
    );
  }
  throw damaged(file, 1, "the header is missing");
}

async function readFirstFormat(file: string): Promise<KeptContents> {
  const snapshot = new Low<FirstFormat | null>(new JSONFile(file), null);
  await snapshot.read().catch((cause: unknown) => {
    throw damaged(file, 1, "from here on it is not JSON", cause);
  });
  if (snapshot.data?.image.version !== 1) throw damaged(file, 1, "it is no snapshot of format 1");
  const { up_to, image } = snapshot.data;
  const { collections, ...rest } = contentsOf(image, up_to);
  const lists = [...collections].map(([name, records]) => {
    const upgraded = records.map((stored) => ({ ...stored, value: upgradeRecord(name, stored.value) }));
    return [name, upgraded] as const;
  });
  return { format: 1, ...rest, collections: new Map(lists) };
}

/** The contents of an image. */
export function contentsOf({ counters, collections }: StoreImage, upTo: number): StoreContents {
  const lists = collectionNames.map((name) => {
    const records = Object.entries(collections[name] ?? {});
    return [name, records.map(([key, { revision, value }]) => ({ key, revision, value }))] as const;
  });
  return { upTo, counters, collections: new Map(lists) };
}
