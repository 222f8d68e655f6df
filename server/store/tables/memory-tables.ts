import {
  type CollectionName,
  type Collections,
  collectionNames,
  type Ordered,
  type OrderingName,
  orderings,
} from "../records.ts";
import type { Change, Filter, OrderedPage, Stored, StoreImage } from "../store.ts";
import { freeze, numberOf } from "./packed-block.ts";
import { RecordStorage, type StorageSizes, storageSizes } from "./record-storage.ts";
import type { PlacedRecord, TableContents } from "./store-contents.ts";
import { type ListPage, Table } from "./table.ts";

/**
 * The records of a store in memory: reads and changes, without durability.
 *
 * Records are handed out as they are and are never changed in place. The newest ones are kept as objects, older ones compressed.
 */
export class MemoryTables {
  readonly #sizes: StorageSizes;
  #tables = emptyTables();
  #storage: RecordStorage;
  #counters = new Map<string, number>();

  constructor(sizes: StorageSizes = storageSizes) {
    this.#sizes = sizes;
    this.#storage = new RecordStorage(this.#tables, sizes);
  }

  /** Reads one record. */
  get<C extends CollectionName>(collection: C, key: string): Stored<Collections[C]> | undefined {
    return this.#table(collection).get(key, this.#storage) as Stored<Collections[C]> | undefined;
  }

  /** Lists records that fit a filter, in the order of insertion. */
  list<C extends CollectionName>(collection: C, filter: Filter<C>, page: ListPage): Stored<Collections[C]>[] {
    return this.#table(collection).list(filter, page, this.#storage) as Stored<Collections[C]>[];
  }

  /** Lists records in one of the orders. */
  ordered<O extends OrderingName>(
    ordering: O,
    within: readonly string[],
    page: OrderedPage,
  ): Stored<Ordered<O>>[] {
    const table = this.#table(orderings[ordering].collection);
    return table.ordered(ordering, within, page, this.#storage) as Stored<Ordered<O>>[];
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

  /** The newest time that a record names as past, in Unix seconds; it may be one that was changed or deleted since. */
  newestTime(): number {
    return this.#storage.newestTime();
  }

  /** Applies the changes of one commit, which fit. */
  apply(changes: readonly Change[]): void {
    for (const change of changes) {
      const table = this.#table(change.collection);
      if (change.kind === "delete") table.delete(change.key, this.#storage);
      else table.put(change.key, change.value, this.#storage);
    }
    this.#storage.packSome();
  }

  /** A copy of everything as plain data. */
  image(): StoreImage {
    const records: Stored<unknown>[][] = this.#tables.map(() => []);
    for (const { owner, slot, stored } of this.#storage.queued)
      set(records, owner.number, slot, structuredClone(stored));
    this.#storage.visitPacked((owner, slot, stored) => set(records, owner.number, slot, stored));
    const collections: StoreImage["collections"] = {};
    for (const [number, name] of collectionNames.entries()) {
      // Slots of deleted records are empty, and left out.
      const entries = (records[number] ?? []).flatMap(({ key, value, revision }) => [
        [key, { revision, value }] as const,
      ]);
      Object.assign(collections, { [name]: Object.fromEntries(entries) });
    }
    return { version: 1, counters: this.counters(), collections };
  }

  /** Everything as it is now, whatever comes later; nothing is copied but references and columns. */
  contents(): TableContents {
    const frozen = this.#tables.map(({ columns }) => freeze(columns));
    const records = Array.from(this.#storage.queued, ({ owner, slot, stored }): PlacedRecord => {
      const collection = collectionNames[owner.number] ?? missing(owner.number);
      return { ...stored, collection, position: frozen[owner.number]?.positions[slot] ?? 0 };
    });
    return { counters: this.counters(), records, blocks: this.#storage.encoded(frozen) };
  }

  /** Replaces everything. @throws RangeError when a record is at a place that the list of its collection cannot have. */
  load({ counters, records, blocks }: TableContents): void {
    this.#tables = emptyTables();
    this.#storage = new RecordStorage(this.#tables, this.#sizes);
    this.#counters = new Map(Object.entries(counters));
    // Positions are those of the records that there are.
    const packed = [...blocks];
    const most = packed.length * mostOfBlock + records.length;
    for (const table of this.#tables) table.columns.limit = most;
    for (const bytes of packed) this.#storage.addBlock(bytes);
    for (const { collection, position, key, value, revision } of records)
      this.#table(collection).load(position, { key, value, revision }, this.#storage);
    for (const table of this.#tables) table.columns.limit = Number.POSITIVE_INFINITY;
    for (const table of this.#tables) table.index();
  }

  #table(collection: CollectionName): Table {
    return this.#tables[numberOf(collection)] ?? missing(collection);
  }
}

/** The most records of a block: their number has two bytes. */
const mostOfBlock = 2 ** 16;

/** A table for each collection, by its number. */
function emptyTables(): Table[] {
  return collectionNames.map((name) => new Table(name));
}

function set(records: Stored<unknown>[][], collection: number, slot: number, stored: Stored<unknown>): void {
  const list = records[collection] ?? missing(collection);
  list[slot] = stored;
}

function missing(collection: CollectionName | number): never {
  throw new Error(`There is no collection ${collection}.`);
}
