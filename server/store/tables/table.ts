import { type CollectionName, indexedFields, orderings } from "../records.ts";
import type { OrderedPage, Stored } from "../store.ts";

/** The page of a list. */
export interface ListPage {
  after?: string | undefined;
  limit?: number;
  reverse?: boolean;
}

/** An order: the fields in which the records of a group are equal, and the number that orders them. */
interface Ordering {
  within: readonly string[];
  by: string;
}

/** The records of one collection with an index for each filterable field and for each order. */
export class Table {
  /** In the order of insertion; the slot of a record that was deleted stays empty. */
  readonly #records: (Stored<unknown> | undefined)[] = [];
  readonly #slots = new Map<string, number>();
  /** For each indexed field, the slots by its values. */
  readonly #fields: readonly { field: string; index: SortedIndex }[];
  readonly #orders: readonly (Ordering & { name: string; index: SortedIndex })[];

  constructor(collection: CollectionName) {
    this.#fields = indexedFields[collection].map((field) => ({ field, index: new SortedIndex() }));
    this.#orders = Object.entries(orderings)
      .filter(([, ordering]) => ordering.collection === collection)
      .map(([name, { within, by }]) => ({ name, within, by, index: new SortedIndex() }));
  }

  /** All records, in the order of insertion. */
  get records(): Stored<unknown>[] {
    return this.#records.filter((stored) => stored !== undefined);
  }

  get(key: string): Stored<unknown> | undefined {
    return this.#records[this.#slots.get(key) ?? -1];
  }

  /** Puts the next revision of a record, or the first one. */
  put(key: string, value: unknown): void {
    this.load({ key, value, revision: (this.get(key)?.revision ?? 0) + 1 });
  }

  /** Puts a record as it is. */
  load(stored: Stored<unknown>): void {
    const slot = this.#slots.get(stored.key) ?? this.#records.length;
    this.#slots.set(stored.key, slot);
    this.#index(slot, this.#records[slot], stored);
    this.#records[slot] = stored;
  }

  delete(key: string): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    this.#index(slot, this.#records[slot], undefined);
    this.#records[slot] = undefined;
    this.#slots.delete(key);
  }

  /** Records that fit a filter, in the order of insertion. */
  list(filter: object, { after, limit, reverse = false }: ListPage): Stored<unknown>[] {
    const wanted = Object.entries(filter);
    const cursor = after === undefined ? undefined : this.#slots.get(after);
    const found: Stored<unknown>[] = [];
    if (limit === 0 || (after !== undefined && cursor === undefined)) return found;
    // The shortest list of slots that an index has.
    const [shortest] = wanted
      .map(([field, value]) => this.#fields.find((one) => one.field === field)?.index.get(value).slots ?? [])
      .toSorted((left, right) => left.length - right.length);
    const placeOfSlot = (slot: number) => (shortest === undefined ? slot : firstFrom(shortest, slot));
    const length = shortest?.length ?? this.#records.length;
    let at = reverse ? length - 1 : 0;
    if (cursor !== undefined) at = reverse ? placeOfSlot(cursor) - 1 : placeOfSlot(cursor + 1);
    for (; at >= 0 && at < length && found.length !== limit; at += reverse ? -1 : 1) {
      const stored = this.#records[shortest?.[at] ?? at];
      if (stored !== undefined && wanted.every(([field, value]) => fieldOf(stored.value, field) === value))
        found.push(stored);
    }
    return found;
  }

  /** Records in one of the orders. */
  ordered(
    name: string,
    within: readonly string[],
    { from, limit, reverse = false }: OrderedPage,
  ): Stored<unknown>[] {
    const found: Stored<unknown>[] = [];
    const order = this.#orders.find((one) => one.name === name);
    const { numbers, slots } = order?.index.get(groupOf(within)) ?? { numbers: [], slots: [] };
    let at = reverse ? numbers.length - 1 : 0;
    if (from !== undefined) at = reverse ? firstFrom(numbers, from + 1) - 1 : firstFrom(numbers, from);
    for (; at >= 0 && at < slots.length && found.length !== limit; at += reverse ? -1 : 1) {
      const stored = this.#records[slots[at] ?? -1];
      if (stored !== undefined) found.push(stored);
    }
    return found;
  }

  /** Moves a slot to where its next record belongs in the indexes; without one it is in none. */
  #index(slot: number, last: Stored<unknown> | undefined, next: Stored<unknown> | undefined): void {
    for (const { field, index } of this.#fields) {
      const [before, after] = [fieldOf(last?.value, field), fieldOf(next?.value, field)];
      if (last !== undefined && next !== undefined && before === after) continue;
      if (last !== undefined) index.remove(before, slot, slot);
      if (next !== undefined) index.add(after, slot, slot);
    }
    for (const { index, ...ordering } of this.#orders) {
      const [before, after] = [placeOf(last?.value, ordering), placeOf(next?.value, ordering)];
      if (before?.group === after?.group && before?.number === after?.number) continue;
      if (before !== undefined) index.remove(before.group, before.number, slot);
      if (after !== undefined) index.add(after.group, after.number, slot);
    }
  }
}

/** Returns the place of a record in an order; undefined when its number is null. */
export function placeOf(
  record: unknown,
  { within, by }: Ordering,
): { group: string; number: number } | undefined {
  const number = fieldOf(record, by);
  if (typeof number !== "number") return undefined;
  return { group: groupOf(within.map((field) => String(fieldOf(record, field)))), number };
}

/** Returns the name of the group with these values. */
export function groupOf(values: readonly string[]): string {
  return JSON.stringify(values);
}

function fieldOf(record: unknown, field: string): unknown {
  return typeof record === "object" && record !== null ? Reflect.get(record, field) : undefined;
}

/** One group of an index, in ascending order of the numbers. */
interface Group {
  numbers: number[];
  /** The record of each number. */
  slots: number[];
}

const none: Group = { numbers: [], slots: [] };

/**
 * The slots of records in groups, each group in the order of a number that is unique in it.
 *
 * Finding a place costs the logarithm of the group's size; numbers mostly come in ascending order, so that nothing has to move.
 */
class SortedIndex {
  readonly #groups = new Map<unknown, Group>();

  /** The numbers and slots of a group. */
  get(group: unknown): Readonly<Group> {
    return this.#groups.get(group) ?? none;
  }

  add(group: unknown, number: number, slot: number): void {
    const { numbers, slots } = this.#groups.get(group) ?? { numbers: [], slots: [] };
    if (numbers.length === 0) this.#groups.set(group, { numbers, slots });
    const at = firstFrom(numbers, number);
    numbers.splice(at, 0, number);
    slots.splice(at, 0, slot);
  }

  remove(group: unknown, number: number, slot: number): void {
    const { numbers, slots } = this.#groups.get(group) ?? { numbers: [], slots: [] };
    const at = slots.indexOf(slot, firstFrom(numbers, number));
    numbers.splice(at, 1);
    slots.splice(at, 1);
    if (numbers.length === 0) this.#groups.delete(group);
  }
}

/** The index of the first entry of an ascending list that is not below a number. */
function firstFrom(entries: readonly number[], number: number): number {
  let low = 0;
  let high = entries.length;
  // The newest number is the highest one, as a rule.
  if ((entries.at(-1) ?? Number.NEGATIVE_INFINITY) < number) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
