/** The amount of a given purchase by default, in base units. */
export const defaultAmount = "25000000";

/** The states of a given merchant; each includes the previous ones. */
export const merchantStates = ["pending", "enrolled", "funded"] as const;

/**
 * A state of a merchant:
 *
 * - `pending`: its funding is authorized, and its wallet has not enrolled.
 * - `enrolled`: its wallet has enrolled on chain, and the API has confirmed that.
 * - `funded`: enrolled, and its wallet has approved the funding source for the whole cap.
 */
export type MerchantState = (typeof merchantStates)[number];

/** The states of a given purchase, in the order of the lifecycle. */
export const purchaseStates = [
  "created",
  "active",
  "partially_paid",
  "paid",
  "reconciled",
  "claimed",
  "approved",
  "denied",
  "refund_due",
  "refunded",
  "expired",
] as const;

/**
 * A state of a purchase:
 *
 * - `created`: its commitment is signed, and it is not on the chain.
 * - `active`: it is on the chain, and unpaid.
 * - `partially_paid`: a part is paid on the chain, and not reconciled.
 * - `paid`: the whole amount is paid on the chain, and not reconciled.
 * - `reconciled`: the API has recorded the payment.
 * - `claimed`: the beneficiary has claimed, on the chain and in the API.
 * - `approved`: the reviewer has approved an award, and no refund has started.
 * - `denied`: the reviewer has denied the claim, which ends the purchase.
 * - `refund_due`: the refund has started, and its collection is not on the chain; the next refund request collects it.
 * - `refunded`: the award is collected from the merchant's wallet.
 * - `expired`: it is active, unpaid, and past its pay deadline.
 */
export type PurchaseState = (typeof purchaseStates)[number];

/** The routes of a given purchase: the relayer offers it, or the merchant's wallet registers it. */
export const routes = ["registrar_offer", "merchant_direct"] as const;

/** The route of a given purchase. */
export type Route = (typeof routes)[number];

/** The states in which a given purchase has a refund. */
export type RefundState = "refund_due" | "refunded";

/** The states in which a given purchase has a decision. */
export type DecidedState = "approved" | "denied" | RefundState;

const decided: readonly PurchaseState[] = ["approved", "denied", "refund_due", "refunded"];
const claimed: readonly PurchaseState[] = ["claimed", ...decided];
const reconciled: readonly PurchaseState[] = ["reconciled", ...claimed];

/** The states that each option is about. */
export const statesOf: Readonly<
  Record<"route" | "permit" | "paid" | "claimed" | "reason" | "award", readonly PurchaseState[]>
> = {
  route: purchaseStates.filter((state) => state !== "created"),
  permit: ["partially_paid", "paid", ...reconciled],
  paid: ["partially_paid", ...reconciled],
  claimed,
  reason: claimed,
  award: decided,
};
