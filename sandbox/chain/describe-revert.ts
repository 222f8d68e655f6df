import { type Hex, isHex } from "viem";
import { decodeRevert } from "../../relayer/node/decode-revert.ts";
import { shortenArgument } from "../lib/errors/show-value.ts";

/**
 * Writes revert data as the error and its arguments.
 *
 * @returns null when there is no data.
 * @example describeRevert(data) // "DeadlinePassed(now 1767225600, deadline 1767225599)"
 */
export function describeRevert(output: Hex | undefined): string | null {
  const revert = decodeRevert(output ?? "0x");
  if (revert === null) return null;
  const args = Object.entries(revert.args).map(([name, value]) => `${name} ${describeArgument(name, value)}`);
  return `${revert.name}(${args.join(", ")})`;
}

/** A `reason` is the revert data of a call inside. */
function describeArgument(name: string, value: unknown): string {
  const inner = name === "reason" && isHex(value) ? value : undefined;
  return describeRevert(inner) ?? shortenArgument(value);
}
