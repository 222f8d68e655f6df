import type { Json } from "../../../protocol/values/json.ts";
import type { ChainChange } from "../chain-changes.ts";
import { type CollectionName, collectionNames } from "../records.ts";
import type { Stored, StoreImage } from "../store.ts";

/** The records and counters of a store at one time. */
export interface TableContents {
  counters: { readonly [counter: string]: number };
  /** The records of each collection in the order of insertion. They are never changed in place, so that these stay as they were. */
  collections: ReadonlyMap<CollectionName, readonly Stored<unknown>[]>;
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
  collections: new Map(),
  chain: [],
};

/** The records of an image. */
export function contentsOf({ counters, collections }: StoreImage): TableContents {
  const records = collectionNames.map((collection) => {
    const entries = Object.entries(collections[collection] ?? {});
    return [collection, entries.map(([key, { revision, value }]) => ({ key, revision, value }))] as const;
  });
  return { counters, collections: new Map(records) };
}
