import type { Hex } from "viem";
import type { z } from "zod";
import { type Decision, signDecision } from "../../protocol/decision.ts";
import type { TestWallet } from "../../sandbox/service/wallets/test-wallet.ts";
import { capabilitiesSchema } from "../../server/schemas/capabilities.ts";
import { claimSchema } from "../../server/schemas/claim.ts";
import { decisionSchema } from "../../server/schemas/decision.ts";
import { deliveryReceiptSchema, notificationDeliverySchema } from "../../server/schemas/notification.ts";
import { pageSchema } from "../../server/schemas/pagination.ts";
import { activationSchema, purchaseSchema, reconciliationSchema } from "../../server/schemas/purchase.ts";
import { refundExecutionSchema } from "../../server/schemas/refund.ts";
import { transactionsSchema } from "../../server/schemas/transactions.ts";
import type { DemoMerchant } from "./merchant-steps.ts";
import type { Session } from "./session.ts";

/** A purchase as the API shows it. */
export type DemoPurchase = z.infer<typeof purchaseSchema>;

/** A purchase is committed to. */
export async function createPurchase(
  session: Session,
  merchant: DemoMerchant,
  intent: string,
  amount: string,
): Promise<DemoPurchase> {
  const { buyer, beneficiary } = session.actors;
  return await session.call({
    title: "Purchase: a signed, immutable commitment",
    method: "POST",
    path: "/purchases",
    intent,
    body: {
      merchant_id: merchant.id,
      buyer: buyer.address,
      beneficiary: beneficiary.address,
      amount,
      terms: { title: "A course on settlement", sku: "course-42" },
    },
    answer: purchaseSchema,
    tell: ({ id, status, commitment }) => `${id} is ${status}; commitment ${commitment.hash}`,
  });
}

/** The bounded registrar offers it. */
export async function activate(
  session: Session,
  purchase: DemoPurchase,
  intent: string,
): Promise<DemoPurchase> {
  const { purchase: active } = await session.call({
    title: "Activate: the bounded registrar offers exactly this purchase",
    method: "POST",
    path: `/purchases/${purchase.id}/activate`,
    intent,
    body: { commitment_hash: purchase.commitment.hash },
    answer: activationSchema,
    tell: ({ purchase: shown, operation }) =>
      `${shown.status} by ${shown.route}; ${operation.operation_id} is ${operation.status}: ${operation.hash}`,
  });
  return active;
}

/** The merchant's own wallet registers it instead; no registrar takes part. */
export async function register(
  session: Session,
  purchase: DemoPurchase,
  intent: string,
): Promise<DemoPurchase> {
  const { merchant } = session.actors;
  const title = "Register on chain: the merchant's own wallet, no registrar";
  const { transaction_hash } = session.sent(title, merchant, await merchant.register(purchase));
  return await session.call({
    title: "Registration: the direct route is confirmed",
    method: "POST",
    path: `/purchases/${purchase.id}/registration`,
    intent,
    body: { transaction_hash },
    answer: purchaseSchema,
    tell: ({ status, route }) => `${status} by ${route}`,
  });
}

/** A wallet lets the registrar contract draw an amount. */
export async function approve(
  session: Session,
  wallet: TestWallet,
  purchase: DemoPurchase,
  amount: bigint,
): Promise<void> {
  const title = "Approve: the wallet lets the registrar contract draw the amount";
  session.sent(title, wallet, await wallet.approve(purchase, amount));
}

/** The buyer pays a part. */
export async function pay(session: Session, purchase: DemoPurchase, amount: bigint): Promise<Hex> {
  const { buyer } = session.actors;
  const title = "Pay: from the buyer to the merchant in one call";
  return session.sent(title, buyer, await buyer.pay(purchase, amount)).transaction_hash;
}

/** The API records the payments that the chain holds. */
export async function reconcile(session: Session, purchase: DemoPurchase, intent: string, hashes?: Hex[]) {
  return await session.call({
    title: "Reconcile: every receipt of the payments, all or none",
    method: "POST",
    path: `/purchases/${purchase.id}/reconcile`,
    intent,
    body: hashes === undefined ? {} : { transaction_hashes: hashes },
    answer: reconciliationSchema,
    tell: ({ applied, purchase: shown }) =>
      `${applied.length} applied; paid ${shown.figures.paid}, outstanding ${shown.figures.outstanding}`,
  });
}

/** The purchase as it stands now. */
export async function readPurchase(session: Session, purchase: DemoPurchase): Promise<DemoPurchase> {
  return await session.call({
    title: "Read: fresh figures at one block",
    method: "GET",
    path: `/purchases/${purchase.id}`,
    answer: purchaseSchema,
    tell: ({ status, payment_status, figures }) =>
      `${status}, ${payment_status}: approved ${figures.approved}, paid ${figures.paid}, refunded ${figures.refunded}`,
  });
}

/** The beneficiary claims, on chain and in the API. */
export async function claim(session: Session, purchase: DemoPurchase, amount: bigint) {
  const { beneficiary } = session.actors;
  const claimed = await beneficiary.claim(purchase, { amount, reason: "The course was cancelled." });
  const { body } = session.sent("Claim on chain: the beneficiary, in time", beneficiary, claimed);
  return await session.call({
    title: "Claim: the beneficiary's signature and the transaction are verified",
    method: "POST",
    path: `/purchases/${purchase.id}/claims`,
    intent: "claim",
    body,
    answer: claimSchema,
    tell: ({ id, requested_amount }) => `${id} over ${requested_amount}`,
  });
}

/** The designated reviewer decides with its Ed25519 key. */
export async function decide(
  session: Session,
  purchase: DemoPurchase,
  filed: z.infer<typeof claimSchema>,
  award: bigint,
) {
  const { reviewer, api, program } = session.actors;
  const { now } = await api.call(capabilitiesSchema, "GET", "/v1/routing/capabilities");
  const statement: Decision = {
    award: award.toString(),
    chain_id: purchase.commitment.typed_data.domain.chainId,
    claim_hash: filed.claim_hash,
    claim_id: filed.id,
    commitment_hash: purchase.commitment.hash,
    decided_at: now,
    outcome: "approved",
    program,
    purchase: purchase.id,
    reviewer_key_id: reviewer.keyId,
  };
  const { claim_id, outcome, decided_at, reviewer_key_id } = statement;
  const approval = signDecision(reviewer.privateKey, statement);
  return await session.call({
    title: "Decision: the designated reviewer's Ed25519 approval",
    method: "POST",
    path: `/purchases/${purchase.id}/decisions`,
    intent: "decision",
    body: { claim_id, outcome, award: statement.award, decided_at, reviewer_key_id, approval },
    answer: decisionSchema,
    tell: (decision) => `${decision.id}: ${decision.outcome}, award ${decision.award}`,
  });
}

/** The award is collected from the merchant's wallet. */
export async function refund(
  session: Session,
  purchase: DemoPurchase,
  decision: z.infer<typeof decisionSchema>,
) {
  return await session.call({
    title: "Refund: collected from the accepted funding source",
    method: "POST",
    path: `/purchases/${purchase.id}/refunds`,
    intent: "refund",
    body: { decision_id: decision.id },
    answer: refundExecutionSchema,
    tell: ({ refund: shown, operation }) =>
      `${shown.id} is ${shown.status}: ${shown.award} by ${operation.hash}`,
  });
}

/** An event goes to the pinned receiver. */
export async function notify(session: Session, eventId: string) {
  return await session.call({
    title: "Notification: signed and delivered to the pinned receiver",
    method: "POST",
    path: "/notifications",
    intent: "notification",
    body: { event_id: eventId },
    answer: notificationDeliverySchema,
    tell: ({ notification, receipt }) =>
      `${notification.id} is ${notification.status} after ${notification.attempts.length} attempt; receipt ${receipt?.id ?? "none"}`,
  });
}

/** The receipts that the receiver signed. */
export async function receipts(session: Session) {
  return await session.call({
    title: "Receipts: one per event, signed",
    method: "GET",
    path: "/notification-receipts",
    answer: pageSchema(deliveryReceiptSchema, "DeliveryReceipts"),
    tell: ({ data }) => data.map(({ id, event_id }) => `${id} for ${event_id}`).join(", "),
  });
}

/** The relayer's operations and the gas budget. */
export async function transactions(session: Session) {
  return await session.call({
    title: "Transactions: the relayer's operations and the gas budget",
    method: "GET",
    path: "/transactions",
    answer: transactionsSchema,
    tell: ({ data, gas_budget }) =>
      `${data.length} operations; spent ${gas_budget.spent_wei} wei, ${gas_budget.available_wei} of ${gas_budget.limit_wei} available`,
  });
}
