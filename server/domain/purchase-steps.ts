import { Problem } from "../errors/problem.ts";
import type { PurchaseStatus } from "../schemas/purchase.ts";

/** The steps that act on a purchase. */
export type PurchaseStep = "activate" | "registration" | "reconcile" | "claims" | "decisions" | "refunds";

/** Which steps each state allows; payment is not a state, it is read from the chain. */
export const allowedSteps: { readonly [S in PurchaseStatus]: readonly PurchaseStep[] } = {
  created: ["activate", "registration"],
  active: ["reconcile", "claims"],
  claimed: ["reconcile", "decisions"],
  approved: ["reconcile", "refunds"],
  denied: ["reconcile"],
  refund_due: ["reconcile", "refunds"],
  refunded: ["reconcile"],
};

/**
 * Asks whether a purchase's state allows a step.
 *
 * @throws Problem state_conflict with `current_state` and `allowed`.
 */
export function assertStep(status: PurchaseStatus, step: PurchaseStep): void {
  if (!allowedSteps[status].includes(step))
    throw new Problem("state_conflict", `A purchase that is ${status} does not allow ${step}.`, {
      members: { current_state: status, allowed: [...allowedSteps[status]] },
    });
}
