import type { Json } from "../../../protocol/values/json.ts";
import type { ChainChange } from "../chain-changes.ts";
import { type CollectionName, collectionNames } from "../records.ts";
import type { Stored, StoreImage } from "../store.ts";

/** A record at its place in the list of its collection, in the order of insertion. */
export interface PlacedRecord extends Stored<unknown> {
  collection: CollectionName;
  position: number;
}

/** The records and counters of a store at one time. */
export interface TableContents {
  counters: { readonly [counter: string]: number };
  /** The records that are kept as objects, in the order of their last change. They are never changed in place, so that these stay as they were. */
  records: readonly PlacedRecord[];
  /** All other records, in blocks that `encodeBlock` wrote. */
  blocks: Iterable<Buffer>;
}

/** The contents of a store at one time. */
export interface StoreContents extends TableContents {
  /** The journal entries up to this number are in it. */
  upTo: number;
  /** The chain records up to this number are in it. */
  chainUpTo: number;
  /** The value that the directory was created with, which its owner reads; null when it keeps no chain. */
  begin: Json;
  /** The chain records that count. */
  chain: readonly ChainChange[];
}

/** The contents of a store that nothing was written to. */
export const emptyContents: StoreContents = {
  upTo: 0,
  chainUpTo: 0,
  begin: null,
  counters: {},
  records: [],
  blocks: [],
  chain: [],
};

/** The records of an image. */
export function contentsOf({ counters, collections }: StoreImage): TableContents {
  const records: PlacedRecord[] = [];
  for (const collection of collectionNames) {
    let position = 0;
    for (const [key, { revision, value }] of Object.entries(collections[collection] ?? {})) {
      records.push({ collection, position, key, revision, value });
      position += 1;
    }
  }
  return { counters, records, blocks: [] };
}
