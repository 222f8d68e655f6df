import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { type Adapter, Low } from "lowdb";
import type { Json } from "../../../protocol/values/json.ts";
import { replaceFile } from "../../lib/replace-file.ts";
import type { ChainChange } from "../chain-changes.ts";
import { emptyContents, type StoreContents } from "../journaled/store-contents.ts";
import { type CollectionName, collectionNames } from "../records.ts";
import type { Stored } from "../store.ts";
import { damaged, lineSum, readCheckedLines, StoreDamagedError, toLine } from "./checked-lines.ts";

interface Header {
  format: number;
  up_to: number;
  chain_up_to: number;
  begin: Json;
  counters: StoreContents["counters"];
}

/** The last line: how many records there are, and the SHA-256 of the checksums of all lines before it, in hex. */
interface Footer {
  records: number;
  lines: string;
}

/** A record as the file holds it. */
type RecordLine = [collection: CollectionName, key: string, revision: number, value: unknown];

/** The one format that is written and read. */
const currentFormat = 4;

/**
 * The amount of text that is built before it is written, in characters: a few milliseconds of work, between which
 * commits continue.
 */
const portion = 2 ** 18;

/**
 * Reads the snapshot of a data directory.
 *
 * @throws StoreDamagedError, also for another format.
 */
export async function readStoreSnapshot(file: string): Promise<StoreContents> {
  await readHeader(file);
  const snapshot = new Low<StoreContents>(new StoreSnapshotFile(file), emptyContents);
  await snapshot.read();
  return snapshot.data;
}

/**
 * Replaces the snapshot of a data directory, durably; what was there before stays whole until then.
 *
 * @returns how long it is, in bytes.
 */
export async function writeStoreSnapshot(file: string, contents: StoreContents): Promise<number> {
  const adapter = new StoreSnapshotFile(file);
  await new Low<StoreContents>(adapter, contents).write();
  return adapter.bytes;
}

/** The adapter that lowdb reads and writes through: a line for each record, each with its checksum, the whole synced to disk. */
class StoreSnapshotFile implements Adapter<StoreContents> {
  readonly #file: string;
  bytes = 0;

  constructor(file: string) {
    this.#file = file;
  }

  async read(): Promise<StoreContents> {
    const file = this.#file;
    const collections = new Map<CollectionName, Stored<unknown>[]>(collectionNames.map((name) => [name, []]));
    const chain: ChainChange[] = [];
    let header: Header | null = null;
    let records = 0;
    let complete = false;
    let last = { number: 1, start: 0 };
    const lines = createHash("sha256");
    for await (const { number, start, sum, text } of readCheckedLines(file, "refuse")) {
      last = { number, start };
      const line: Header | RecordLine | { chain: ChainChange } | Footer = JSON.parse(text);
      if (complete) throw damaged(file, last, "it comes after the end");
      if ("records" in line) {
        complete = line.records === records;
        if (complete && line.lines !== lines.digest("hex"))
          throw damaged(file, last, "the lines before it are not those that were written with it");
        continue;
      }
      lines.update(sum);
      if ("format" in line) header = line;
      else if ("chain" in line) {
        chain.push(line.chain);
        records += 1;
      } else {
        const [collection, key, revision, value] = line;
        const list = collections.get(collection);
        if (list === undefined) throw damaged(file, last, `there is no collection ${collection}`);
        list.push({ key, revision, value });
        records += 1;
      }
    }
    if (header === null) throw damaged(file, { number: 1, start: 0 }, "the header is missing");
    if (!complete) throw damaged(file, last, "records are missing");
    const { up_to: upTo, chain_up_to: chainUpTo, begin, counters } = header;
    return { upTo, chainUpTo, begin, counters, collections, chain };
  }

  async write(contents: StoreContents): Promise<void> {
    await replaceFile(this.#file, async (handle) => {
      this.bytes = await writeLines(handle, contents);
    });
  }
}

async function writeLines(handle: FileHandle, contents: StoreContents): Promise<number> {
  const { upTo, chainUpTo, begin, counters, collections, chain } = contents;
  const header: Header = { format: currentFormat, up_to: upTo, chain_up_to: chainUpTo, begin, counters };
  const lines = createHash("sha256");
  let records = 0;
  let bytes = 0;
  let waiting = "";
  const put = (value: Header | RecordLine | { chain: ChainChange }) => {
    const line = toLine(value);
    lines.update(lineSum(line));
    waiting += line;
  };
  const write = async () => {
    // A single write may take only a part, on a full disk without an error.
    await handle.writeFile(waiting);
    bytes += Buffer.byteLength(waiting);
    waiting = "";
  };
  const add = async (record: RecordLine | { chain: ChainChange }) => {
    put(record);
    records += 1;
    if (waiting.length > portion) await write();
  };
  put(header);
  for (const [collection, stored] of collections)
    for (const { key, revision, value } of stored) await add([collection, key, revision, value]);
  for (const record of chain) await add({ chain: record });
  const footer: Footer = { records, lines: lines.digest("hex") };
  waiting += toLine(footer);
  await write();
  return bytes;
}

/**
 * Reads what a data directory was begun with: the first line alone.
 *
 * @throws StoreDamagedError, also for another format.
 */
export async function readBegin(file: string): Promise<Json> {
  return (await readHeader(file)).begin;
}

/** @throws StoreDamagedError for a snapshot of another format, and for one without a header. */
async function readHeader(file: string): Promise<Header> {
  if (await isOneDocument(file)) throw otherFormat(file, 1);
  for await (const { number, start, text } of readCheckedLines(file, "refuse")) {
    const { format, ...header }: Omit<Header, "format"> & Partial<Header> = JSON.parse(text);
    if (format === undefined) throw damaged(file, { number, start }, "the header is missing");
    if (format !== currentFormat) throw otherFormat(file, format);
    return { format, ...header };
  }
  throw damaged(file, { number: 1, start: 0 }, "the header is missing");
}

/** Format 1 was one JSON document; a line of this format begins with its checksum. */
async function isOneDocument(file: string): Promise<boolean> {
  await using handle = await open(file, "r");
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1);
  return bytesRead === 1 && buffer.toString() === "{";
}

function otherFormat(file: string, format: number): StoreDamagedError {
  return new StoreDamagedError(
    `${file}, line 1: this is format ${format}, and this version reads format ${currentFormat}. ${howToConvert}`,
  );
}

/** The remedy for a data directory of another version. */
export const howToConvert =
  "Save the sandbox with the version that wrote it (routing-sandbox snapshot save FILE), and load that file with this one in another directory.";
