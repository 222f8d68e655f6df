import { getAddress, isAddress } from "viem";
import { canonicalJson } from "../../../protocol/values/canonical-json.ts";
import type { Json } from "../../../protocol/values/json.ts";
import type { Deployment } from "../../../server/chain/deployment.ts";
import { contractAt } from "../address-book.ts";
import type { SignatureMistake, SignatureMistakeName } from "./mistakes.ts";
import { type GivenTypedData, hasDomainType, type TypeMembers } from "./typed-data.ts";

/** One member of typed data next to the one that is known; null where a side does not have it. */
export interface MemberDifference {
  name: string;
  expected: Json;
  actual: Json;
  equal: boolean;
}

/**
 * Compares typed data with the known one, member by member, domain first.
 *
 * @example compareMembers(given, known).filter(({ equal }) => !equal).map(({ name }) => name) // ["domain.chainId"]
 */
export function compareMembers(given: GivenTypedData, known: GivenTypedData): MemberDifference[] {
  const { primaryType, types } = known;
  return [
    ...compare("domain", given.domain, known.domain, types["EIP712Domain"] ?? []),
    ...compare("message", given.message, known.message, types[primaryType] ?? []),
  ];
}

/** Returns how many of the fixed members of a message the given one has. */
export function countEqual(
  given: GivenTypedData,
  fixed: { [name: string]: Json },
  types: TypeMembers,
): number {
  const members = (types[given.primaryType] ?? []).filter(({ name }) => Object.hasOwn(fixed, name));
  return compare("message", given.message, fixed, members).filter(
    ({ equal, expected }) => equal && expected !== null,
  ).length;
}

function compare(
  path: string,
  given: { [name: string]: Json },
  known: { [name: string]: Json },
  members: TypeMembers[string],
): MemberDifference[] {
  const typeOf = new Map(members.map(({ name, type }) => [name, type]));
  const names = new Set([...typeOf.keys(), ...Object.keys(given)]);
  return [...names].map((name) => {
    const type = typeOf.get(name) ?? "string";
    const [expected, actual] = [known[name], given[name]].map((value) => plain(value, type));
    const equal = canonicalJson(expected) === canonicalJson(actual);
    return { name: `${path}.${name}`, expected: expected ?? null, actual: actual ?? null, equal };
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

const domainMistakes: { readonly [member: string]: SignatureMistakeName } = {
  "domain.chainId": "wrong_chain_id",
  "domain.verifyingContract": "wrong_verifying_contract",
  "domain.version": "wrong_domain_version",
  "domain.name": "wrong_domain_name",
};

/** Returns the mistakes of typed data: its domain first, then its types, then its message. */
export function mistakesOfData(
  given: GivenTypedData,
  known: GivenTypedData,
  deployment: Deployment,
): SignatureMistake[] {
  const differing = compareMembers(given, known).filter(({ equal }) => !equal);
  const inDomain = differing.flatMap((member) => {
    const name = domainMistakes[member.name];
    return name === undefined ? [] : [memberMistake(name, member, deployment)];
  });
  const inMessage = differing.filter(({ name }) => name.startsWith("message."));
  return [
    ...inDomain,
    ...mistakesOfTypes(given, known),
    ...inMessage.map((member) => memberMistake("changed_field", member, deployment)),
  ];
}

/** Makes the mistake of one member, with the names of the contracts on both sides. */
export function memberMistake(
  name: SignatureMistakeName,
  { name: field, expected, actual }: Pick<MemberDifference, "name" | "expected" | "actual">,
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
  return { name, field, expected, actual, detail };
}

function mistakesOfTypes(given: GivenTypedData, known: GivenTypedData): SignatureMistake[] {
  const { primaryType } = known;
  const names = hasDomainType(given) ? ["EIP712Domain", primaryType] : [primaryType];
  const differing = names.flatMap((name): SignatureMistake[] => {
    const [expected, actual] = [textOfType(name, known.types), textOfType(name, given.types)];
    const detail = `types.${name} is ${actual}; ${expected} was expected.`;
    return expected === actual
      ? []
      : [{ name: "wrong_types", field: `types.${name}`, expected, actual, detail }];
  });
  return [...(hasDomainType(given) ? [] : [missingDomainType(known)]), ...differing];
}

/** The mistake of types without the type of the domain. */
function missingDomainType(known: GivenTypedData): SignatureMistake {
  const expected = textOfType("EIP712Domain", known.types);
  const detail = `types has no EIP712Domain, so eth_signTypedData_v4 signs an empty domain; add ${expected}.`;
  return { name: "missing_domain_type", field: "types.EIP712Domain", expected, actual: null, detail };
}

/** Returns a type as EIP-712 writes it, such as `Claim(bytes32 commitment,address beneficiary)`. */
function textOfType(name: string, types: TypeMembers): string {
  return `${name}(${(types[name] ?? []).map((member) => `${member.type} ${member.name}`).join(",")})`;
}
