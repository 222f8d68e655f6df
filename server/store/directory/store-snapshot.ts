import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { type Adapter, Low } from "lowdb";
import type { Json } from "../../../protocol/values/json.ts";
import { openFile } from "../../lib/file-kind.ts";
import { replaceFile } from "../../lib/replace-file.ts";
import type { ChainChange } from "../chain-changes.ts";
import { type CollectionName, collectionNames } from "../records.ts";
import { emptyContents, type PlacedRecord, type StoreContents } from "../tables/store-contents.ts";
import { damaged, lineSum, readCheckedLines, StoreDamagedError, toLine } from "./checked-lines.ts";

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

/** A record that is kept as an object; `position` is its place in the list of its collection. */
type RecordLine = [
  collection: CollectionName,
  key: string,
  revision: number,
  value: unknown,
  position: number,
];

/** Older records, as `encodeBlock` writes them, in base64. */
interface BlockLine {
  block: string;
}

/** A record of the chain. */
interface ChainLine {
  chain: ChainChange;
}

/** The one format that is written and read. */
const currentFormat = 5;

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
 * @param confirm - called when the new one is on disk, before it takes the place of the old one; that stays if it rejects.
 */
export async function writeStoreSnapshot(
  file: string,
  contents: StoreContents,
  confirm: () => Promise<void>,
): Promise<void> {
  await new Low<StoreContents>(new StoreSnapshotFile(file, confirm), contents).write();
}

/** The adapter that lowdb reads and writes through: a line for each record or block, each with its checksum, the whole synced to disk. */
class StoreSnapshotFile implements Adapter<StoreContents> {
  readonly #file: string;
  readonly #confirm: () => Promise<void>;

  constructor(file: string, confirm = async () => {}) {
    this.#file = file;
    this.#confirm = confirm;
  }

  async read(): Promise<StoreContents> {
    const file = this.#file;
    const records: PlacedRecord[] = [];
    const blocks: Buffer[] = [];
    const chain: ChainChange[] = [];
    let header: Header | null = null;
    let complete = false;
    let last = { number: 1, start: 0 };
    const lines = createHash("sha256");
    for await (const { number, start, sum, text } of readCheckedLines(file, "refuse")) {
      last = { number, start };
      const line: Header | RecordLine | BlockLine | ChainLine | Footer = JSON.parse(text);
      if (complete) throw damaged(file, last, "it comes after the end");
      if ("records" in line) {
        complete = line.records === records.length + blocks.length + chain.length;
        if (complete && line.lines !== lines.digest("hex"))
          throw damaged(file, last, "the lines before it are not those that were written with it");
        continue;
      }
      lines.update(sum);
      if ("format" in line) header = line;
      else if ("chain" in line) chain.push(line.chain);
      else if ("block" in line) blocks.push(Buffer.from(line.block, "base64"));
      else {
        const [collection, key, revision, value, position] = line;
        if (!collectionNames.includes(collection))
          throw damaged(file, last, `there is no collection ${collection}`);
        records.push({ collection, key, revision, value, position });
      }
    }
    if (header === null) throw damaged(file, { number: 1, start: 0 }, "the header is missing");
    if (!complete) throw damaged(file, last, "records are missing");
    const { up_to: upTo, chain_up_to: chainUpTo, begin, counters } = header;
    return { upTo, chainUpTo, begin, counters, records, blocks, chain };
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
  const put = (value: Header | RecordLine | BlockLine | ChainLine) => {
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

function* linesOf({ blocks, records, chain }: StoreContents): Generator<BlockLine | RecordLine | ChainLine> {
  for (const block of blocks) yield { block: block.toString("base64") };
  for (const { collection, key, revision, value, position } of records)
    yield [collection, key, revision, value, position];
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
  await using handle = await openFile(file, "r");
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
