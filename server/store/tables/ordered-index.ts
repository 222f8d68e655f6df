import type { OrderedPage } from "../store.ts";
import { codeOf, firstFrom } from "./code-index.ts";

/** An order: the fields in which the records of a group are equal, and the number that orders them. */
export interface Ordering {
  within: readonly string[];
  by: string;
}

/** The place of a record in an order. */
export interface Place {
  group: string;
  number: number;
}

interface Group {
  /** In ascending order. */
  numbers: number[];
  /** The record of each number. */
  slots: number[];
}

/**
 * The slots of records in groups, each group in the order of a number that is unique in it.
 *
 * Finding a place costs the logarithm of the group's size; numbers mostly come in ascending order, so that nothing has to move.
 */
export class OrderedIndex {
  readonly #groups = new Map<number, Group>();

  /** Adds a record by the code of its group. */
  add(code: number, number: number, slot: number): void {
    const group = this.#groups.get(code) ?? { numbers: [], slots: [] };
    if (group.numbers.length === 0) this.#groups.set(code, group);
    const at = firstFrom(group.numbers, number);
    group.numbers.splice(at, 0, number);
    group.slots.splice(at, 0, slot);
  }

  remove(code: number, number: number, slot: number): void {
    const { numbers, slots } = this.#groups.get(code) ?? { numbers: [], slots: [] };
    // Groups of one code may have the same number.
    const at = slots.indexOf(slot, firstFrom(numbers, number));
    numbers.splice(at, 1);
    slots.splice(at, 1);
    if (numbers.length === 0) this.#groups.delete(code);
  }

  /** The slots of the group with these values, in order. */
  *read(values: readonly string[], { from, reverse = false }: OrderedPage): Generator<number> {
    const { numbers, slots } = this.#groups.get(codeOf(groupOf(values))) ?? { numbers: [], slots: [] };
    let at = reverse ? numbers.length - 1 : 0;
    if (from !== undefined) at = reverse ? firstFrom(numbers, from + 1) - 1 : firstFrom(numbers, from);
    for (let slot = slots[at]; slot !== undefined; slot = slots[at]) {
      yield slot;
      at += reverse ? -1 : 1;
    }
  }
}

/** Returns the place of a record in an order; undefined when its number is null. */
export function placeOf(record: unknown, { within, by }: Ordering): Place | undefined {
  if (typeof record !== "object" || record === null) return undefined;
  const number: unknown = Reflect.get(record, by);
  if (typeof number !== "number") return undefined;
  return { group: groupOf(within.map((field) => String(Reflect.get(record, field)))), number };
}

/** Returns the name of the group with these values. */
export function groupOf(values: readonly string[]): string {
  return JSON.stringify(values);
}
