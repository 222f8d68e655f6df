import type { Hex } from "viem";
import { registerCall } from "../../../protocol/call.ts";
import { usdc } from "../../../protocol/values/amount.ts";
import type { WalletName } from "../../../sandbox/chain/genesis/roles.ts";
import type { components } from "../../../sandbox/client/api-client.ts";
import { readCommitment } from "../../../sandbox/wallets/read-commitment.ts";
import { addEvent, type ModelClaim, type ModelMerchant, type ModelPurchase, noteRelayed } from "../model.ts";
import {
  acceptsPurchase,
  activationAnswer,
  claimSubmissionAnswer,
  isSuccess,
  type PurchaseFlaw,
  purchaseAnswer,
  registrationAnswer,
  successAnswer,
} from "../rules.ts";
import { accountOf, type Walk } from "../walk.ts";
import type { ResolvedStep } from "./step.ts";

const flaws: readonly PurchaseFlaw[] = ["unknown_merchant", "zero", "above_cap", "same_party"];

/** The values of the request for a purchase. */
interface PlannedPurchase {
  merchantNumber: number;
  flaw: PurchaseFlaw;
  amount: bigint;
  buyer: WalletName;
}

/** Chooses the terms of the next purchase. */
function planPurchase({ model }: Walk, step: ResolvedStep, merchant: ModelMerchant): PlannedPurchase {
  const merchantNumber = model.merchants.indexOf(merchant);
  const flaw = step.mistake === "value" ? (flaws[step.choice % flaws.length] ?? "zero") : "none";
  const amount = {
    none: BigInt(10 + 5 * (step.choice % 7)) * usdc,
    unknown_merchant: 10n * usdc,
    same_party: 10n * usdc,
    zero: 0n,
    above_cap: merchant.cap + 1n,
  }[flaw];
  return { merchantNumber, flaw, amount, buyer: step.choice % 3 === 2 ? "other_buyer" : "buyer" };
}

/** Creates a purchase of a merchant. */
async function createPurchase(walk: Walk, step: ResolvedStep, merchant: ModelMerchant): Promise<void> {
  const { model, sandbox } = walk;
  const { merchantNumber, flaw, amount, buyer } = planPurchase(walk, step, merchant);
  const party = flaw === "same_party" ? merchant.wallet : buyer;
  const number = model.purchases.length + 1;
  const sent = {
    merchant_id: flaw === "unknown_merchant" ? `mer_${"a".repeat(20)}` : merchant.id,
    buyer: accountOf(sandbox, party).address,
    beneficiary: accountOf(sandbox, "beneficiary").address,
    amount: amount.toString(),
    terms: { item: number },
    reference: `order-${number}`,
  };
  const { now } = model;
  const deadlines = { offer_deadline: now + 3_600, pay_deadline: now + 7_200, claim_deadline: now + 10_800 };
  const accepted = await walk.write({
    title: `Create purchase ${number} of merchant ${merchantNumber + 1} for ${amount}${flaw === "none" ? "" : ` (${flaw})`}`,
    line: `POST ${walk.program}/purchases`,
    body: { ...sent, ...deadlines },
    expected: purchaseAnswer(merchant, { ...sent, deadlines }, flaw),
    mistake: step.mistake,
    fault: step.fault,
  });
  if (accepted === null) return;
  const view: components["schemas"]["Purchase"] = JSON.parse(accepted.text);
  model.purchases.push({
    id: view.id,
    by: walk.id,
    merchant: merchantNumber,
    buyer,
    amount,
    offerDeadline: deadlines.offer_deadline,
    payDeadline: deadlines.pay_deadline,
    claimDeadline: deadlines.claim_deadline,
    sent: { ...sent, deadlines },
    status: "created",
    route: null,
    onChain: null,
    registration: null,
    payments: [],
    failedPayment: null,
    claim: null,
    submitted: { register: false, claim: false },
    filed: null,
    decision: null,
    refunded: 0n,
    view,
  });
  addEvent(model, "purchase.created", view.id, { purchase_id: view.id });
}

/** Has the relayer offer a purchase. */
async function activate(walk: Walk, step: ResolvedStep, purchase: ModelPurchase): Promise<void> {
  const { model } = walk;
  const wrongHash = step.mistake === "value";
  const other: Hex = `0x${"00".repeat(32)}`;
  const expected = activationAnswer(model, purchase, wrongHash);
  const accepted = await walk.write({
    title: `Activate ${nameOfPurchase(walk, purchase)}${wrongHash ? " with another commitment hash" : ""}`,
    line: `POST ${walk.program}/purchases/${purchase.id}/activate`,
    body: { commitment_hash: wrongHash ? other : purchase.view.commitment.hash },
    expected,
    mistake: step.mistake,
    fault: step.fault,
    relayed: true,
  });
  if (accepted === null) return;
  purchase.status = "active";
  purchase.route = "registrar_offer";
  purchase.onChain = "registrar_offer";
  noteRelayed(model, { kind: "offer", purchase: purchase.id, status: "confirmed" });
  // The offer takes one block.
  const at = step.fault === "none" ? model.now + 1 : null;
  addEvent(model, "purchase.activated", purchase.id, {}, at);
}

/** Has a wallet register a purchase on the chain. */
async function register(walk: Walk, step: ResolvedStep, purchase: ModelPurchase): Promise<void> {
  const { model, sandbox } = walk;
  const wallet = model.merchants[purchase.merchant]?.wallet ?? "merchant";
  const by = step.mistake === "wallet" ? "stranger" : wallet;
  const succeeds = by === wallet && acceptsPurchase(model, purchase);
  const late = model.now + 1 > purchase.offerDeadline;
  const { registrar } = sandbox.description.contracts;
  const call = registerCall(registrar, readCommitment(purchase.view), purchase.view.commitment.signature);
  const sent = await walk.send(by, call, {
    title: `The wallet ${by} registers ${nameOfPurchase(walk, purchase)}`,
    succeeds,
  });
  if (purchase.registration?.succeeded !== true) purchase.registration = { ...sent, late };
  if (succeeds) purchase.onChain = "merchant_direct";
}

/** Confirms the registration of a purchase. */
async function confirmRegistration(walk: Walk, step: ResolvedStep, purchase: ModelPurchase): Promise<void> {
  const { model } = walk;
  const { registration, id, submitted } = purchase;
  const leavesOut = registration === null || (submitted.register && step.choice % 2 === 0);
  const accepted = await walk.write({
    title: `Confirm the registration of ${nameOfPurchase(walk, purchase)}`,
    line: `POST ${walk.program}/purchases/${id}/registration`,
    body: leavesOut ? {} : { transaction_hash: registration.hash },
    expected: registrationAnswer(model, purchase, registration),
    mistake: step.mistake,
    fault: step.fault,
  });
  if (accepted === null) return;
  purchase.status = "active";
  purchase.route = "merchant_direct";
  addEvent(model, "purchase.registered", id, {
    purchase_id: id,
    transaction_hash: registration?.hash ?? "",
  });
}

/** Submits the registration or the claim of a purchase over the wallet route. */
async function submit(walk: Walk, step: ResolvedStep, purchase: ModelPurchase): Promise<void> {
  const { model } = walk;
  const { id, registration, claim, submitted } = purchase;
  const action = purchase.status === "created" ? "register" : "claim";
  const isClaim = action === "claim";
  const sent = isClaim ? claim : registration;
  if (sent === null) return;
  const expected = isClaim
    ? claimSubmissionAnswer(model, purchase, claim)
    : registrationAnswer(model, purchase, registration);
  const said = isClaim && claim !== null ? claimFields(claim) : {};
  const accepted = await walk.write({
    title: `Submit the ${isClaim ? "claim" : "registration"} of ${nameOfPurchase(walk, purchase)} over the wallet route`,
    line: `POST /wallet/${walk.programId}/purchase/${id}`,
    body: { action, transaction_hash: sent.hash, ...said },
    expected:
      submitted[action] || isSuccess(expected)
        ? successAnswer(200, { submission: { action, transaction_hash: sent.hash } })
        : expected,
    mistake: step.mistake === "key_missing" ? "key_missing" : "none",
    fault: step.fault,
    wallet: true,
  });
  if (accepted === null || submitted[action]) return;
  submitted[action] = true;
  addEvent(model, "wallet.submitted", id);
}

function claimFields({ signature, amount, reason }: ModelClaim) {
  return { signature, amount: amount.toString(), reason };
}

/** The name of a purchase in titles. */
export function nameOfPurchase(walk: Walk, purchase: ModelPurchase): string {
  return `purchase ${walk.model.purchases.indexOf(purchase) + 1}`;
}

/** The steps about a purchase. */
export const purchaseMoves = { activate, register, confirmRegistration, submit };

/** The step about a merchant that creates a purchase. */
export const purchaseCreation = { createPurchase };
