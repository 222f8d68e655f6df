import { isAddress, isHex, size } from "viem";
import type { Json } from "../../../protocol/values/json.ts";
import { showValue } from "../../lib/errors/show-value.ts";

/** The members of the types of typed data, by the types' names. */
export interface TypeMembers {
  readonly [name: string]: readonly { readonly name: string; readonly type: string }[];
}

/**
 * Returns what is wrong with the first member of typed data that cannot be hashed as its type; null if there is none.
 *
 * @param path - the path of the value, as in `message`.
 * @example findWrongMember(types, "Claim", message, "message"); // "is wrong: message.beneficiary must be an address, not 5"
 */
export function findWrongMember(types: TypeMembers, type: string, value: Json, path: string): string | null {
  const [, element = null, length = ""] = /^(.*)\[(\d*)\]$/s.exec(type) ?? [];
  if (element !== null) return findWrongEntry(types, { type: element, length }, value, path);
  if (!Object.hasOwn(types, type)) return findWrongValue(type, value, path);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return mustBe(`an object with the members of ${type}`, value, path);
  for (const member of types[type] ?? []) {
    const at = `${path}.${member.name}`;
    const inner = Object.hasOwn(value, member.name) ? value[member.name] : undefined;
    if (inner === undefined) return `has no ${at}, which is a member of ${type}`;
    const wrong = findWrongMember(types, member.type, inner, at);
    if (wrong !== null) return wrong;
  }
  return null;
}

function findWrongEntry(
  types: TypeMembers,
  { type, length }: { type: string; length: string },
  value: Json,
  path: string,
): string | null {
  const isWhole = Array.isArray(value) && (length === "" || value.length === Number(length));
  if (!isWhole) {
    const counted = length === "" ? "" : ` of ${length} entries`;
    return mustBe(`an array${counted} (${type}[${length}])`, value, path);
  }
  for (const [index, entry] of value.entries()) {
    const wrong = findWrongMember(types, type, entry, `${path}[${index}]`);
    if (wrong !== null) return wrong;
  }
  return null;
}

function findWrongValue(type: string, value: Json, path: string): string | null {
  const [, kind = "", digits = ""] = /^(address|bool|string|bytes|u?int)(\d*)$/.exec(type) ?? [];
  switch (kind) {
    case "address":
      if (typeof value !== "string" || !isAddress(value, { strict: false }))
        return mustBe("an address", value, path);
      return isAddress(value)
        ? null
        : mustBe("all lower case or have the right EIP-55 checksum", value, path);
    case "bool":
      return typeof value === "boolean" ? null : mustBe("true or false (bool)", value, path);
    case "string":
      // A number is hashed as its bytes, which is explained as a difference.
      return typeof value === "string" || typeof value === "number"
        ? null
        : mustBe("a text (string)", value, path);
    case "bytes":
      return areBytes(value, digits) ? null : mustBe(`${namedBytes(digits)} in hex with 0x`, value, path);
    case "int":
    case "uint":
      return isInteger(value, kind, Number(digits || 256))
        ? null
        : mustBe(`a whole number from ${rangeOf(kind, digits || "256")} (${type})`, value, path);
    default:
      return `is wrong: types has no type ${showValue(type)}, which is that of ${path}`;
  }
}

function mustBe(expected: string, value: Json, path: string): string {
  return `is wrong: ${path} must be ${expected}, not ${showValue(value)}`;
}

function areBytes(value: Json, length: string): boolean {
  const isWhole = isHex(value) && value.length % 2 === 0;
  return isWhole && (length === "" || size(value) === Number(length));
}

function namedBytes(length: string): string {
  return length === "" ? "whole bytes" : `${length} bytes`;
}

function isInteger(value: Json, kind: "int" | "uint", bits: number): boolean {
  const isNumber = Number.isSafeInteger(value);
  if (!isNumber && !(typeof value === "string" && /^(0x[0-9a-fA-F]+|-?[0-9]+)$/.test(value))) return false;
  const number = BigInt(String(value));
  return number === (kind === "int" ? BigInt.asIntN(bits, number) : BigInt.asUintN(bits, number));
}

function rangeOf(kind: "int" | "uint", bits: string): string {
  return kind === "uint" ? `0 to 2^${bits} - 1` : `-2^${Number(bits) - 1} to 2^${Number(bits) - 1} - 1`;
}
