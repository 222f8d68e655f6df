import { CodedError } from "../../protocol/coded-error.ts";
import type { ChainChange } from "./chain-changes.ts";
import type { CollectionName, Collections, indexedFields, Ordered, OrderingName } from "./records.ts";

/** A record as it was read, with the revision that a later update must still find. */
export interface Stored<T> {
  key: string;
  value: T;
  /** 1 when it is inserted, one more with every update. */
  revision: number;
}

/** The part of an order to read. */
export interface OrderedPage {
  /** The lowest number, or with `reverse` the highest. */
  from?: number;
  reverse?: boolean;
  limit?: number;
}

/** One change of one record. */
export type Change = {
  [C in CollectionName]:
    | { kind: "insert"; collection: C; key: string; value: Collections[C] }
    /** `revision` is the one that was read; another one in the store is a conflict. */
    | { kind: "update"; collection: C; key: string; value: Collections[C]; revision: number }
    /** For records with one writer only, such as the relayer's: whatever was there. */
    | { kind: "put"; collection: C; key: string; value: Collections[C] }
    /** With `revision` only what was read then; without it whatever is there. */
    | { kind: "delete"; collection: C; key: string; revision?: number };
}[CollectionName];

/** Returns whether a change may be made of a record that is at a revision now; undefined when there is none. */
export function fits(change: Change, revision: number | undefined): boolean {
  switch (change.kind) {
    case "insert":
      return revision === undefined;
    case "update":
      return revision === change.revision;
    case "delete":
      return change.revision === undefined || revision === change.revision;
    default:
      return true;
  }
}

/** An equality filter over indexed fields. */
export type Filter<C extends CollectionName> = {
  [F in (typeof indexedFields)[C][number] & keyof Collections[C]]?: Collections[C][F];
};

/** A commit met a record that another commit inserted or changed since it was read; nothing was written. */
export class StoreConflictError extends CodedError<"store_conflict"> {
  override readonly name = "StoreConflictError";
  readonly collection: CollectionName;
  readonly key: string;

  constructor(collection: CollectionName, key: string) {
    super("store_conflict", `${collection}/${key} was changed in between.`);
    this.collection = collection;
    this.key = key;
  }
}

/** The disk or the database refused a write; nothing was written. */
export class StoreUnavailableError extends CodedError<"storage_unavailable"> {
  override readonly name = "StoreUnavailableError";

  constructor(message: string, options?: ErrorOptions) {
    super("storage_unavailable", message, options);
  }
}

/**
 * Returns what is read from the store, or null while the store is not available.
 *
 * @example const events = await ifAvailable(store.list("events", { delivery: "undelivered" }))
 */
export async function ifAvailable<T>(reading: Promise<T>): Promise<T | null> {
  return await reading.catch((error: unknown) => {
    if (error instanceof StoreUnavailableError) return null;
    throw error;
  });
}

/**
 * Keeps everything that the API answered 2xx to: records by collection and key, written all or none.
 *
 * Concurrency is optimistic: a commit names the revisions it was made from, and a conflict writes nothing.
 */
export interface Store {
  get<C extends CollectionName>(collection: C, key: string): Promise<Stored<Collections[C]> | undefined>;

  /** Records in the order of their insertion. */
  list<C extends CollectionName>(
    collection: C,
    filter: Filter<C>,
    page?: { after?: string | undefined; limit?: number; reverse?: boolean },
  ): Promise<Stored<Collections[C]>[]>;

  /**
   * Records in one of the orders that the store keeps; `within` are the values of the fields in which they are equal.
   *
   * @example store.ordered("operations_by_nonce", [signer, epoch], { reverse: true, limit: 1 })
   */
  ordered<O extends OrderingName>(
    ordering: O,
    within: readonly string[],
    page?: OrderedPage,
  ): Promise<Stored<Ordered<O>>[]>;

  /**
   * Takes the next number of a counter, starting at 1. A number is lost only when nothing that was made with it is
   * committed.
   */
  next(counter: string): Promise<number>;

  /**
   * Writes changes, all or none, durable when it resolves.
   *
   * @param counters - counters that must have no gaps: `build` is handed their next numbers, which count only if the
   * commit does. `build` must be synchronous and pure.
   * @throws StoreConflictError when a record is not at the revision it was read at; StoreUnavailableError when the
   * disk refuses.
   */
  commit(
    counters: readonly string[],
    build: (numbers: readonly number[]) => readonly Change[],
  ): Promise<void>;

  /** Whether what another process has changed or removed is not written again yet, as on a disk that refuses it; absent where there are no files. */
  readonly isBroken?: boolean;

  /** Everything that is stored, as plain data for a snapshot; {@link Store.import} takes it back. */
  export(): Promise<StoreImage>;

  /** Replaces everything that is stored, and what happened on the chain with it. */
  import(image: StoreImage): Promise<void>;

  close(): Promise<void>;
}

/** Everything that a store holds, as plain JSON. */
export interface StoreImage {
  version: 1;
  counters: { [counter: string]: number };
  collections: { [C in CollectionName]?: { [key: string]: { revision: number; value: Collections[C] } } };
  /** The changes of the chain up to then; absent if the store keeps none of them. */
  chain?: readonly ChainChange[];
}
