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
export class SortedIndex {
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
export function firstFrom(entries: readonly number[], number: number): number {
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
