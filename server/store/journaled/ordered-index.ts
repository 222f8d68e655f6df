import type { OrderedPage, Stored } from "../store.ts";

interface Entry {
  number: number;
  stored: Stored<unknown>;
}

/**
 * Records in groups, each group in the order of a number that is unique in it.
 *
 * Finding a place costs the logarithm of the group's size; numbers mostly come in ascending order, so that nothing has to move.
 */
export class OrderedIndex {
  readonly #groups = new Map<string, Entry[]>();
  readonly #within: readonly string[];
  readonly #by: string;

  constructor(ordering: { within: readonly string[]; by: string }) {
    this.#within = ordering.within;
    this.#by = ordering.by;
  }

  /** Puts a record where it belongs now and takes it from where it was. */
  replace(before: Stored<unknown> | undefined, after: Stored<unknown> | undefined): void {
    const from = before && this.#placeOf(before.value);
    const to = after && this.#placeOf(after.value);
    const stays = from && to && from.group === to.group && from.number === to.number;
    if (from && !stays) {
      const entries = this.#groups.get(from.group) ?? [];
      entries.splice(firstFrom(entries, from.number), 1);
    }
    if (!to || !after) return;
    const entries = this.#groups.get(to.group) ?? [];
    if (entries.length === 0) this.#groups.set(to.group, entries);
    entries.splice(firstFrom(entries, to.number), stays ? 1 : 0, { number: to.number, stored: after });
  }

  /** The records of the group with these values, in order. */
  read(values: readonly string[], page: OrderedPage): Stored<unknown>[] {
    const entries = this.#groups.get(groupOf(values)) ?? [];
    const { from, reverse = false, limit = entries.length } = page;
    if (!reverse) {
      const start = from === undefined ? 0 : firstFrom(entries, from);
      return entries.slice(start, start + limit).map(({ stored }) => stored);
    }
    const end = from === undefined ? entries.length : firstFrom(entries, from + 1);
    const found = entries.slice(Math.max(0, end - limit), end);
    return found.reverse().map(({ stored }) => stored);
  }

  #placeOf(record: unknown): { group: string; number: number } | undefined {
    if (typeof record !== "object" || record === null) return undefined;
    const number: unknown = Reflect.get(record, this.#by);
    if (typeof number !== "number") return undefined;
    return { group: groupOf(this.#within.map((field) => String(Reflect.get(record, field)))), number };
  }
}

function groupOf(values: readonly string[]): string {
  return JSON.stringify(values);
}

/** The index of the first entry whose number is not below `number`. */
function firstFrom(entries: readonly Entry[], number: number): number {
  let low = 0;
  let high = entries.length;
  // The newest number is the highest one, as a rule.
  if ((entries.at(-1)?.number ?? Number.NEGATIVE_INFINITY) < number) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.number ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}
