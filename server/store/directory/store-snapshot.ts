import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type Adapter, Low } from "lowdb";
import type { Json } from "../../../protocol/values/json.ts";
import { openFile } from "../../lib/file-kind.ts";
import { replaceFile } from "../../lib/replace-file.ts";
import type { ChainChange } from "../chain-changes.ts";
import { type CollectionName, collectionNames } from "../records.ts";
import type { Stored } from "../store.ts";
import { emptyContents, type StoreContents } from "../tables/store-contents.ts";
import {
  damaged,
  lineHead,
  lineSum,
  parseLine,
  readCheckedLines,
  StoreDamagedError,
  toLine,
} from "./checked-lines.ts";
import { Format5 } from "./format-5.ts";

interface Header {
  format: number;
  up_to: number;
  chain_up_to: number;
  begin: Json;
  counters: StoreContents["counters"];
}

/** The last line: how many lines there are between the header and it, and the SHA-256 of the checksums of all lines before it, in hex. */
interface Footer {
  records: number;
  lines: string;
}

/** A record; those of a collection are in the order of its list. */
interface RecordLine extends Stored<unknown> {
  collection: CollectionName;
}

/** A record of the chain. */
interface ChainLine {
  chain: ChainChange;
}

/** The format that is written. The one before it is read. */
const currentFormat = 6;
const olderFormat = 5;

/**
 * The amount of text that is built before it is written, in characters: a few milliseconds of work, between which
 * commits continue.
 */
const portion = 2 ** 18;

/**
 * Reads the snapshot of a data directory.
 *
 * @returns with `isOlder` for one of the format before, which has to be written again.
 * @throws StoreDamagedError, also for another format.
 */
export async function readStoreSnapshot(file: string): Promise<StoreContents & { isOlder: boolean }> {
  const { format } = await readHeader(file);
  const snapshot = new Low<StoreContents>(new StoreSnapshotFile(file), emptyContents);
  await snapshot.read();
  return { ...snapshot.data, isOlder: format !== currentFormat };
}

/**
 * Replaces the snapshot of a data directory, durably; what was there before stays whole until then.
 *
 * @param confirm - called when the new one is on disk, before it takes the place of the old one; that stays if it rejects.
 */
export async function writeStoreSnapshot(
  file: string,
  contents: StoreContents,
  confirm: () => Promise<void>,
): Promise<void> {
  await new Low<StoreContents>(new StoreSnapshotFile(file, confirm), contents).write();
}

/** The adapter that lowdb reads and writes through: a line for each record, each with its checksum, the whole synced to disk. */
class StoreSnapshotFile implements Adapter<StoreContents> {
  readonly #file: string;
  readonly #confirm: () => Promise<void>;

  constructor(file: string, confirm = async () => {}) {
    this.#file = file;
    this.#confirm = confirm;
  }

  async read(): Promise<StoreContents> {
    const file = this.#file;
    const collections = new Map<CollectionName, Stored<unknown>[]>(collectionNames.map((name) => [name, []]));
    const older = new Format5();
    const chain: ChainChange[] = [];
    let header: Header | null = null;
    let read = 0;
    let complete = false;
    let last = { number: 1, start: 0 };
    const lines = createHash("sha256");
    for await (const checked of readCheckedLines(file, "refuse")) {
      const { number, start, sum } = checked;
      last = { number, start };
      const line = parseLine<Header | RecordLine | ChainLine | Footer>(file, checked);
      if (complete) throw damaged(file, last, "it comes after the end");
      if ("records" in line) {
        complete = line.records === read;
        if (complete && line.lines !== lines.digest("hex"))
          throw damaged(file, last, "the lines before it are not those that were written with it");
        continue;
      }
      lines.update(sum);
      if ("format" in line) {
        header = line;
        continue;
      }
      read += 1;
      if ("chain" in line) chain.push(line.chain);
      else if (header?.format === olderFormat) addOlder(older, line, file, last);
      else {
        const { collection, ...stored } = line;
        const records = collections.get(collection);
        if (records === undefined) throw damaged(file, last, `there is no collection ${collection}`);
        records.push(stored);
      }
    }
    if (header === null) throw damaged(file, { number: 1, start: 0 }, "the header is missing");
    if (!complete) throw damaged(file, last, "records are missing");
    const { format, up_to: upTo, chain_up_to: chainUpTo, begin, counters } = header;
    const isOlder = format === olderFormat;
    return {
      upTo,
      chainUpTo,
      begin,
      counters,
      chain,
      collections: isOlder ? older.collections() : collections,
    };
  }

  async write(contents: StoreContents): Promise<void> {
    const write = async (handle: FileHandle) => await writeLines(handle, contents);
    await replaceFile(this.#file, write, { confirm: this.#confirm });
  }
}

async function writeLines(handle: FileHandle, contents: StoreContents): Promise<void> {
  const { upTo, chainUpTo, begin, counters } = contents;
  const header: Header = { format: currentFormat, up_to: upTo, chain_up_to: chainUpTo, begin, counters };
  const lines = createHash("sha256");
  let records = 0;
  let waiting = "";
  const put = (value: Header | RecordLine | ChainLine) => {
    const line = toLine(value);
    lines.update(lineSum(line));
    waiting += line;
  };
  const write = async () => {
    // A single write may take only a part, on a full disk without an error.
    await handle.writeFile(waiting);
    waiting = "";
  };
  put(header);
  for (const line of linesOf(contents)) {
    put(line);
    records += 1;
    if (waiting.length > portion) await write();
  }
  const footer: Footer = { records, lines: lines.digest("hex") };
  waiting += toLine(footer);
  await write();
}

function* linesOf({ collections, chain }: StoreContents): Generator<RecordLine | ChainLine> {
  for (const [collection, records] of collections)
    for (const { key, revision, value } of records) yield { collection, key, revision, value };
  for (const record of chain) yield { chain: record };
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
  for await (const line of readCheckedLines(file, "refuse")) {
    const { format, ...header } = parseLine<Omit<Header, "format"> & Partial<Header>>(file, line);
    if (format === undefined) throw damaged(file, line, "the header is missing");
    if (format !== currentFormat && format !== olderFormat) throw otherFormat(file, format);
    return { format, ...header };
  }
  throw damaged(file, { number: 1, start: 0 }, "the header is missing");
}

/** Format 1 was one JSON document. */
async function isOneDocument(file: string): Promise<boolean> {
  await using handle = await openFile(file, "r");
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(lineHead.length));
  const beginning = buffer.toString("utf8", 0, bytesRead);
  return beginning.startsWith("{") && beginning !== lineHead;
}

function otherFormat(file: string, format: number): StoreDamagedError {
  const remedy =
    format > currentFormat ? "Update routing-sandbox, or choose another data directory." : howToConvert;
  return new StoreDamagedError(
    `${file}, line 1: this is format ${format}, and this version reads the formats ${olderFormat} and ${currentFormat}. ${remedy}`,
  );
}

/** The remedy for a data directory of a version before the previous one. */
export const howToConvert =
  "Start the sandbox once with each minor version in between, or choose another data directory.";

/** @throws StoreDamagedError for a line that is none of that format. */
function addOlder(
  older: Format5,
  line: unknown,
  file: string,
  place: { number: number; start: number },
): void {
  try {
    older.add(line as Parameters<Format5["add"]>[0]);
  } catch (cause) {
    throw damaged(file, place, "it is not a record as it was written", cause);
  }
}
