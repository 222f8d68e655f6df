import { decodeErrorResult, type Hex, parseAbiItem } from "viem";
import { fundingSourceAbi, purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { toJson } from "../../protocol/values/json.ts";
import type { RelayOperationError } from "../journal/relay-operation.ts";

// The contracts share errors of the libraries that they use; the first of equals is as good as any.
const errorAbi = [
  ...[...purchaseRegistrarAbi, ...fundingSourceAbi, ...testUsdcAbi].filter((entry) => entry.type === "error"),
  // The registrar contract of a data directory that an earlier version made does not name the value.
  parseAbiItem("error AmountOutOfRange(uint256 actual, uint256 min, uint256 max)"),
];

/**
 * Decodes revert data with the custom errors of the contracts.
 *
 * @returns null when there is no data; an unknown error is named by its selector.
 * @example decodeRevert(data)?.name // "OfferDeadlinePassed"
 */
export function decodeRevert(data: Hex): RelayOperationError["revert"] {
  if (data === "0x") return null;
  try {
    const { errorName, args, abiItem } = decodeErrorResult({ abi: errorAbi, data });
    const inputs = "inputs" in abiItem ? abiItem.inputs : [];
    const named = inputs.map((input, index) => [input.name || String(index), toJson(args?.[index])]);
    return { name: errorName, args: Object.fromEntries(named), data };
  } catch {
    return { name: data.slice(0, 10), args: {}, data };
  }
}
