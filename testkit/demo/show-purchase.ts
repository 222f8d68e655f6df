import type { Hex } from "viem";
import { type components, createApiClient, unwrap } from "../../sandbox/client/api-client.ts";
import { signVerdict } from "../../sandbox/given/actors/reviewer.ts";
import type { TestWallet } from "../../sandbox/wallets/test-wallet.ts";
import type { Session } from "./session.ts";
import type { DemoMerchant } from "./show-merchant.ts";

type Schemas = components["schemas"];

/** A purchase as the API answers it. */
export type DemoPurchase = Schemas["Purchase"];

/** A purchase is committed to. */
async function createPurchase(
  session: Session,
  merchant: DemoMerchant,
  intent: string,
  amount: string,
): Promise<DemoPurchase> {
  const { buyer, beneficiary } = session.actors;
  return session.report(
    "Create the purchase: the program's signer signs its commitment",
    await session.api.POST("/v1/routing/programs/{program}/purchases", {
      params: session.write(intent),
      body: {
        merchant_id: merchant.id,
        buyer: buyer.address,
        beneficiary: beneficiary.address,
        amount,
        terms: { title: "A course on settlement", sku: "course-42" },
      },
    }),
    ({ id, status, commitment }) => `${id} is ${status}; commitment ${commitment.hash}`,
  );
}

/** The program operator offers it. */
async function activate(session: Session, purchase: DemoPurchase, intent: string): Promise<DemoPurchase> {
  const { purchase: active } = session.report(
    "Activate the purchase: the relayer offers it on the chain",
    await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
      params: session.write(intent, purchase.id),
      body: { commitment_hash: purchase.commitment.hash },
    }),
    ({ purchase: view, operation }) =>
      `${view.status} by ${view.route}; ${operation.operation_id} is ${operation.status}: ${operation.hash}`,
  );
  return active;
}

/** The merchant's own wallet registers it instead; the program operator takes no part. */
async function register(session: Session, purchase: DemoPurchase, intent: string): Promise<DemoPurchase> {
  const { merchant } = session.actors;
  const title = "The merchant's wallet registers the purchase on the chain, without the relayer";
  const { transaction_hash } = session.sent(title, merchant, await merchant.register(purchase));
  return session.report(
    "Confirm the registration with its transaction",
    await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/registration", {
      params: session.write(intent, purchase.id),
      body: { transaction_hash },
    }),
    ({ status, route }) => `${status} by ${route}`,
  );
}

/** A wallet lets the registrar contract draw an amount. */
async function approve(
  session: Session,
  wallet: TestWallet,
  purchase: DemoPurchase,
  amount: bigint,
): Promise<void> {
  const whose = wallet === session.actors.stranger ? "A stranger's" : "The buyer's";
  const title = `${whose} wallet approves the registrar contract for the amount`;
  session.sent(title, wallet, await wallet.approve(purchase, amount));
}

/** The buyer pays a part. */
async function pay(session: Session, purchase: DemoPurchase, amount: bigint): Promise<Hex> {
  const { buyer } = session.actors;
  const title = "The buyer's wallet pays the merchant through the registrar contract";
  return session.sent(title, buyer, await buyer.pay(purchase, amount)).transaction_hash;
}

/** The API records the payments that the chain holds. */
async function reconcile(session: Session, purchase: DemoPurchase, intent: string) {
  return session.report(
    "Reconcile the purchase: record its payments that are on the chain",
    await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
      params: session.write(intent, purchase.id),
      body: {},
    }),
    ({ applied, purchase: view }) =>
      `${applied.length} applied; paid ${view.figures.paid}, outstanding ${view.figures.outstanding}`,
  );
}

/** Reads the purchase. */
async function readPurchase(session: Session, purchase: DemoPurchase): Promise<DemoPurchase> {
  return session.report(
    "Read the purchase, with its figures of one block",
    await session.api.GET("/v1/routing/programs/{program}/purchases/{id}", {
      params: { path: { program: session.actors.program, id: purchase.id } },
    }),
    ({ status, payment_status, figures }) =>
      `${status}, ${payment_status}: approved ${figures.approved}, paid ${figures.paid}, refunded ${figures.refunded}`,
  );
}

/** The beneficiary claims, on chain and in the API. */
async function claim(session: Session, purchase: DemoPurchase, amount: bigint) {
  const { beneficiary } = session.actors;
  const claimed = await beneficiary.claim(purchase, { amount, reason: "The course was cancelled." });
  const { body } = session.sent(
    "The beneficiary's wallet claims on the chain, before the deadline",
    beneficiary,
    claimed,
  );
  return session.report(
    "File the claim with its transaction and the beneficiary's signature",
    await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/claims", {
      params: session.write("claim", purchase.id),
      body,
    }),
    ({ id, requested_amount }) => `${id} over ${requested_amount}`,
  );
}

/** The designated reviewer decides with its Ed25519 key. */
async function decide(session: Session, purchase: DemoPurchase, filed: Schemas["Claim"], award: bigint) {
  const { now } = unwrap(await createApiClient(session.actors.apiUrl).GET("/v1/routing/capabilities"));
  const verdict = { award: award.toString(), decidedAt: now };
  const body = signVerdict(session.actors.reviewers, purchase, filed, verdict);
  return session.report(
    "Record the decision that the reviewer has signed",
    await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/decisions", {
      params: session.write("decision", purchase.id),
      body,
    }),
    (decision) => `${decision.id}: ${decision.outcome}, award ${decision.award}`,
  );
}

/** The award is collected from the merchant's wallet. */
async function refund(session: Session, purchase: DemoPurchase, decision: Schemas["Decision"]) {
  return session.report(
    "Execute the refund: the relayer collects it from the merchant's wallet",
    await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", {
      params: session.write("refund", purchase.id),
      body: { decision_id: decision.id },
    }),
    ({ refund: view, operation }) => `${view.id} is ${view.status}: ${view.award} by ${operation.hash}`,
  );
}

/** An event goes to the pinned receiver. */
async function notify(session: Session, eventId: string) {
  return session.report(
    "Deliver the oldest undelivered event to the pinned receiver",
    await session.api.POST("/v1/routing/programs/{program}/notifications", {
      params: session.write("notification"),
      body: { event_id: eventId },
    }),
    ({ notification, receipt }) =>
      `${notification.id} is ${notification.status} after ${notification.attempts.length} attempt; delivery receipt ${receipt?.id ?? "none"}`,
  );
}

/** The delivery receipts that the receiver signed. */
async function receipts(session: Session) {
  return session.report(
    "Read the signed delivery receipts, one for each delivered event",
    await session.api.GET("/v1/routing/programs/{program}/notification-receipts", {
      params: { path: { program: session.actors.program } },
    }),
    ({ data }) => data.map(({ id, event_id }) => `${id} for ${event_id}`).join(", "),
  );
}

/** The relayer's operations and the gas budget. */
async function transactions(session: Session) {
  return session.report(
    "Read the relayer's operations and the gas budget",
    await session.api.GET("/v1/routing/programs/{program}/transactions", {
      params: { path: { program: session.actors.program } },
    }),
    ({ data, gas_budget }) =>
      `${data.length} operations; spent ${gas_budget.spent_wei} wei, ${gas_budget.available_wei} of ${gas_budget.limit_wei} available`,
  );
}

/** The steps of the demo about purchases: each sends one request or transaction, and prints it. */
export const demoSteps = {
  createPurchase,
  activate,
  register,
  approve,
  pay,
  reconcile,
  readPurchase,
  claim,
  decide,
  refund,
  notify,
  receipts,
  transactions,
};
