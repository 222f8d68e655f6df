import { toTimestamp } from "../../protocol/values/time.ts";
import { Problem } from "../errors/problem.ts";
import type { PurchaseRecord } from "../store/records.ts";

// The last second in which a block can have each step of a purchase, in Unix seconds.

/** Returns the last second in which a purchase can be offered or registered. */
export function offerableUntil({ offer_deadline }: Pick<PurchaseRecord, "offer_deadline">): number {
  return offer_deadline;
}

/** Returns the last second in which a purchase can be paid. */
export function payableUntil({ pay_deadline }: Pick<PurchaseRecord, "pay_deadline">): number {
  return pay_deadline;
}

/** Returns the last second in which a claim can be made. */
export function claimableUntil({ claim_deadline }: Pick<PurchaseRecord, "claim_deadline">): number {
  return claim_deadline;
}

/**
 * Refuses a step that is not on the chain, and that no block can have in time any more.
 *
 * @param deadline - the last second of the step, in Unix seconds.
 * @param nextTime - the time of the next block.
 * @throws Problem with the code of a late step.
 */
export function assertInTime(
  code: "deadline_passed" | "claim_window_closed",
  step: "offer" | "registration" | "enrollment" | "claim",
  deadline: number,
  nextTime: number,
): void {
  if (nextTime <= deadline) return;
  throw new Problem(
    code,
    `The ${step} was due by ${toTimestamp(deadline)}; the time of the next block is ${toTimestamp(nextTime)}.`,
  );
}
