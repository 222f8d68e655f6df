import { type CollectionName, indexedFields, orderings } from "../records.ts";
import type { OrderedPage, Stored } from "../store.ts";
import { CodeIndex, codeOf, firstFrom } from "./code-index.ts";
import { Columns, nowhere } from "./columns.ts";
import { groupOf, OrderedIndex, type Ordering, placeOf } from "./ordered-index.ts";
import { numberOf, widths } from "./packed-block.ts";
import type { RecordOwner, RecordStorage } from "./record-storage.ts";

/** The page of a list. */
export interface ListPage {
  after?: string | undefined;
  limit?: number;
  reverse?: boolean;
}

/** The codes and numbers of a record, one for each column. */
interface Entry {
  codes: readonly number[];
  numbers: readonly number[];
}

/**
 * The records of one collection with an index for each filterable field and for each order.
 *
 * Indexes have the codes of values, so that they need no record; what is found by a code is compared when it is read.
 */
export class Table implements RecordOwner {
  readonly number: number;
  readonly columns: Columns;
  readonly #fields: readonly string[];
  readonly #orders: readonly (Ordering & { name: string; index: OrderedIndex })[];
  /** By the codes of the key, and of each field. */
  readonly #indexes: readonly CodeIndex[];

  constructor(collection: CollectionName) {
    this.number = numberOf(collection);
    const { codes = 0, numbers = 0 } = widths[this.number] ?? {};
    this.columns = new Columns(codes, numbers);
    this.#fields = indexedFields[collection];
    this.#indexes = Array.from({ length: 1 + this.#fields.length }, () => new CodeIndex());
    this.#orders = Object.entries(orderings)
      .filter(([, ordering]) => ordering.collection === collection)
      .map(([name, { within, by }]) => ({ name, within, by, index: new OrderedIndex() }));
  }

  get(key: string, storage: RecordStorage): Stored<unknown> | undefined {
    const slot = this.#find(key, storage);
    return slot === undefined ? undefined : storage.read(this, slot);
  }

  /** Puts the next revision of a record, or the first one. */
  put(key: string, value: unknown, storage: RecordStorage): void {
    const slot = this.#find(key, storage);
    const revision = slot === undefined ? 1 : (this.columns.revisions[slot] ?? 0) + 1;
    this.#place(slot ?? this.columns.append(), { key, value, revision }, storage);
  }

  /** Puts a record of a file or an image at its place in the list; indexed with {@link Table.index}. */
  load(position: number, stored: Stored<unknown>, storage: RecordStorage): void {
    this.columns.reserve(position + 1);
    this.#write(position, stored);
    storage.put(this, position, stored);
  }

  /** Indexes everything that was loaded. */
  index(): void {
    const { codes, numbers, locations, length } = this.columns;
    for (const [column, index] of this.#indexes.entries())
      for (let slot = 0; slot < length; slot += 1)
        if (locations[slot] !== nowhere) index.add(codes[column]?.[slot] ?? 0, slot);
    for (const [order, { index }] of this.#orders.entries())
      for (let slot = 0; slot < length; slot += 1) {
        const number = numbers[order]?.[slot] ?? Number.NaN;
        const code = codes[this.#indexes.length + order]?.[slot] ?? 0;
        if (locations[slot] !== nowhere && !Number.isNaN(number)) index.add(code, number, slot);
      }
  }

  delete(key: string, storage: RecordStorage): void {
    const slot = this.#find(key, storage);
    if (slot === undefined) return;
    this.#reindex(slot, this.#entryAt(slot), null);
    storage.delete(this, slot);
  }

  /** Records that fit a filter, in the order of insertion. */
  list(filter: object, page: ListPage, storage: RecordStorage): Stored<unknown>[] {
    const wanted = Object.entries(filter);
    const found: Stored<unknown>[] = [];
    if (page.limit === 0) return found;
    for (const slot of this.#candidates(wanted, page, storage)) {
      const stored = storage.read(this, slot);
      // Values of one code can differ.
      if (stored === undefined || !wanted.every(([field, value]) => fieldOf(stored.value, field) === value))
        continue;
      found.push(stored);
      if (found.length === page.limit) break;
    }
    return found;
  }

  /** Records in one of the orders. */
  ordered(
    name: string,
    within: readonly string[],
    page: OrderedPage,
    storage: RecordStorage,
  ): Stored<unknown>[] {
    const found: Stored<unknown>[] = [];
    const order = this.#orders.find((one) => one.name === name);
    if (order === undefined || page.limit === 0) return found;
    for (const slot of order.index.read(within, page)) {
      const stored = storage.read(this, slot);
      if (stored === undefined || placeOf(stored.value, order)?.group !== groupOf(within)) continue;
      found.push(stored);
      if (found.length === page.limit) break;
    }
    return found;
  }

  /** The slot of a key. */
  #find(key: string, storage: RecordStorage): number | undefined {
    return this.#indexes[0]?.get(codeOf(key)).find((slot) => storage.read(this, slot)?.key === key);
  }

  /** The slots after a page's beginning whose codes fit a filter: from the shortest list that an index has. */
  *#candidates(
    wanted: readonly [string, unknown][],
    { after, reverse = false }: ListPage,
    storage: RecordStorage,
  ): Generator<number> {
    const cursor = after === undefined ? undefined : this.#find(after, storage);
    if (after !== undefined && cursor === undefined) return;
    const { codes } = this.columns;
    const fields = wanted.map(([field, value]) => {
      const column = 1 + this.#fields.indexOf(field);
      const code = codeOf(value);
      return { column, code, slots: this.#indexes[column]?.get(code) ?? [] };
    });
    const [shortest] = fields.toSorted((left, right) => left.slots.length - right.slots.length);
    const length = shortest?.slots.length ?? this.columns.length;
    const placeOfSlot = (slot: number) => (shortest === undefined ? slot : firstFrom(shortest.slots, slot));
    let at = reverse ? length - 1 : 0;
    if (cursor !== undefined) at = reverse ? placeOfSlot(cursor) - 1 : placeOfSlot(cursor + 1);
    for (; at >= 0 && at < length; at += reverse ? -1 : 1) {
      const slot = shortest?.slots[at] ?? at;
      if (fields.every(({ column, code }) => codes[column]?.[slot] === code)) yield slot;
    }
  }

  #place(slot: number, stored: Stored<unknown>, storage: RecordStorage): void {
    const last = this.#entryAt(slot);
    this.#write(slot, stored);
    storage.put(this, slot, stored);
    this.#reindex(slot, last, this.#entryAt(slot));
  }

  /** Writes the numbers of a record into its columns. */
  #write(slot: number, { key, value, revision }: Stored<unknown>): void {
    const { codes, numbers, revisions } = this.columns;
    revisions[slot] = revision;
    let column = 0;
    const add = (code: number) => {
      const written = codes[column];
      if (written !== undefined) written[slot] = code;
      column += 1;
    };
    add(codeOf(key));
    for (const field of this.#fields) add(codeOf(fieldOf(value, field)));
    let order = 0;
    for (const ordering of this.#orders) {
      const place = placeOf(value, ordering);
      add(codeOf(place?.group));
      const ordered = numbers[order];
      if (ordered !== undefined) ordered[slot] = place?.number ?? Number.NaN;
      order += 1;
    }
  }

  /** The numbers of the record at a slot; null when there is none. */
  #entryAt(slot: number): Entry | null {
    const { codes, numbers, locations } = this.columns;
    if (locations[slot] === nowhere) return null;
    return {
      codes: codes.map((column) => column[slot] ?? 0),
      numbers: numbers.map((column) => column[slot] ?? Number.NaN),
    };
  }

  /** Moves a slot to where its next record belongs in the indexes; without one it is in none. */
  #reindex(slot: number, last: Entry | null, next: Entry | null): void {
    for (const [column, index] of this.#indexes.entries()) {
      const [before, after] = [last?.codes[column], next?.codes[column]];
      if (before === after) continue;
      if (before !== undefined) index.remove(before, slot);
      if (after !== undefined) index.add(after, slot);
    }
    for (const [order, { index }] of this.#orders.entries()) {
      const column = this.#indexes.length + order;
      const [before, after] = [placeIn(last, order, column), placeIn(next, order, column)];
      if (before?.code === after?.code && before?.number === after?.number) continue;
      if (before !== undefined) index.remove(before.code, before.number, slot);
      if (after !== undefined) index.add(after.code, after.number, slot);
    }
  }
}

/** The place of a record in an order; undefined when it is in none. */
function placeIn(entry: Entry | null, order: number, column: number) {
  const [code, number] = [entry?.codes[column], entry?.numbers[order]];
  return code === undefined || number === undefined || Number.isNaN(number) ? undefined : { code, number };
}

function fieldOf(record: unknown, field: string): unknown {
  return typeof record === "object" && record !== null ? Reflect.get(record, field) : undefined;
}
