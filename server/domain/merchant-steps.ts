import { Problem } from "../errors/problem.ts";
import type { MerchantRecord } from "../store/records.ts";

/** Says why a merchant's enrollment cannot be confirmed, as far as its record tells; null when it can. */
export function whyNotPending({ status }: MerchantRecord): string | null {
  return status === "pending" ? null : "The merchant is enrolled already.";
}

/**
 * Asks whether a merchant's enrollment can still be confirmed.
 *
 * @throws Problem state_conflict: an enrolled merchant takes no operation of its own any more.
 */
export function assertPending(merchant: MerchantRecord): void {
  const whyNot = whyNotPending(merchant);
  if (whyNot === null) return;
  throw new Problem("state_conflict", whyNot, { members: { current_state: merchant.status, allowed: [] } });
}
