import type { Hex } from "viem";

/** A repeatable source of choices (mulberry32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A whole number from 0 to `sides` - 1. */
  roll(sides: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.roll(choices.length)];
    if (choice === undefined) throw new RangeError("There is nothing to choose from.");
    return choice;
  }
}

type Path = readonly (string | number)[];

/** Every place in plain data, the leaves and the lists. */
export function placesOf(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value))
    return [path, ...value.flatMap((entry, index) => placesOf(entry, [...path, index]))];
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([name, entry]) => placesOf(entry, [...path, name]));
  return [path];
}

/** The data with one place changed into something else. */
export function mutate<T>(value: T, path: Path, dice: Dice): T {
  return replaceAt(value, path, (place) => other(place, dice)) as T;
}

function replaceAt(value: unknown, [step, ...rest]: Path, change: (place: unknown) => unknown): unknown {
  if (step === undefined) return change(value);
  if (Array.isArray(value))
    return value.map((entry, index) => (index === step ? replaceAt(entry, rest, change) : entry));
  if (typeof value !== "object" || value === null) throw new TypeError("A path leads through objects.");
  return { ...value, [step]: replaceAt(Reflect.get(value, step), rest, change) };
}

function other(place: unknown, dice: Dice): unknown {
  if (typeof place === "bigint") return place + dice.pick([1n, -1n, 256n, 2n ** 64n]);
  if (typeof place === "number") return place + dice.pick([1, -1, 256, 2 ** 32]);
  if (typeof place === "boolean") return !place;
  if (place === null) return `0x${"01".repeat(32)}`;
  if (Array.isArray(place)) return otherList(place, dice);
  if (typeof place === "string" && place.startsWith("0x")) return otherBytes(`0x${place.slice(2)}`, dice);
  if (place === "success") return "reverted";
  throw new TypeError(`There is no other ${String(place)}.`);
}

function otherList(list: readonly unknown[], dice: Dice): unknown[] {
  const at = dice.roll(Math.max(1, list.length));
  switch (list.length === 0 ? 0 : dice.roll(list.length === 1 ? 2 : 3)) {
    case 0:
      return [...list, ...(list.length === 0 ? [`0x${"02".repeat(32)}`] : [list[at]])];
    case 1:
      return list.toSpliced(at, 1);
    default:
      return [...list.slice(1), list[0]];
  }
}

/** Other bytes: a bit flipped, a byte replaced, added or left out, two words exchanged. */
export function otherBytes(bytes: Hex, dice: Dice): Hex {
  const length = (bytes.length - 2) / 2;
  const at = length === 0 ? 0 : dice.roll(length);
  const before = bytes.slice(2, 2 + at * 2);
  const byte = Number.parseInt(bytes.slice(2 + at * 2, 4 + at * 2) || "00", 16);
  const after = bytes.slice(4 + at * 2);
  const hex = (value: number) => value.toString(16).padStart(2, "0");
  switch (length === 0 ? 2 : dice.roll(5)) {
    case 0:
      return `0x${before}${hex(byte ^ (1 << dice.roll(8)))}${after}`;
    case 1:
      return `0x${before}${hex((byte + 1 + dice.roll(255)) % 256)}${after}`;
    case 2:
      return `0x${before}${hex(dice.roll(256))}${bytes.slice(2 + at * 2)}`;
    case 3:
      return `0x${before}${after}`;
    default:
      return `${bytes}${dice.pick(["00", "ff", "00".repeat(32)])}`;
  }
}
