import type { Token } from "../amounts/format-amount.ts";
import type { Choice } from "./wallet-api.ts";

/** The input for an action. */
export interface ActionInput {
  /** In tokens; until one is typed, the amount that the service offers is filled in. */
  amount?: string;
  reason?: string;
}

/** Says how something is typed. */
export function writeInput({ amount, reason }: Choice, token: Token): ActionInput {
  return {
    ...(amount === undefined ? {} : { amount: writeAmount(amount, token) }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Reads what was typed, or says what is wrong with it. */
export function parseInput({ amount, reason }: ActionInput, token: Token): Choice | { error: string } {
  const said = reason ? { reason } : {};
  if (amount === undefined) return said;
  const parsed = parseTypedAmount(amount, token);
  return "error" in parsed ? parsed : { ...said, amount: parsed.baseUnits };
}

/** Returns whether an amount is still to be typed: it was deleted, or the last one is done. */
export function isAmountMissing({ amount }: ActionInput): boolean {
  return amount?.trim() === "";
}

/** An amount in base units as it is typed: without separators and without needless zeros. */
export function writeAmount(baseUnits: string, { decimals }: Token): string {
  const digits = baseUnits.padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, -decimals) : `${digits.slice(0, -decimals)}.${fraction}`;
}

/**
 * Reads a typed amount.
 *
 * @returns base units, or what is wrong with the text.
 * @example parseAmount("2.5", usdc) // { baseUnits: "2500000" }
 */
function parseTypedAmount(
  text: string,
  { symbol, decimals }: Token,
): { baseUnits: string } | { error: string } {
  const parts = /^(\d+)(?:\.(\d+))?$/.exec(text.trim());
  if (parts === null) return { error: `Write an amount of ${symbol} in digits, such as 12.50.` };
  const [, whole = "", fraction = ""] = parts;
  if (fraction.length > decimals) return { error: `${symbol} has ${decimals} decimals; write no more.` };
  const baseUnits = `${whole}${fraction.padEnd(decimals, "0")}`.replace(/^0+/, "");
  return baseUnits === "" ? { error: "The amount must be more than zero." } : { baseUnits };
}
