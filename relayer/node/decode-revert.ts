import {
  type Abi,
  type AbiParameter,
  decodeAbiParameters,
  type Hex,
  parseAbi,
  sliceHex,
  toFunctionSelector,
} from "viem";
import { fundingSourceAbi, purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { toJson } from "../../protocol/values/json.ts";
import type { RelayOperationError } from "../journal/relay-operation.ts";

interface KnownError {
  name: string;
  inputs: readonly AbiParameter[];
}

/** The errors that are decoded, by their selectors. */
const known = new Map<string, KnownError>();

for (const abi of [
  purchaseRegistrarAbi,
  fundingSourceAbi,
  testUsdcAbi,
  parseAbi([
    "error Error(string message)",
    "error Panic(uint256 reason)",
    // The registrar contract of a data directory that an earlier version made does not name the value.
    "error AmountOutOfRange(uint256 actual, uint256 min, uint256 max)",
  ]),
])
  knowErrors(abi);

/** The selectors of the errors that the interfaces declare: not those that {@link knowErrors} adds later. */
export const declaredErrors: ReadonlySet<string> = new Set(known.keys());

/**
 * Has the errors of another contract decoded, too, such as those of your own registrar contract.
 *
 * They are known to the whole process: a selector decides what an error is, whichever sandbox met it.
 *
 * @example knowErrors(artifact.abi)
 */
export function knowErrors(abi: Abi): void {
  for (const entry of abi) {
    if (entry.type !== "error") continue;
    const { name, inputs } = entry;
    const selector = toFunctionSelector({
      type: "function",
      name,
      inputs,
      outputs: [],
      stateMutability: "view",
    });
    if (!known.has(selector)) known.set(selector, { name, inputs });
  }
}

/**
 * Decodes revert data with the errors of the contracts, and of those that {@link knowErrors} was called with.
 *
 * @returns null when there is no data; an unknown error is named by its selector.
 * @example decodeRevert(data)?.name // "OfferDeadlinePassed"
 */
export function decodeRevert(data: Hex): RelayOperationError["revert"] {
  if (data === "0x") return null;
  const unknown = { name: data.slice(0, 10), args: {}, data };
  const error = known.get(data.slice(0, 10).toLowerCase());
  if (error === undefined) return unknown;
  try {
    const { name, inputs } = error;
    const args = inputs.length === 0 ? [] : decodeAbiParameters(inputs, sliceHex(data, 4));
    const named = inputs.map((input, index) => [input.name || String(index), toJson(args[index])]);
    return { name, args: Object.fromEntries(named), data };
  } catch {
    return unknown;
  }
}
