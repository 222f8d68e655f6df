import { type Abi, type Address, getAddress, type Hex, isAddress, isHex, size, slice } from "viem";
import type { BindingCheck } from "../../../protocol/binding/check-binding.ts";
import { decodeCall } from "../../../protocol/call.ts";
import { readCall } from "../../../protocol/read-call.ts";
import { canonicalJson } from "../../../protocol/values/canonical-json.ts";
import { differingBytes } from "../../../protocol/values/differing-bytes.ts";
import type { Json } from "../../../protocol/values/json.ts";
import type { Deployment } from "../../../server/chain/deployment.ts";
import { contractAt, functionCalled, labelOf, readCallTo } from "../address-book.ts";
import type { Explanation, MemberDifference } from "../explanation.ts";

/** The contract and the calldata of a call. */
interface ComparedCall {
  to: Address | null;
  data: Hex;
}

/** Shows a call next to the expected one; null when the expected contract is none of the sandbox's. */
export function compareCalls(
  expected: ComparedCall & { to: Address },
  actual: ComparedCall,
  deployment: Deployment,
): Explanation["call"] {
  const abi = contractAt(deployment, expected.to)?.abi;
  if (abi === undefined) return null;
  // A lookalike at another address is read as what it looks like.
  const readAs = contractAt(deployment, actual.to) === null ? expected.to : actual.to;
  const found = readCallTo(readAs, actual.data, deployment);
  const wanted = decodeCall(abi, expected.data);
  const left = flatten(wanted?.args ?? {});
  const right = flatten(found?.args ?? {});
  const name = functionCalled(actual.data, deployment);
  const isUnreadable = found === null && name !== null;
  return {
    to: actual.to === null ? null : getAddress(actual.to),
    contract: labelOf(deployment, actual.to),
    expected_to: getAddress(expected.to),
    expected_contract: labelOf(deployment, expected.to),
    function: found?.function ?? name,
    expected_function: wanted?.function ?? "",
    canonical: found?.canonical ?? false,
    fields: isUnreadable
      ? []
      : [...new Set([...left.keys(), ...right.keys()])].map((field) =>
          compareMember(field, left.get(field), right.get(field)),
        ),
    words: compareWords(expected.data, actual.data).map((word) => ({
      ...word,
      field: fieldOf(word, abi, expected.data, left),
    })),
  };
}

/** Shows a member next to the expected one; null where a side does not have it. */
export function compareMember(name: string, expected: Json = null, actual: Json = null): MemberDifference {
  return { name, expected, actual, equal: canonicalJson(expected) === canonicalJson(actual) };
}

/** Shows the call of a refused transaction next to the expected one, as its checks have both; null when they do not. */
export function callOfChecks(checks: readonly BindingCheck[], deployment: Deployment): Explanation["call"] {
  const sides = (name: string) => checks.find((check) => check.name === name);
  const { expected: contract = null, actual: called = null } = sides("contract") ?? {};
  const { expected: data = null, actual: sent = null } = sides("calldata") ?? {};
  const to = addressIn(contract);
  const input = hexOf(member(sent, "data")) ?? hexOf(sent);
  const wanted = hexOf(data);
  if (to === null || wanted === null || input === null) return null;
  return compareCalls({ to, data: wanted }, { to: addressIn(called), data: input }, deployment);
}

function addressIn(side: Json): Address | null {
  const address = member(side, "address");
  return typeof address === "string" && isAddress(address, { strict: false }) ? getAddress(address) : null;
}

function hexOf(value: Json): Hex | null {
  return typeof value === "string" && isHex(value) ? value : null;
}

/** The leaves of named arguments by their path. */
function flatten(value: Json, path = ""): Map<string, Json> {
  if (typeof value !== "object" || value === null) return new Map([[path, value]]);
  const entries = Array.isArray(value)
    ? value.map((entry, index): [string, Json] => [`${path}[${index}]`, entry])
    : Object.entries(value).map(([name, entry]): [string, Json] => [path ? `${path}.${name}` : name, entry]);
  return new Map(entries.flatMap(([name, entry]) => [...flatten(entry, name)]));
}

type Word = Omit<NonNullable<Explanation["call"]>["words"][number], "field">;

/** Returns the one argument that another word changes: which that is follows from reading the expected call with this word. */
function fieldOf(
  { offset, expected, actual }: Word,
  abi: Abi,
  call: Hex,
  args: Map<string, Json>,
): string | null {
  if (actual === expected || actual.length !== expected.length) return null;
  const start = 2 + offset * 2;
  const altered: Hex = `0x${call.slice(2, start)}${actual}${call.slice(start + actual.length)}`;
  const read = flatten(readCall(abi, altered)?.args ?? {});
  const changed = [...args].filter(
    ([name, value]) => canonicalJson(read.get(name) ?? null) !== canonicalJson(value),
  );
  return changed.length === 1 ? (changed[0]?.[0] ?? null) : null;
}

function compareWords(expected: Hex, actual: Hex): Word[] {
  const words: Word[] = [];
  const length = Math.max(size(expected), size(actual));
  for (let offset = 0; offset < length; offset += offset === 0 ? 4 : 32) {
    const end = offset === 0 ? 4 : offset + 32;
    const left = bytesOf(expected, offset, end);
    const right = bytesOf(actual, offset, end);
    words.push({ offset, expected: left, actual: right, differing: differingBytes(left, right) });
  }
  return words;
}

function bytesOf(data: Hex, from: number, to: number): string {
  const length = size(data);
  return from >= length ? "" : slice(data, from, Math.min(to, length)).slice(2);
}

/** Returns a member of a value; null when the value is no object or has no such member. */
export function member(value: Json | undefined, name: string): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value[name] ?? null) : null;
}
