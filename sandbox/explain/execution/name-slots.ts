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
  /** The keys of its mappings. */
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
  for (const variable of layout.storage) {
    const place = { base: BigInt(variable.slot), name: variable.label, keys: [] };
    for (const { base, part } of partsOf(layout, variable, place, keys)) {
      const slot = numberToHex(base, { size: 32 });
      if (slots.has(slot)) found.set(slot, [...(found.get(slot) ?? []), part]);
    }
  }
  return found;
}

/** The slot, the name and the keys of the mappings that have led to a value. */
interface Place {
  base: bigint;
  name: string;
  keys: readonly MappingKey[];
}

function* partsOf(
  layout: StorageLayout,
  { type: typeName, offset }: Pick<Member, "type" | "offset">,
  place: Place,
  tried: MappingKeys,
): Generator<{ base: bigint; part: SlotPart }> {
  const type = layout.types[typeName];
  const { base, name, keys } = place;
  if (type?.members !== undefined) {
    for (const member of type.members) {
      const at = { base: base + BigInt(member.slot), name: `${name}.${member.label}`, keys };
      yield* partsOf(layout, member, at, tried);
    }
  } else if (type?.encoding === "mapping") {
    const { key: keyType = "", value = "" } = type;
    const position = numberToHex(base, { size: 32 });
    for (const key of keysOf(keyType, layout.types[value]?.encoding === "mapping", tried)) {
      const slot = BigInt(keccak256(concat([key.word, position])));
      const at = { base: slot, name: `${name}[${key.name}]`, keys: [...keys, key] };
      yield* partsOf(layout, { type: value, offset: 0 }, at, tried);
    }
  } else if (type !== undefined) {
    const bytes = Number(type.numberOfBytes);
    yield { base, part: { name, type: type.label, offset, bytes, keys } };
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
