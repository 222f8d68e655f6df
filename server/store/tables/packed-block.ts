import { deflateRawSync, inflateRawSync } from "node:zlib";
import { type CollectionName, collectionNames, indexedFields, orderings } from "../records.ts";
import { type Columns, nowhere } from "./columns.ts";

/** The compression level: higher ones take twice as long and make blocks 4 % smaller. */
const level = 3;
/** The length that is read at once, in bytes: all of a usual block. */
const chunkSize = 2 ** 17;
/** The longest block, decompressed, in bytes: 64 records have far less. */
const mostUnpacked = 64 * 2 ** 20;
/** The place in the list of what is no longer in a block. */
const gone = 2 ** 32 - 1;

/** The numbers that a table keeps of the records of a collection: how many codes, and how many numbers in orders. */
export const widths: readonly { codes: number; numbers: number }[] = collectionNames.map((name) => {
  const orders = Object.values(orderings).filter(({ collection }) => collection === name).length;
  return { codes: 1 + indexedFields[name].length + orders, numbers: orders };
});

/** Returns the number of a collection. It is in files: a change of the collections, their indexed fields or their orders is another format. */
export function numberOf(collection: CollectionName): number {
  return numbers[collection];
}

const numbers = Object.fromEntries(collectionNames.map((name, number) => [name, number])) as {
  [C in CollectionName]: number;
};

/** Compresses records. */
export function pack(records: readonly { key: string; value: unknown }[]): Buffer {
  const text = records.map(({ key, value }) => JSON.stringify([key, value])).join("\n");
  return exactly(deflateRawSync(text, { level }));
}

/** Returns the JSON of the key and the record of each entry of a block. */
export function unpack(body: Buffer): string[] {
  return inflateRawSync(body, { chunkSize, maxOutputLength: mostUnpacked }).toString().split("\n");
}

/** A copy that keeps no other memory. */
function exactly(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

/** A table as it was at one time: its columns, and the place in the list of each slot. */
export interface FrozenTable {
  columns: Columns;
  positions: Uint32Array;
}

/** Returns columns as they are now. */
export function freeze(columns: Columns): FrozenTable {
  const copy = columns.copy();
  const positions = new Uint32Array(copy.length);
  let position = 0;
  for (let slot = 0; slot < copy.length; slot += 1) {
    positions[slot] = position;
    if (copy.locations[slot] !== nowhere) position += 1;
  }
  return { columns: copy, positions };
}

/**
 * Writes a block for a file: the numbers that the tables have of each record, then the compressed records.
 *
 * @param first - the location of the first record.
 */
export function encodeBlock(
  { body, owners, newest }: Pick<Block, "body" | "owners" | "newest">,
  first: number,
  tables: readonly FrozenTable[],
): Buffer {
  const count = owners.length / 2;
  const head = Buffer.alloc(10 + count * widest);
  let end = head.writeUInt16LE(count, 0);
  end = head.writeDoubleLE(newest, end);
  for (let at = 0; at < count; at += 1) {
    const [collection = 0, slot = 0] = [owners[2 * at], owners[2 * at + 1]];
    const { columns, positions } = tables[collection] ?? missing(collection);
    end = head.writeUInt8(collection, end);
    if (columns.locations[slot] !== first + at) {
      end = head.writeUInt32LE(gone, end);
      continue;
    }
    end = head.writeUInt32LE(positions[slot] ?? 0, end);
    end = head.writeUInt32LE(columns.revisions[slot] ?? 0, end);
    for (const column of columns.codes) end = head.writeInt32LE(column[slot] ?? 0, end);
    for (const column of columns.numbers) end = head.writeDoubleLE(column[slot] ?? 0, end);
  }
  return Buffer.concat([head.subarray(0, end), body]);
}

/** The bytes of the head that one record takes at most. */
const widest = Math.max(...widths.map(({ codes, numbers }) => 9 + 4 * codes + 8 * numbers));

/** Older records in compressed form. */
export interface Block {
  body: Buffer;
  /** The number of the collection and the slot of each record, one after the other. */
  owners: Uint32Array;
  /** The number of records that are still here. */
  live: number;
  /** The newest time that its records name as past, in Unix seconds. */
  newest: number;
}

/**
 * Reads a block that {@link encodeBlock} wrote, and puts what it says of its records into the columns of the tables.
 *
 * @param first - the location that its first record gets.
 * @throws RangeError for anything else.
 */
export function decodeBlock(bytes: Buffer, first: number, tables: readonly Columns[]): Block {
  const count = bytes.readUInt16LE(0);
  const owners = new Uint32Array(2 * count);
  const newest = bytes.readDoubleLE(2);
  let live = 0;
  let end = 10;
  for (let at = 0; at < count; at += 1) {
    const collection = bytes.readUInt8(end);
    const position = bytes.readUInt32LE(end + 1);
    end += 5;
    owners[2 * at] = collection;
    if (position === gone) continue;
    owners[2 * at + 1] = position;
    live += 1;
    const columns = tables[collection] ?? missing(collection);
    columns.reserve(position + 1);
    columns.locations[position] = first + at;
    columns.revisions[position] = bytes.readUInt32LE(end);
    end += 4;
    for (const column of columns.codes) {
      column[position] = bytes.readInt32LE(end);
      end += 4;
    }
    for (const column of columns.numbers) {
      column[position] = bytes.readDoubleLE(end);
      end += 8;
    }
  }
  return { body: exactly(bytes.subarray(end)), owners, live, newest };
}

function missing(collection: number): never {
  throw new RangeError(`There is no collection ${collection}.`);
}
