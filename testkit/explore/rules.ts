import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import {
  isClaimed,
  type Model,
  type ModelClaim,
  type ModelMerchant,
  type ModelPurchase,
  paidOf,
  recordedAsPaid,
  type SentByWallet,
} from "./model.ts";

/** The expected answer to a request. */
export interface Expected {
  /** One of these; several only while a fault decides whether a relayed transaction is confirmed yet. */
  status: number[];
  /** The fields that the body must have, if any. */
  body?: Json;
}

/** An expected success. */
export function successAnswer(status: number, body?: Json): Expected {
  return { status: [status], ...(body === undefined ? {} : { body }) };
}

/** An expected refusal, with the code of its problem. */
export function refusalAnswer(
  status: number,
  code: string,
  members: { [name: string]: Json } = {},
): Expected {
  return { status: [status], body: { code, ...members } };
}

/** Tells a success from a refusal. */
export function isSuccess({ status }: Expected): boolean {
  return status.every((one) => one < 300);
}

/** The time of the next block, with which deadlines are compared. */
const nextTime = (model: Model) => model.now + 1;

const merchantOf = (model: Model, purchase: ModelPurchase) => {
  const merchant = model.merchants[purchase.merchant];
  if (merchant === undefined) throw new Error(`The model has no merchant of ${purchase.id}.`);
  return merchant;
};

/** The operations that a purchase takes now (docs/api.md, "When a step is refused"). */
function allowedNow(model: Model, purchase: ModelPurchase): string[] {
  const { status, onChain, offerDeadline, claimDeadline } = purchase;
  switch (status) {
    case "created":
      if (onChain !== null) return [onChain === "merchant_direct" ? "registration" : "activate"];
      return nextTime(model) <= offerDeadline ? ["activate", "registration"] : [];
    case "active": {
      const mayClaim =
        recordedAsPaid(purchase) > 0n && (isClaimed(purchase) || nextTime(model) <= claimDeadline);
      return mayClaim ? ["reconcile", "claims"] : ["reconcile"];
    }
    case "claimed":
      return ["reconcile", "decisions"];
    case "approved":
    case "refund_due":
      return ["reconcile", "refunds"];
    default:
      return ["reconcile"];
  }
}

/** The refusal of a step that is not one of the purchase's state. */
function conflict(model: Model, purchase: ModelPurchase): Expected {
  const allowed = allowedNow(model, purchase);
  return refusalAnswer(409, "state_conflict", { current_state: purchase.status, allowed });
}

/** The refusal of a transaction that the contract has not accepted (docs/binding.md). */
function refusedTransaction(sent: SentByWallet, bound: string, lateCode: string): Expected {
  if (sent.by !== bound) return refusalAnswer(422, "binding_mismatch");
  return sent.late ? refusalAnswer(409, lateCode) : refusalAnswer(422, "transaction_reverted");
}

/** Operation 4: a wallet has at most one enrollment in a program. */
export function merchantAnswer(isEnrolled: boolean): Expected {
  return isEnrolled ? refusalAnswer(422, "validation_failed") : successAnswer(201, { status: "pending" });
}

/** The transaction that enrolls: the contract takes one enrollment of a wallet. */
export function acceptsEnrollment(model: Model, merchant: ModelMerchant, by: string): boolean {
  const { wallet } = merchant;
  return by === wallet && !model.merchants.some((other) => other.wallet === wallet && other.onChain);
}

/** Operation 5. */
export function enrollmentAnswer(merchant: ModelMerchant, wrongSigner: boolean): Expected {
  const { status, enrollment, wallet } = merchant;
  if (status === "enrolled")
    return refusalAnswer(409, "state_conflict", { current_state: "enrolled", allowed: [] });
  if (enrollment === null) return refusalAnswer(422, "validation_failed");
  if (!enrollment.succeeded) return refusedTransaction(enrollment, wallet, "deadline_passed");
  return wrongSigner ? refusalAnswer(422, "signer_mismatch") : successAnswer(200, { status: "enrolled" });
}

/** The mistake in a new purchase, if any. */
export type PurchaseFlaw = "none" | "unknown_merchant" | "zero" | "above_cap" | "same_party";

/** Operation 6. */
export function purchaseAnswer(
  merchant: ModelMerchant,
  sent: ModelPurchase["sent"],
  flaw: PurchaseFlaw,
): Expected {
  if (flaw === "zero") return refusalAnswer(422, "validation_failed");
  if (flaw === "unknown_merchant") return refusalAnswer(404, "not_found");
  if (merchant.status === "pending") return refusalAnswer(409, "merchant_not_enrolled");
  if (flaw !== "none" || BigInt(sent.amount) > merchant.cap - merchant.collected)
    return refusalAnswer(422, "validation_failed");
  return successAnswer(201, { status: "created", route: null, ...sent });
}

/** Whether the contract takes a purchase now, by either route. */
export function acceptsPurchase(model: Model, purchase: ModelPurchase): boolean {
  const { cap, collected } = merchantOf(model, purchase);
  return (
    purchase.onChain === null &&
    nextTime(model) <= purchase.offerDeadline &&
    purchase.amount <= cap - collected
  );
}

/** Operation 8. */
export function activationAnswer(model: Model, purchase: ModelPurchase, wrongHash: boolean): Expected {
  if (purchase.status !== "created") return conflict(model, purchase);
  if (wrongHash) return refusalAnswer(422, "commitment_mismatch");
  if (purchase.onChain === "merchant_direct") return conflict(model, purchase);
  if (nextTime(model) > purchase.offerDeadline) return refusalAnswer(409, "deadline_passed");
  if (!acceptsPurchase(model, purchase)) return refusalAnswer(422, "transaction_reverted");
  return successAnswer(200, {
    purchase: { status: "active", route: "registrar_offer" },
    operation: { kind: "offer", status: "confirmed" },
  });
}

/** Operation 9, and the submission of its transaction over the wallet route. */
export function registrationAnswer(
  model: Model,
  purchase: ModelPurchase,
  sent: SentByWallet | null,
): Expected {
  if (purchase.status !== "created") return conflict(model, purchase);
  if (sent === null)
    return purchase.onChain === null && nextTime(model) > purchase.offerDeadline
      ? refusalAnswer(409, "deadline_passed")
      : refusalAnswer(422, "validation_failed");
  if (!sent.succeeded) return refusedTransaction(sent, merchantOf(model, purchase).wallet, "deadline_passed");
  return successAnswer(200, { status: "active", route: "merchant_direct" });
}

/** Whether the contract takes a payment in the next block but `ahead`. */
export function acceptsPayment(
  model: Model,
  purchase: ModelPurchase,
  payment: { by: string; amount: bigint; ahead: number },
): boolean {
  const { by, amount, ahead } = payment;
  return (
    by === purchase.buyer &&
    purchase.onChain !== null &&
    purchase.refunded === 0n &&
    nextTime(model) + ahead <= purchase.payDeadline &&
    amount > 0n &&
    amount <= purchase.amount - paidOf(purchase)
  );
}

/** The payments that a reconciliation names: none, which means all, or one transaction. */
export type Reconciled =
  | { kind: "all" }
  | { kind: "payment"; hash: string }
  | { kind: "failed"; sent: SentByWallet }
  | { kind: "foreign" }
  | { kind: "unknown" };

/** Operation 10. */
export function reconciliationAnswer(model: Model, purchase: ModelPurchase, named: Reconciled): Expected {
  if (purchase.status === "created") return conflict(model, purchase);
  switch (named.kind) {
    case "unknown":
      return refusalAnswer(409, "transaction_not_found");
    case "foreign":
      return refusalAnswer(422, "binding_mismatch");
    case "failed":
      return refusedTransaction(named.sent, purchase.buyer, "deadline_passed");
    default: {
      const about = purchase.payments.filter(({ hash }) => named.kind === "all" || named.hash === hash);
      const shown = (reconciled: boolean) =>
        about
          .filter((payment) => payment.reconciled === reconciled)
          .map(({ hash, amount }) => ({ transaction_hash: hash, amount: amount.toString() }));
      const recorded = about.filter(({ reconciled }) => !reconciled);
      const total = recorded.reduce((sum, { amount }) => sum + amount, recordedAsPaid(purchase));
      return successAnswer(200, {
        purchase: { status: purchase.status, figures: { reconciled: total.toString() } },
        applied: shown(false),
        already_reconciled: shown(true),
        reverted: [],
        affected_purchases: [purchase.id],
      });
    }
  }
}

/** Whether the contract takes a claim in the next block. */
export function acceptsClaim(model: Model, purchase: ModelPurchase, by: string): boolean {
  return (
    by === "beneficiary" &&
    purchase.onChain !== null &&
    paidOf(purchase) > 0n &&
    !isClaimed(purchase) &&
    purchase.refunded === 0n &&
    nextTime(model) <= purchase.claimDeadline
  );
}

/** Operation 11, and the submission of its transaction over the wallet route. */
export function claimAnswer(
  model: Model,
  purchase: ModelPurchase,
  claim: ModelClaim | null,
  wrongSigner: boolean,
): Expected {
  const isPaid = recordedAsPaid(purchase) > 0n;
  const isLate = !isClaimed(purchase) && nextTime(model) > purchase.claimDeadline;
  if (purchase.status === "active" && isLate && (claim === null || !isPaid))
    return refusalAnswer(409, "claim_window_closed");
  if (purchase.status !== "active" || !isPaid) return conflict(model, purchase);
  if (claim === null || claim.amount > recordedAsPaid(purchase))
    return refusalAnswer(422, "validation_failed");
  if (wrongSigner) return refusalAnswer(422, "signer_mismatch");
  if (!claim.succeeded) return refusedTransaction(claim, "beneficiary", "claim_window_closed");
  return successAnswer(201, { requested_amount: claim.amount.toString(), claim_hash: claim.claimHash });
}

/** The submission of a claim over the wallet route: the filed claim is accepted until its refund, because it may be sent again after a reorg. */
export function claimSubmissionAnswer(
  model: Model,
  purchase: ModelPurchase,
  claim: ModelClaim | null,
): Expected {
  const { status, filed } = purchase;
  const counts = status === "claimed" || status === "approved" || status === "refund_due";
  if (counts && claim !== null && filed?.claimHash === claim.claimHash) return successAnswer(200);
  return claimAnswer(model, purchase, claim, false);
}

/** The mistake in a decision, if any. */
export type DecisionFlaw =
  | "none"
  | "replayed"
  | "other_claim"
  | "other_reviewer"
  | "above_claim"
  | "denied_with_award"
  | "changed"
  | "before_claim"
  | "after_now";

const decisionRefusals: { readonly [F in Exclude<DecisionFlaw, "none">]: Expected } = {
  replayed: refusalAnswer(409, "approval_replayed"),
  other_claim: refusalAnswer(404, "not_found"),
  other_reviewer: refusalAnswer(403, "reviewer_not_designated"),
  above_claim: refusalAnswer(422, "validation_failed"),
  denied_with_award: refusalAnswer(422, "validation_failed"),
  changed: refusalAnswer(422, "signature_invalid"),
  before_claim: refusalAnswer(422, "timestamp_out_of_tolerance"),
  after_now: refusalAnswer(422, "timestamp_out_of_tolerance"),
};

/** Operation 12. */
export function decisionAnswer(
  model: Model,
  purchase: ModelPurchase,
  decision: { outcome: "approved" | "denied"; award: bigint; flaw: DecisionFlaw },
): Expected {
  const { outcome, award, flaw } = decision;
  if (flaw === "denied_with_award") return decisionRefusals.denied_with_award;
  if (flaw === "replayed") return decisionRefusals.replayed;
  if (purchase.status !== "claimed") return conflict(model, purchase);
  return flaw === "none" ? successAnswer(201, { outcome, award: award.toString() }) : decisionRefusals[flaw];
}

/** Operation 13. */
export function refundAnswer(model: Model, purchase: ModelPurchase, wrongDecision: boolean): Expected {
  const { status, decision } = purchase;
  if ((status !== "approved" && status !== "refund_due") || decision === null)
    return conflict(model, purchase);
  if (wrongDecision) return refusalAnswer(404, "not_found");
  const { wallet, cap, collected } = merchantOf(model, purchase);
  const { award } = decision;
  if ((model.funded[wallet] ?? 0n) < award || cap - collected < award)
    return refusalAnswer(409, "funding_source_insufficient");
  return successAnswer(201, {
    refund: { status: "collected", award: award.toString() },
    operation: { kind: "collect_refund", status: "confirmed" },
  });
}

/** Operation 13, when the collection is held before it has a nonce. */
export function dueRefundAnswer(model: Model, purchase: ModelPurchase, wrongDecision: boolean): Expected {
  const expected = refundAnswer(model, purchase, wrongDecision);
  if (!isSuccess(expected)) return expected;
  return successAnswer(202, {
    refund: { status: "due", award: purchase.decision?.award.toString() ?? null, transaction_hash: null },
    operation: { kind: "collect_refund", status: "accepted", nonce: null },
  });
}

/** Operation 7: what a read of a purchase must say. */
export function readAnswer(model: Model, purchase: ModelPurchase): Expected {
  const { status, route, amount, payments, filed, decision, refunded } = purchase;
  const paid = paidOf(purchase);
  const next = nextTime(model);
  const expired =
    (purchase.onChain === null && next > purchase.offerDeadline) ||
    (paid === 0n && next > purchase.payDeadline);
  return successAnswer(200, {
    ...purchase.sent,
    status,
    route,
    payment_status: paid === 0n ? "unpaid" : paid < amount ? "partially_paid" : "paid",
    expired,
    withdrawn: false,
    figures: {
      amount: amount.toString(),
      approved: (model.approved[purchase.buyer] ?? 0n).toString(),
      paid: paid.toString(),
      outstanding: (amount - paid).toString(),
      refunded: refunded.toString(),
      reconciled: recordedAsPaid(purchase).toString(),
    },
    receipts: payments.map((payment) => ({
      transaction_hash: payment.hash,
      amount: payment.amount.toString(),
      ...(payment.reconciled ? {} : { reconciled_at: null }),
    })),
    claim: filed && { id: filed.id, requested_amount: filed.requested.toString() },
    decision: decision && { id: decision.id, award: decision.award.toString() },
    refund: viewRefund(purchase),
  });
}

function viewRefund({ status, decision, refunded }: ModelPurchase): Json {
  if (status === "refund_due") return { status: "due", award: decision?.award.toString() ?? null };
  return refunded === 0n ? null : { status: "collected", award: refunded.toString() };
}

/** The greatest number of attempts of a delivery (docs/notifications.md). */
const mostAttempts = 5;

/** Operation 14, when the next deliveries fail: after a 410 there is no further attempt. */
export function deliveryAnswer(failures: number, code: number): Json {
  const isExhausted = code === 410 ? failures > 0 : failures >= mostAttempts;
  const made = code === 410 && failures > 0 ? 1 : Math.min(failures + 1, mostAttempts);
  const attempts = Array.from({ length: made }, (_, index) => ({ number: index + 1 }));
  return { status: isExhausted ? "exhausted" : "delivered", attempts };
}

/** Returns the expected page of the outbox, the newest events first. */
export function outboxAnswer(model: Model, most: number): Expected {
  const newest = model.events.toReversed().slice(0, most);
  return successAnswer(200, {
    data: newest.map(({ type, subject, data, delivery, at }) => ({
      type,
      subject,
      delivery,
      body: { type, data, ...(at === null ? {} : { created_at: toTimestamp(at) }) },
    })),
  });
}
