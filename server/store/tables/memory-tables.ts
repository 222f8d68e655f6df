import { structuredClone } from "../../../protocol/globals.ts";
import {
  type CollectionName,
  type Collections,
  collectionNames,
  newestTime,
  type Ordered,
  type OrderingName,
  orderings,
} from "../records.ts";
import type { Change, Filter, OrderedPage, Stored, StoreImage } from "../store.ts";
import type { TableContents } from "./store-contents.ts";
import { type ListPage, Table } from "./table.ts";

/**
 * The records of a store in memory: reads and changes, without durability.
 *
 * Records are handed out as they are and are never changed in place.
 */
export class MemoryTables {
  #tables = emptyTables();
  #counters = new Map<string, number>();
  #newestTime = 0;

  /** Reads one record. */
  get<C extends CollectionName>(collection: C, key: string): Stored<Collections[C]> | undefined {
    return this.#table(collection).get(key) as Stored<Collections[C]> | undefined;
  }

  /** Lists records that fit a filter, in the order of insertion. */
  list<C extends CollectionName>(collection: C, filter: Filter<C>, page: ListPage): Stored<Collections[C]>[] {
    return this.#table(collection).list(filter, page) as Stored<Collections[C]>[];
  }

  /** Lists records in one of the orders. */
  ordered<O extends OrderingName>(
    ordering: O,
    within: readonly string[],
    page: OrderedPage,
  ): Stored<Ordered<O>>[] {
    const table = this.#table(orderings[ordering].collection);
    return table.ordered(ordering, within, page) as Stored<Ordered<O>>[];
  }

  /** The number that a counter would give next. */
  peek(counter: string): number {
    return (this.#counters.get(counter) ?? 0) + 1;
  }

  /** Sets how far counters have come. */
  setCounters(counters: { readonly [counter: string]: number }): void {
    for (const [counter, value] of Object.entries(counters)) this.#counters.set(counter, value);
  }

  /** The newest time that a record names as past, in Unix seconds; it may be one that was changed or deleted since. */
  get newestTime(): number {
    return this.#newestTime;
  }

  /** Applies the changes of one commit, which fit. */
  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const table = this.#table(change.collection);
      if (change.kind === "delete") table.delete(change.key);
      else {
        table.put(change.key, change.value);
        this.#newestTime = Math.max(this.#newestTime, newestTime(change.value));
      }
    }
  }

  /** A copy of everything as plain data. */
  image(): StoreImage {
    const { counters, collections } = this.contents();
    const images = Array.from(collections, ([name, records]) => {
      const entries = records.map(({ key, value, revision }) => [key, { revision, value }] as const);
      return [name, Object.fromEntries(entries)] as const;
    });
    return { version: 1, counters, collections: structuredClone(Object.fromEntries(images)) };
  }

  /** Everything as it is now, whatever comes later; nothing is copied but references. */
  contents(): TableContents {
    const collections = new Map(Array.from(this.#tables, ([name, table]) => [name, table.records] as const));
    return { counters: Object.fromEntries(this.#counters), collections };
  }

  /** Replaces everything. */
  load({ counters, collections }: TableContents): void {
    this.#tables = emptyTables();
    this.#counters = new Map(Object.entries(counters));
    this.#newestTime = 0;
    for (const [name, records] of collections)
      for (const stored of records) {
        this.#table(name).load(stored);
        this.#newestTime = Math.max(this.#newestTime, newestTime(Object(stored.value)));
      }
  }

  #table(collection: CollectionName): Table {
    const table = this.#tables.get(collection);
    if (table === undefined) throw new Error(`There is no collection ${collection}.`);
    return table;
  }
}

function emptyTables(): ReadonlyMap<CollectionName, Table> {
  return new Map(collectionNames.map((name) => [name, new Table(name)]));
}
