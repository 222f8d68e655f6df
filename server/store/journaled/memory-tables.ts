import {
  type CollectionName,
  type Collections,
  collectionNames,
  indexedFields,
  type Ordered,
  type OrderingName,
  orderings,
} from "../records.ts";
import type { Change, Filter, OrderedPage, Stored, StoreImage } from "../store.ts";
import { OrderedIndex } from "./ordered-index.ts";
import type { StoreContents } from "./store-contents.ts";

/** The records of one collection with an index for each filterable field and for each order. */
class Table {
  readonly records = new Map<string, Stored<unknown>>();
  readonly #indexes = new Map<string, Map<unknown, Map<string, Stored<unknown>>>>();
  readonly #orders = new Map<string, OrderedIndex>();
  readonly #fields: readonly string[];

  constructor(collection: CollectionName) {
    this.#fields = indexedFields[collection];
    for (const field of this.#fields) this.#indexes.set(field, new Map());
    for (const [name, ordering] of Object.entries(orderings))
      if (ordering.collection === collection) this.#orders.set(name, new OrderedIndex(ordering));
  }

  put(stored: Stored<unknown>): void {
    const before = this.records.get(stored.key);
    this.records.set(stored.key, stored);
    for (const field of this.#fields) this.#reindex(field, before, stored);
    for (const order of this.#orders.values()) order.replace(before, stored);
  }

  delete(key: string): void {
    const before = this.records.get(key);
    if (before === undefined) return;
    this.records.delete(key);
    for (const field of this.#fields) this.#reindex(field, before, undefined);
    for (const order of this.#orders.values()) order.replace(before, undefined);
  }

  ordered(ordering: string, within: readonly string[], page: OrderedPage): Stored<unknown>[] {
    return this.#orders.get(ordering)?.read(within, page) ?? [];
  }

  /** The smallest set of records that an index offers for a filter, in the order of insertion. */
  candidates(filter: { [field: string]: unknown }): Map<string, Stored<unknown>> {
    let best = this.records;
    for (const [field, value] of Object.entries(filter)) {
      const found = this.#indexes.get(field)?.get(value) ?? new Map<string, Stored<unknown>>();
      if (found.size < best.size) best = found;
    }
    return best;
  }

  #reindex(field: string, before: Stored<unknown> | undefined, after: Stored<unknown> | undefined): void {
    const index = this.#indexes.get(field);
    const key = before?.key ?? after?.key;
    if (index === undefined || key === undefined) return;
    const was = before === undefined ? undefined : fieldOf(before.value, field);
    const is = after === undefined ? undefined : fieldOf(after.value, field);
    if (before !== undefined && (after === undefined || was !== is)) index.get(was)?.delete(key);
    if (after === undefined) return;
    const bucket = index.get(is);
    if (bucket === undefined) index.set(is, new Map([[key, after]]));
    else bucket.set(key, after);
  }
}

function fieldOf(record: unknown, field: string): unknown {
  return typeof record === "object" && record !== null ? Reflect.get(record, field) : undefined;
}

/**
 * The records of a store in memory: reads and changes, without durability.
 *
 * Records are handed out as they are and are never changed in place.
 */
export class MemoryTables {
  #tables = emptyTables();
  #counters = new Map<string, number>();

  /** Reads one record. */
  get<C extends CollectionName>(collection: C, key: string): Stored<Collections[C]> | undefined {
    return this.#tables[collection].records.get(key) as Stored<Collections[C]> | undefined;
  }

  /** Lists records that fit a filter, in the order of insertion. */
  list<C extends CollectionName>(
    collection: C,
    filter: Filter<C>,
    page: { after?: string | undefined; limit?: number; reverse?: boolean },
  ): Stored<Collections[C]>[] {
    const wanted = Object.entries(filter);
    const found: Stored<Collections[C]>[] = [];
    const candidates = this.#tables[collection].candidates(filter).values();
    const ordered = page.reverse ? [...candidates].reverse() : candidates;
    let skipping = page.after !== undefined;
    for (const stored of ordered) {
      if (skipping) {
        skipping = stored.key !== page.after;
        continue;
      }
      if (!wanted.every(([field, value]) => fieldOf(stored.value, field) === value)) continue;
      found.push(stored as Stored<Collections[C]>);
      if (found.length === page.limit) break;
    }
    return found;
  }

  /** Lists records in one of the orders. */
  ordered<O extends OrderingName>(
    ordering: O,
    within: readonly string[],
    page: OrderedPage,
  ): Stored<Ordered<O>>[] {
    return this.#tables[orderings[ordering].collection].ordered(ordering, within, page) as Stored<
      Ordered<O>
    >[];
  }

  /** The number that a counter would give next. */
  peek(counter: string): number {
    return (this.#counters.get(counter) ?? 0) + 1;
  }

  /** Sets how far counters have come. */
  setCounters(counters: { readonly [counter: string]: number }): void {
    for (const [counter, value] of Object.entries(counters)) this.#counters.set(counter, value);
  }

  /** All counters and how far they have come. */
  counters(): { [counter: string]: number } {
    return Object.fromEntries(this.#counters);
  }

  /** Applies changes that fit. */
  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const table = this.#tables[change.collection];
      if (change.kind === "delete") table.delete(change.key);
      else {
        const revision = (table.records.get(change.key)?.revision ?? 0) + 1;
        table.put({ key: change.key, value: change.value, revision });
      }
    }
  }

  /** Everything as plain data. */
  image(): StoreImage {
    const collections: StoreImage["collections"] = {};
    for (const name of collectionNames) {
      const entries = [...this.#tables[name].records.values()].map(
        ({ key, value, revision }) => [key, { revision, value }] as const,
      );
      Object.assign(collections, { [name]: Object.fromEntries(entries) });
    }
    return { version: 1, counters: this.counters(), collections };
  }

  /** Everything as it is now, whatever comes later; nothing is copied but references. */
  contents(): Pick<StoreContents, "counters" | "collections"> {
    const records = collectionNames.map((name) => [name, [...this.#tables[name].records.values()]] as const);
    return { counters: this.counters(), collections: new Map(records) };
  }

  /** Replaces everything. */
  load({ counters, collections }: Pick<StoreContents, "counters" | "collections">): void {
    this.#tables = emptyTables();
    this.#counters = new Map(Object.entries(counters));
    for (const [name, records] of collections) for (const stored of records) this.#tables[name].put(stored);
  }
}

function emptyTables(): { [C in CollectionName]: Table } {
  const tables = collectionNames.map((name) => [name, new Table(name)] as const);
  return Object.fromEntries(tables) as { [C in CollectionName]: Table };
}
