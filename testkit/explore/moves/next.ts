import { isClaimed, type Model, type ModelPurchase, paidOf, recordedAsPaid } from "../model.ts";
import type { StepKind, WalkStep } from "./step.ts";

/**
 * Which of the open purchases is chosen by a step's `subject`, from the newest one: mostly the same, so that it comes far. A sequence that is
 * shortened can lose older purchases without a change of what its steps are about.
 */
const places = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3];

/** The kind of the next step, and the place of its merchant or purchase. */
export interface Next {
  kind: Exclude<StepKind, "next">;
  place: number;
}

/** Chooses the next legal step of a merchant or a purchase, or a new purchase. */
export function chooseNext(model: Model, { subject, choice }: WalkStep): Next {
  const pending = model.merchants.findIndex(({ status }) => status === "pending");
  const merchant = model.merchants[pending];
  if (merchant !== undefined && choice > 8) {
    const isEnrolled = model.merchants.some((other) => other.wallet === merchant.wallet && other.onChain);
    if (merchant.onChain) return { kind: "confirmEnrollment", place: pending };
    if (!isEnrolled) return { kind: "enroll", place: pending };
  }
  const open = model.purchases.filter((purchase) => nextOf(model, purchase, choice) !== null);
  const purchase = open.at(-1 - (places[subject] ?? 0));
  const kind = purchase && nextOf(model, purchase, choice);
  if (purchase === undefined || kind === undefined || kind === null)
    return { kind: "createPurchase", place: 0 };
  return kind === "fund"
    ? { kind, place: purchase.merchant }
    : { kind, place: model.purchases.indexOf(purchase) };
}

/** The next legal step of a purchase; null when it has none. */
function nextOf(model: Model, purchase: ModelPurchase, choice: number): Next["kind"] | null {
  const time = model.now + 2;
  const { status, onChain, merchant, amount } = purchase;
  const { cap, collected, wallet } = model.merchants[merchant] ?? {
    cap: 0n,
    collected: 0n,
    wallet: "merchant",
  };
  switch (status) {
    case "created":
      if (onChain === "merchant_direct") return "confirmRegistration";
      if (time > purchase.offerDeadline || amount > cap - collected) return null;
      return choice % 3 === 0 ? "register" : "activate";
    case "active":
      return nextOfActive(purchase, time, choice);
    case "claimed":
      return "decide";
    case "approved":
    case "refund_due": {
      const award = purchase.decision?.award ?? 0n;
      if (cap - collected < award) return null;
      if ((model.funded[wallet] ?? 0n) < award) return "fund";
      return status === "approved" && choice % 3 !== 0 ? "startRefund" : "refund";
    }
    default:
      return null;
  }
}

function nextOfActive(purchase: ModelPurchase, time: number, choice: number): Next["kind"] | null {
  const paid = paidOf(purchase);
  const isOpen = time <= purchase.payDeadline && paid < purchase.amount;
  if (paid === 0n) return isOpen ? "pay" : null;
  if (recordedAsPaid(purchase) < paid) return "reconcile";
  if (isClaimed(purchase)) {
    const { claim } = purchase;
    if (claim !== null && claim.amount > paid) return isOpen ? "pay" : null;
    return choice % 4 === 0 && !purchase.submitted.claim ? "submit" : "fileClaim";
  }
  if (isOpen && choice % 4 === 0) return "pay";
  return time <= purchase.claimDeadline ? "claim" : null;
}
