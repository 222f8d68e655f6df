/**
 * Returns a number for a value. Equal values have the same code, and others rarely do, so a read by code compares the value. Files contain codes:
 * another function is another format.
 */
export function codeOf(value: unknown): number {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  let code = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) code = Math.imul(code ^ text.charCodeAt(at), 0x01000193);
  return code;
}

/** The slots of records by the code of a value. Most values have one record, for which there is no list. */
export class CodeIndex {
  readonly #slots = new Map<number, number | number[]>();

  /** The slots with a code, in ascending order. */
  get(code: number): readonly number[] {
    const found = this.#slots.get(code) ?? [];
    return typeof found === "number" ? [found] : found;
  }

  add(code: number, slot: number): void {
    const found = this.#slots.get(code);
    if (found === undefined) this.#slots.set(code, slot);
    else if (typeof found === "number") this.#slots.set(code, found < slot ? [found, slot] : [slot, found]);
    else if ((found.at(-1) ?? -1) < slot) found.push(slot);
    else found.splice(firstFrom(found, slot), 0, slot);
  }

  remove(code: number, slot: number): void {
    const found = this.#slots.get(code);
    if (typeof found === "number") this.#slots.delete(code);
    else found?.splice(firstFrom(found, slot), 1);
    if (typeof found === "object" && found.length === 0) this.#slots.delete(code);
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
