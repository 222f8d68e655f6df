import { toChainTimestamp } from "../../../protocol/values/time.ts";
import type { ChainPurchase } from "../../chain/chain-reader.ts";
import type { PurchaseRecord } from "../../store/records.ts";
import { claimableUntil, payableUntil } from "../deadlines.ts";
import type { Cause } from "./cause.ts";

/** The preconditions of a step besides the claim. */
interface CountedOn {
  /** Base units that must be paid: the award, or what a claim needs. */
  least: bigint;
  /** The time of the next block, in Unix seconds. */
  time: number;
}

/**
 * Says what a reorg has removed of the claim and the payments that a step counts on, and who sends it again while that can still succeed:
 * a claim needs a payment, and both have a deadline. Null when the chain has all of it.
 */
export function explainMissing(
  purchase: Pick<PurchaseRecord, "pay_deadline" | "claim_deadline">,
  { claimHash, paid, closed }: Pick<ChainPurchase, "claimHash" | "paid" | "closed">,
  { least, time }: CountedOn,
): Cause | null {
  const lacksPayment = paid < least;
  const lacksClaim = claimHash === null;
  if (!lacksPayment && !lacksClaim) return null;
  const noClaim = "the chain has no claim of this purchase any more";
  const wrong = !lacksPayment
    ? noClaim
    : lacksClaim
      ? `${noClaim}, and payments of ${paid} in all`
      : missingPayment(String(least), String(paid)).wrong;
  const payment = lacksClaim ? "another payment" : "another";
  if (lacksPayment && time > payableUntil(purchase))
    return {
      wrong: `${wrong}, and the deadline for ${payment} was ${toChainTimestamp(payableUntil(purchase))}`,
      remedy: null,
    };
  if (lacksPayment && closed !== null)
    return { wrong: `${wrong}, and the purchase takes no more payments`, remedy: null };
  if (lacksClaim && time > claimableUntil(purchase))
    return {
      wrong: `${wrong}, and the deadline for another was ${toChainTimestamp(claimableUntil(purchase))}`,
      remedy: null,
    };
  return { wrong, remedy: remedyOf(lacksPayment, lacksClaim) };
}

/** Says that a reorg has removed a payment that an award counts on; both amounts are in base units. */
export function missingPayment(award: string, paid: string): Cause {
  return {
    wrong: `the award is ${award}, and the chain has payments of ${paid} in all, because a reorg has removed one`,
    remedy: remedyOf(true, false),
  };
}

function remedyOf(lacksPayment: boolean, lacksClaim: boolean): string {
  if (!lacksPayment) return "Let the beneficiary send its claim again";
  return lacksClaim
    ? "Let the buyer send the missing payment again and, after it, the beneficiary its claim"
    : "Let the buyer send the missing payment again";
}
