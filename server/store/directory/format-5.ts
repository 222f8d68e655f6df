import { inflateRawSync } from "node:zlib";
import { type CollectionName, collectionNames } from "../records.ts";
import type { Stored } from "../store.ts";

/** A record of a snapshot in format 5; `position` is its place in the list of its collection. */
type RecordLine = [
  collection: CollectionName,
  key: string,
  revision: number,
  value: unknown,
  position: number,
];

/** Compressed records, in base64. */
interface BlockLine {
  block: string;
}

/** The bytes of what an index had of each record, by collection: four for a hash, eight for a number. */
const indexBytes: Readonly<Record<CollectionName, number>> = {
  credentials: 8,
  active_credentials: 4,
  merchants: 8,
  purchases: 12,
  claims: 4,
  decisions: 4,
  refunds: 4,
  events: 16,
  notifications: 8,
  receipts: 8,
  key_generations: 4,
  idempotency: 4,
  used_transactions: 4,
  submissions: 8,
  operations: 48,
  attempts: 20,
  budgets: 4,
};
/** The place in the list of what was no longer in a block. */
const gone = 2 ** 32 - 1;
/** The longest block, decompressed, in bytes. */
const mostUnpacked = 64 * 2 ** 20;

/** The records of a snapshot in format 5, which version 0.1.0 wrote: it is read once, and rewritten. */
export class Format5 {
  readonly #placed = new Map<CollectionName, { position: number; stored: Stored<unknown> }[]>(
    collectionNames.map((name) => [name, []]),
  );

  /** Adds what a line has. @throws Error for anything else than a line of that format. */
  add(line: RecordLine | BlockLine): void {
    if ("block" in line) this.#addBlock(Buffer.from(line.block, "base64"));
    else {
      const [collection, key, revision, value, position] = line;
      this.#place(collection, position, { key, revision, value });
    }
  }

  /** The records of each collection in the order of insertion. */
  collections(): Map<CollectionName, Stored<unknown>[]> {
    const sorted = Array.from(this.#placed, ([name, placed]) => {
      placed.sort((left, right) => left.position - right.position);
      return [name, placed.map(({ stored }) => stored)] as const;
    });
    return new Map(sorted);
  }

  /** A block is the number of its records, their newest time, the collection and place of each, and their JSON. */
  #addBlock(bytes: Buffer): void {
    const count = bytes.readUInt16LE(0);
    let at = 10;
    const places: ({ collection: CollectionName; position: number; revision: number } | null)[] = [];
    for (let record = 0; record < count; record += 1) {
      const collection = collectionNames[bytes.readUInt8(at)] ?? missing(bytes.readUInt8(at));
      const position = bytes.readUInt32LE(at + 1);
      at += 5;
      places.push(position === gone ? null : { collection, position, revision: bytes.readUInt32LE(at) });
      if (position !== gone) at += 4 + indexBytes[collection];
    }
    const lines = inflateRawSync(bytes.subarray(at), { maxOutputLength: mostUnpacked })
      .toString()
      .split("\n");
    for (const [index, place] of places.entries()) {
      if (place === null) continue;
      const [key, value]: [string, unknown] = JSON.parse(lines[index] ?? "");
      this.#place(place.collection, place.position, { key, revision: place.revision, value });
    }
  }

  #place(collection: CollectionName, position: number, stored: Stored<unknown>): void {
    (this.#placed.get(collection) ?? missing(collection)).push({ position, stored });
  }
}

function missing(collection: string | number): never {
  throw new RangeError(`there is no collection ${collection}`);
}
