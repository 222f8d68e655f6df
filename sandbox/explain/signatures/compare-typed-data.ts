import { getAddress, isAddress } from "viem";
import { differingBytes } from "../../../protocol/values/differing-bytes.ts";
import type { Json } from "../../../protocol/values/json.ts";
import type { Deployment } from "../../../server/chain/deployment.ts";
import { contractAt } from "../address-book.ts";
import { compareMember } from "../cause/compare-calls.ts";
import type { MemberDifference } from "../explanation.ts";
import type { TypeMembers } from "./find-wrong-member.ts";
import type { SignatureMistake, SignatureMistakeName } from "./mistakes.ts";
import type { GivenTypedData } from "./typed-data.ts";

/**
 * Compares typed data with the known one, member by member, domain first.
 *
 * @example compareTypedData(given, known).filter(({ equal }) => !equal).map(({ name }) => name) // ["domain.chainId"]
 */
export function compareTypedData(given: GivenTypedData, known: GivenTypedData): MemberDifference[] {
  const { primaryType, types } = known;
  return [
    ...compareMembers("domain", given.domain, known.domain, types["EIP712Domain"] ?? []),
    ...compareMembers("message", given.message, known.message, types[primaryType] ?? []),
  ];
}

/**
 * Returns how many of the fixed members of a message the given one does not have. A member that has most of its bytes counts as the share of
 * the others.
 *
 * @example countDiffering({ message: { commitment: withOneByteWrong } }, { commitment }) // 1 / 32
 */
export function countDiffering(
  { message }: Pick<GivenTypedData, "message">,
  fixed: { [name: string]: Json },
): number {
  const shares = Object.entries(fixed).map(([name, expected]) => {
    const sides = [digitsOf(expected), digitsOf(message[name])] as const;
    const length = Math.ceil(Math.max(...sides.map((digits) => digits.length)) / 2);
    const [left, right] = sides.map((digits) => digits.padStart(length * 2, "0")) as [string, string];
    const differing = differingBytes(left, right).length;
    return differing * 2 < length ? differing / length : 1;
  });
  return shares.reduce((sum, share) => sum + share, 0);
}

/** Returns the hex digits of bytes, an address or an integer, and any other value as a text. */
function digitsOf(value: Json | undefined): string {
  const text = String(value).toLowerCase();
  return /^[0-9]+$/.test(text) ? BigInt(text).toString(16) : text.replace(/^0x/, "");
}

/** Compares an object with the known one, member by member; values of one type with several spellings are compared in one of them. */
export function compareMembers(
  path: string,
  given: { [name: string]: Json },
  known: { [name: string]: Json },
  members: TypeMembers[string],
): MemberDifference[] {
  const typeOf = new Map(members.map(({ name, type }) => [name, type]));
  const names = new Set([...typeOf.keys(), ...Object.keys(given)]);
  return [...names].map((name) => {
    const type = typeOf.get(name) ?? "string";
    return compareMember(`${path}.${name}`, plain(known[name], type), plain(given[name], type));
  });
}

/** Returns a value in the one form that all of its spellings have: checksummed addresses, decimal integers, lower-case bytes. */
function plain(value: Json | undefined, type: string): Json {
  if (value === undefined) return null;
  if (type.startsWith("uint") || type.startsWith("int")) return integerText(value);
  if (typeof value !== "string") return value;
  if (type === "address") return isAddress(value, { strict: false }) ? getAddress(value) : value;
  return type.startsWith("bytes") ? value.toLowerCase() : value;
}

function integerText(value: Json): Json {
  const isInteger =
    typeof value === "number"
      ? Number.isInteger(value)
      : typeof value === "string" && /^(0x[0-9a-fA-F]+|-?[0-9]+)$/.test(value);
  return isInteger ? BigInt(String(value)).toString() : value;
}

const mistakeNames: { readonly [member: string]: SignatureMistakeName } = {
  "domain.chainId": "wrong_chain_id",
  "domain.verifyingContract": "wrong_verifying_contract",
  "domain.version": "wrong_domain_version",
  "domain.name": "wrong_domain_name",
  "decision.chain_id": "wrong_chain_id",
  "decision.claim_hash": "wrong_claim_hash",
  "decision.reviewer_key_id": "wrong_reviewer",
};

/** Returns the mistakes of typed data: its domain first, then its types, then its message. */
export function mistakesOfData(
  given: GivenTypedData,
  known: GivenTypedData,
  deployment: Deployment,
): SignatureMistake[] {
  const differing = compareTypedData(given, known).filter(({ equal }) => !equal);
  return [
    ...differing.filter(({ name }) => Object.hasOwn(mistakeNames, name)),
    ...mistakesOfTypes(given, known),
    ...differing.filter(({ name }) => name.startsWith("message.")),
  ].map((mistake) => ("detail" in mistake ? mistake : memberMistake(mistake, deployment)));
}

/** Makes the mistake of one member, with the names of the contracts on both sides. */
export function memberMistake(
  { name: field, expected, actual }: Omit<MemberDifference, "equal">,
  deployment: Deployment,
): SignatureMistake {
  const sideOf = (value: Json) => {
    const contract =
      typeof value === "string" && isAddress(value, { strict: false }) ? contractAt(deployment, value) : null;
    const text = JSON.stringify(value);
    return contract === null ? text : `${text} (${contract.name})`;
  };
  const detail =
    actual === null
      ? `${field} is missing; ${sideOf(expected)} was expected.`
      : expected === null
        ? `${field} is ${sideOf(actual)}; the message has no such member.`
        : `${field} is ${sideOf(actual)}; ${sideOf(expected)} was expected.`;
  return { name: mistakeNames[field] ?? "changed_field", field, expected, actual, detail };
}

function mistakesOfTypes(given: GivenTypedData, known: GivenTypedData): SignatureMistake[] {
  return ["EIP712Domain", known.primaryType].flatMap((type): SignatureMistake[] => {
    const isMissing = type === "EIP712Domain" && !Object.hasOwn(given.types, type);
    const expected = textOfType(type, known.types);
    const actual = isMissing ? null : textOfType(type, given.types);
    if (expected === actual) return [];
    const field = `types.${type}`;
    const name = isMissing ? "missing_domain_type" : "wrong_types";
    const detail = isMissing
      ? `types has no EIP712Domain, so eth_signTypedData_v4 signs an empty domain; add ${expected}.`
      : `${field} is ${actual}; ${expected} was expected.`;
    return [{ name, field, expected, actual, detail }];
  });
}

/** Returns a type as EIP-712 writes it, such as `Claim(bytes32 commitment,address beneficiary)`. */
function textOfType(name: string, types: TypeMembers): string {
  return `${name}(${(types[name] ?? []).map((member) => `${member.type} ${member.name}`).join(",")})`;
}
