import { type Address, getAddress, type Hex, isAddress, isHex } from "viem";
import type { BindingCheck } from "../../../protocol/binding/check-binding.ts";
import type { Json } from "../../../protocol/values/json.ts";
import type { Deployment } from "../../../server/chain/deployment.ts";
import { abisFor, contractAt, labelOf } from "../address-book.ts";
import type { Explanation } from "../explanation.ts";
import { compareCalldata } from "./compare-calldata.ts";
import { member } from "./member.ts";

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
  const isKnown = contractAt(deployment, actual.to) !== null;
  // A lookalike at another address is read as what it looks like.
  const abis = abisFor(deployment, isKnown ? actual.to : expected.to);
  return {
    to: actual.to === null ? null : getAddress(actual.to),
    contract: labelOf(deployment, actual.to),
    expected_to: getAddress(expected.to),
    expected_contract: labelOf(deployment, expected.to),
    ...compareCalldata(abi, expected.data, actual.data, abis),
  };
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
