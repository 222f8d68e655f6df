import type { ChainChange } from "../chain-changes.ts";
import {
  type CollectionName,
  type Collections,
  collectionNames,
  type Ordered,
  type OrderingName,
  orderings,
} from "../records.ts";
import type { OrderedPage } from "../store.ts";
import { type Change, fits, StoreConflictError, type Stored } from "../store.ts";
import type { MemoryTables } from "../tables/memory-tables.ts";
import { groupOf, placeOf } from "../tables/table.ts";

/** One committed batch as the journal keeps it. */
export interface JournalEntry {
  /** 1, 2, 3, …, without gaps for as long as the store exists. */
  number: number;
  counters: { [counter: string]: number };
  changes: readonly Change[];
}

/** One record of the chain as the journal keeps it. */
export interface ChainEntry {
  /** 1, 2, 3, …, without gaps for as long as the store exists. */
  chain: number;
  record: ChainChange;
}

/** A line of the journal. */
export type JournalLine = JournalEntry | ChainEntry;

/** A record as an entry leaves it; undefined when it is gone. */
interface PendingRecord {
  stored: Stored<unknown> | undefined;
  /** The entry that has it last. */
  number: number;
  /** Settles when that entry is durable or refused. */
  settled: Promise<void>;
}

/**
 * The entries that are on their way to the disk: what the next commit is compared with, while readers have the tables of what is durable.
 */
export class PendingEntries {
  readonly #durable: MemoryTables;
  readonly #records = new Map<CollectionName, Map<string, PendingRecord>>(
    collectionNames.map((name) => [name, new Map()]),
  );
  readonly #counters = new Map<string, number>();

  constructor(durable: MemoryTables) {
    this.#durable = durable;
  }

  /** The number that a counter would give next. */
  peek(counter: string): number {
    return Math.max(this.#durable.peek(counter), (this.#counters.get(counter) ?? 0) + 1);
  }

  /** The conflict of a change that does not fit what there will be, and what settles when it is known whether there will. */
  conflict(changes: readonly Change[]): { error: StoreConflictError; settled: Promise<void> } | null {
    for (const change of changes) {
      const { collection, key } = change;
      if (fits(change, this.get(collection, key)?.revision)) continue;
      const settled = this.#of(collection).get(key)?.settled ?? Promise.resolve();
      return { error: new StoreConflictError(collection, key), settled };
    }
    return null;
  }

  /** Takes an entry that fits. */
  add({ number, counters, changes }: JournalEntry, settled: Promise<void>): void {
    for (const change of changes) {
      const { collection, key } = change;
      const revision = (this.get(collection, key)?.revision ?? 0) + 1;
      const stored = change.kind === "delete" ? undefined : { key, value: change.value, revision };
      this.#of(collection).set(key, { stored, number, settled });
    }
    for (const [counter, value] of Object.entries(counters)) this.#counters.set(counter, value);
  }

  /** Forgets an entry that is durable. */
  remove({ number, changes }: JournalEntry): void {
    for (const { collection, key } of changes) {
      const records = this.#of(collection);
      if (records.get(key)?.number === number) records.delete(key);
    }
  }

  /** Forgets every entry. */
  clear(): void {
    for (const records of this.#records.values()) records.clear();
    this.#counters.clear();
  }

  /** Reads one record as it will be. */
  get<C extends CollectionName>(collection: C, key: string): Stored<Collections[C]> | undefined {
    const pending = this.#of(collection).get(key);
    if (pending === undefined) return this.#durable.get(collection, key);
    return pending.stored as Stored<Collections[C]> | undefined;
  }

  /** Lists records in one of the orders, as they will be. */
  ordered<O extends OrderingName>(
    ordering: O,
    within: readonly string[],
    page: OrderedPage,
  ): Stored<Ordered<O>>[] {
    const { collection, by } = orderings[ordering];
    const { from, limit = Number.POSITIVE_INFINITY, reverse = false } = page;
    const records = this.#of(collection);
    const durable = this.#durable
      .ordered(ordering, within, { ...page, limit: limit + records.size })
      .filter(({ key }) => !records.has(key));
    const isInPage = (record: unknown) => {
      const place = placeOf(record, orderings[ordering]);
      if (place?.group !== groupOf(within)) return false;
      return from === undefined || (reverse ? place.number <= from : place.number >= from);
    };
    const pending = [...records.values()]
      .flatMap(({ stored }) => stored ?? [])
      .filter(({ value }) => isInPage(value)) as Stored<Ordered<O>>[];
    const numberOf = ({ value }: Stored<Ordered<O>>) => Number(value[by]);
    return [...pending, ...durable]
      .sort((left, right) => (numberOf(left) - numberOf(right)) * (reverse ? -1 : 1))
      .slice(0, limit);
  }

  #of(collection: CollectionName): Map<string, PendingRecord> {
    const records = this.#records.get(collection);
    if (records === undefined) throw new Error(`There is no collection ${collection}.`);
    return records;
  }
}
