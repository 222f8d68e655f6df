import type { Token } from "../amounts/format-amount.ts";
import { parseTypedAmount, writeAmount } from "./typed-amount.ts";
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
