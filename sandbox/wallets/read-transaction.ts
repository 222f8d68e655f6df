import { type Hex, isHex, maxUint256 } from "viem";
import { z } from "zod";
import { check } from "../../server/http/request/validate.ts";
import { meantName } from "../../server/lib/wording.ts";
import { addressSchema } from "../../server/schemas/primitives.ts";
import { requireArgument } from "../client/require-argument.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";

const weiPattern = /^(0x[0-9a-fA-F]+|0|[1-9][0-9]*)$/;

/** A call that was not sent, as it is given. */
export const callSchema = z.strictObject({
  from: addressSchema,
  to: addressSchema,
  data: z
    .custom<Hex>((value) => isHex(value) && value.length % 2 === 0, "must be whole bytes in hex with 0x")
    .meta({ type: "string", pattern: "^0x([0-9a-fA-F]{2})*$" })
    .transform((data): Hex => `0x${data.slice(2).toLowerCase()}`)
    .default("0x"),
  value: z
    .custom<bigint | string>(isWei, "must be wei from 0 to 2^256 - 1, as a decimal string or hex with 0x")
    .meta({ type: "string", pattern: weiPattern.source })
    .transform((value) => BigInt(value))
    .prefault("0"),
  chain_id: z.int().optional(),
  function: z.unknown().optional(),
  args: z.unknown().optional(),
});

function isWei(value: unknown): boolean {
  const isNumber = typeof value === "bigint" || (typeof value === "string" && weiPattern.test(value));
  return isNumber && BigInt(value) >= 0n && BigInt(value) <= maxUint256;
}

/** An action's transaction names its account; a test may send it with another wallet. */
const transactionSchema = callSchema.partial({ from: true });

/** A transaction that a wallet can sign. */
export type CheckedTransaction = z.output<typeof transactionSchema>;

/**
 * Reads a transaction for a wallet: what it does not send as it is given, it does not send.
 *
 * @throws SandboxError argument_invalid that names the member that is wrong, or that a wallet does not take.
 */
export function readTransaction(value: unknown): CheckedTransaction {
  requireArgument("send", "transaction", value);
  const { data, errors } = check(transactionSchema, value, "");
  if (errors !== null) {
    const [first] = errors;
    const member = first?.pointer.slice(1) ?? "";
    if (first?.code !== "unknown_field")
      throw wrong(
        `, and its ${member} ${first?.detail}`,
        "Pass the transaction of an action, or { to, data, value }.",
      );
    const meant = meantName(member, Object.keys(transactionSchema.shape));
    throw wrong(
      ` without ${member}`,
      meant === undefined
        ? "Pass calldata as data; the wallet chooses gas, fees and nonce."
        : `Did you mean ${meant}?`,
    );
  }
  return data;
}

/** Refuses a transaction for another chain. @throws SandboxError argument_invalid */
export function requireChain({ chain_id }: CheckedTransaction, chainId: number): void {
  if (chain_id !== undefined && chain_id !== chainId)
    throw wrong(
      ` for chain ${chainId}, not for chain ${chain_id}`,
      "Build the transaction for the wallet's chain.",
    );
}

function wrong(takes: string, remedy: string): SandboxError {
  return new SandboxError("argument_invalid", `send takes a transaction${takes}. ${remedy}`);
}
