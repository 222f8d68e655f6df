/** The states of a merchant that can be given, each of which includes those before it. */
export const merchantStates = ["pending", "enrolled", "funded"] as const;

/**
 * A state of a merchant:
 *
 * - `pending`: its funding is authorized, and its wallet has not enrolled.
 * - `enrolled`: its wallet has enrolled on chain, and the API has confirmed that.
 * - `funded`: enrolled, and its wallet lets the funding source draw the whole cap.
 */
export type MerchantState = (typeof merchantStates)[number];

/** The states of a purchase that can be given, in the order in which a purchase passes them. */
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
 * - `created`: its commitment is signed, and nothing of it is on chain.
 * - `active`: it is on chain by its route, and unpaid.
 * - `partially_paid`: the chain has a payment of a part, which is not reconciled.
 * - `paid`: the chain has a payment of the whole amount, which is not reconciled.
 * - `reconciled`: the API has recorded the payment.
 * - `claimed`: the beneficiary has claimed, on chain and in the API.
 * - `approved`: the reviewer has approved an award, and no refund has begun.
 * - `denied`: the reviewer has denied the claim, which ends the purchase.
 * - `refund_due`: the refund has begun, and its collection is not on chain; the next refund request collects it.
 * - `refunded`: the award is collected from the merchant's wallet.
 * - `expired`: it is active, unpaid, and past its payment deadline.
 */
export type PurchaseState = (typeof purchaseStates)[number];

/** How a given purchase comes on chain: the relayer offers it, or the merchant's wallet registers it. */
export const routes = ["registrar_offer", "merchant_direct"] as const;

/** How a given purchase comes on chain. */
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
