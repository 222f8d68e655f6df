import { concat, getAddress, type Hex, keccak256, numberToHex, pad } from "viem";
import type { Json } from "../../../protocol/values/json.ts";

/** A variable or a member of a struct, where it is in its slot. */
interface Member {
  readonly label: string;
  /** Bytes from the low end of the slot. */
  readonly offset: number;
  readonly slot: string;
  readonly type: string;
}

/** The storage layout of a contract, as the compiler has it. */
export interface StorageLayout {
  readonly storage: readonly Member[];
  readonly types: { readonly [type: string]: StorageType };
}

interface StorageType {
  readonly encoding: string;
  readonly label: string;
  readonly numberOfBytes: string;
  readonly key?: string;
  readonly value?: string;
  readonly members?: readonly Member[];
}

/** A key of a mapping: its 32 bytes, and its name. */
export interface MappingKey {
  word: Hex;
  name: string;
}

/** The keys that a transaction can have used, by the type that they have. */
export interface MappingKeys {
  bytes32: readonly MappingKey[];
  /** The keys of mappings whose values are mappings, too. */
  outerBytes32: readonly MappingKey[];
  address: readonly MappingKey[];
  number: readonly MappingKey[];
}

/** A variable, or a part of one, in a slot. */
export interface SlotPart {
  /** As in `_purchases[pur_…].paid`. */
  name: string;
  type: string;
  offset: number;
  bytes: number;
  /** The variable, and the keys of its mappings. */
  variable: string;
  keys: readonly MappingKey[];
}

/**
 * Finds the parts of slots: a mapping's slots follow from the keys, which are tried.
 *
 * @returns by slot; a slot is missing when no key leads to it.
 */
export function nameSlots(
  layout: StorageLayout,
  slots: ReadonlySet<Hex>,
  keys: MappingKeys,
): Map<Hex, SlotPart[]> {
  const found = new Map<Hex, SlotPart[]>();
  for (const part of partsOf(layout, layout.storage, { base: 0n, name: "", path: [], keys })) {
    const slot = numberToHex(part.slot, { size: 32 });
    if (slots.has(slot)) found.set(slot, [...(found.get(slot) ?? []), part.part]);
  }
  return found;
}

interface Place {
  base: bigint;
  /** The name so far; empty for a variable. */
  name: string;
  /** The keys so far. */
  path: readonly MappingKey[];
  keys: MappingKeys;
}

function* partsOf(
  layout: StorageLayout,
  members: readonly Member[],
  place: Place,
): Generator<{ slot: bigint; part: SlotPart }> {
  for (const { label, offset, slot, type } of members) {
    const name = place.name === "" ? label : `${place.name}.${label}`;
    yield* partsOfType(layout, type, offset, { ...place, base: place.base + BigInt(slot), name });
  }
}

function* partsOfType(
  layout: StorageLayout,
  name: string,
  offset: number,
  place: Place,
): Generator<{ slot: bigint; part: SlotPart }> {
  const type = layout.types[name];
  if (type === undefined) return;
  if (type.members !== undefined) yield* partsOf(layout, type.members, place);
  else if (type.encoding === "mapping") yield* partsOfMapping(layout, type, place);
  else {
    const { name: full, path } = place;
    const variable = /^\w*/.exec(full)?.[0] ?? "";
    const bytes = Number(type.numberOfBytes);
    yield { slot: place.base, part: { name: full, type: type.label, offset, bytes, variable, keys: path } };
  }
}

function* partsOfMapping(
  layout: StorageLayout,
  { key = "", value = "" }: StorageType,
  { base, name, path, keys }: Place,
): Generator<{ slot: bigint; part: SlotPart }> {
  const isOuter = layout.types[value]?.encoding === "mapping";
  const position = numberToHex(base, { size: 32 });
  for (const tried of keysOf(key, isOuter, keys)) {
    const at = BigInt(keccak256(concat([tried.word, position])));
    yield* partsOfType(layout, value, 0, {
      base: at,
      name: `${name}[${tried.name}]`,
      path: [...path, tried],
      keys,
    });
  }
}

function keysOf(type: string, isOuter: boolean, keys: MappingKeys): readonly MappingKey[] {
  if (type === "t_address") return keys.address;
  if (type === "t_bytes32") return isOuter ? keys.outerBytes32 : keys.bytes32;
  return type.startsWith("t_uint") ? keys.number : [];
}

/** Reads a part of a slot's value: integers as decimal strings. */
export function readPart(word: Hex, { type, offset, bytes }: SlotPart): Json {
  const end = 66 - offset * 2;
  const part: Hex = `0x${word.slice(end - bytes * 2, end)}`;
  if (type === "bool") return BigInt(part) !== 0n;
  if (type === "address" || type.startsWith("contract ")) return getAddress(pad(part, { size: 20 }));
  return type.startsWith("uint") || type.startsWith("enum ") ? BigInt(part).toString() : part;
}
