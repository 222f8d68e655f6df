import type { Hex } from "viem";
import { claimCall } from "../../../protocol/call.ts";
import { type Claim, claimTypedData, hashClaim, hashReason } from "../../../protocol/messages/claim.ts";
import { registrarDomain } from "../../../protocol/messages/domain.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import type { components } from "../../../sandbox/client/api-client.ts";
import { signVerdict } from "../../../sandbox/given/actors/reviewer.ts";
import { addEvent, type ModelPurchase, move, noteRelayed, paidOf, recordedAsPaid } from "../model.ts";
import {
  acceptsClaim,
  claimAnswer,
  type DecisionFlaw,
  decisionAnswer,
  dueRefundAnswer,
  refundAnswer,
} from "../rules.ts";
import { accountOf, type Walk } from "../walk.ts";
import { nameOfPurchase } from "./purchases.ts";
import type { ResolvedStep } from "./step.ts";

type Schemas = components["schemas"];

const reason = "It arrived broken.";

/** Has a wallet claim a purchase on the chain. */
async function claim(walk: Walk, step: ResolvedStep, purchase: ModelPurchase): Promise<void> {
  const { model, sandbox } = walk;
  const by = step.mistake === "wallet" ? "stranger" : "beneficiary";
  const paid = paidOf(purchase);
  const amount = {
    all: paid === 0n ? 1n : paid,
    part: paid < 2n ? 1n : paid / 2n,
    over: paid + 1n,
  }[step.amount];
  const { chainId, verifyingContract } = purchase.view.commitment.typed_data.domain;
  const domain = registrarDomain(chainId, verifyingContract);
  const account = accountOf(sandbox, "beneficiary");
  const message: Claim = {
    commitment: purchase.view.commitment.hash,
    beneficiary: account.address,
    requestedAmount: amount,
    reasonHash: hashReason(reason),
  };
  const claimHash = hashClaim(domain, message);
  const signature = await account.signTypedData(claimTypedData(domain, message));
  const succeeds = acceptsClaim(model, purchase, by);
  const late = model.now + 1 > purchase.claimDeadline;
  const { registrar } = sandbox.description.contracts;
  const sent = await walk.send(by, claimCall(registrar, message.commitment, claimHash), {
    title: `The wallet ${by} claims ${amount} of ${nameOfPurchase(walk, purchase)}`,
    succeeds,
  });
  if (purchase.claim?.succeeded === true) return;
  purchase.claim = { ...sent, late, amount, reason, signature, claimHash };
}

/** Files a claim. */
async function fileClaim(walk: Walk, step: ResolvedStep, purchase: ModelPurchase): Promise<void> {
  const { model } = walk;
  const sent = purchase.claim;
  const { id, submitted } = purchase;
  const wrongSigner = step.mistake === "wallet";
  const isSubmitted = submitted.claim && !wrongSigner && step.choice % 2 === 0;
  const body = sent === null || isSubmitted ? {} : claimBody(sent);
  const foreign = wrongSigner && sent !== null ? await signAsStranger(walk, purchase, sent.amount) : {};
  const accepted = await walk.write({
    title: `File the claim of ${nameOfPurchase(walk, purchase)}${wrongSigner ? ", signed by the stranger" : ""}`,
    line: `POST ${walk.program}/purchases/${id}/claims`,
    body: { ...body, ...foreign },
    expected: claimAnswer(model, purchase, sent, wrongSigner),
    mistake: step.mistake,
    fault: step.fault,
  });
  if (accepted === null || sent === null) return;
  const view: Schemas["Claim"] = JSON.parse(accepted.text);
  purchase.status = "claimed";
  purchase.filed = { id: view.id, claimHash: view.claim_hash, requested: sent.amount };
  addEvent(model, "purchase.claimed", id, { claim_id: view.id, claim_hash: view.claim_hash });
}

function claimBody({ hash, amount, signature }: NonNullable<ModelPurchase["claim"]>) {
  return { transaction_hash: hash, requested_amount: amount.toString(), reason, signature };
}

async function signAsStranger({ sandbox }: Walk, { view }: ModelPurchase, requestedAmount: bigint) {
  const { chainId, verifyingContract } = view.commitment.typed_data.domain;
  const message: Claim = {
    commitment: view.commitment.hash,
    beneficiary: accountOf(sandbox, "beneficiary").address,
    requestedAmount,
    reasonHash: hashReason(reason),
  };
  const typedData = claimTypedData(registrarDomain(chainId, verifyingContract), message);
  return { signature: await accountOf(sandbox, "stranger").signTypedData(typedData) };
}

const flaws: readonly Exclude<DecisionFlaw, "none" | "replayed">[] = [
  "above_claim",
  "other_claim",
  "above_claim",
  "other_reviewer",
  "above_claim",
  "denied_with_award",
  "above_claim",
  "changed",
  "after_now",
  "before_claim",
  "after_now",
  "above_claim",
];

/** Records the reviewer's decision on a claim. */
async function decide(walk: Walk, step: ResolvedStep, purchase: ModelPurchase): Promise<void> {
  const { model } = walk;
  const { id, filed, decision } = purchase;
  const replayed = step.mistake === "value" && decision !== null ? decision.body : null;
  const flaw: DecisionFlaw =
    replayed !== null
      ? "replayed"
      : step.mistake === "value"
        ? (flaws[step.choice % flaws.length] ?? "changed")
        : "none";
  const verdict = verdictOf(step, flaw, purchase);
  const body = replayed ?? signDecision(walk, purchase, verdict, flaw);
  // Ed25519 is deterministic: an equal decision in the same second has the same approval.
  const isUsed = model.purchases.some((other) => other.decision?.body.approval === body.approval);
  const accepted = await walk.write({
    title: `Decide the claim of ${nameOfPurchase(walk, purchase)}: ${verdict.outcome}, ${verdict.award}${flaw === "none" ? "" : ` (${flaw})`}`,
    line: `POST ${walk.program}/purchases/${id}/decisions`,
    body: { ...body },
    expected: decisionAnswer(model, purchase, { ...verdict, flaw: isUsed ? "replayed" : flaw }),
    mistake: step.mistake,
    fault: step.fault,
  });
  if (accepted === null || filed === null) return;
  const view: Schemas["Decision"] = JSON.parse(accepted.text);
  purchase.status = verdict.outcome;
  purchase.decision = { id: view.id, award: verdict.award, body };
  addEvent(model, "purchase.decided", id, {
    decision_id: view.id,
    outcome: verdict.outcome,
    award: verdict.award.toString(),
  });
}

function verdictOf(step: ResolvedStep, flaw: DecisionFlaw, purchase: ModelPurchase) {
  const requested = purchase.filed?.requested ?? 1n;
  const reconciled = recordedAsPaid(purchase);
  const most = requested < reconciled ? requested : reconciled;
  if (flaw === "above_claim") return { outcome: "approved", award: most + 1n } as const;
  if (flaw === "denied_with_award") return { outcome: "denied", award: 1n } as const;
  if (step.choice % 4 === 3) return { outcome: "denied", award: 0n } as const;
  const part = most < 2n ? most : most / 2n;
  const award = step.amount === "part" ? part : most;
  return { outcome: "approved", award: award === 0n ? 1n : award } as const;
}

/** Signs a decision; without a claim it is on one that does not exist. */
function signDecision(
  walk: Walk,
  purchase: ModelPurchase,
  { outcome, award }: { outcome: "approved" | "denied"; award: bigint },
  flaw: DecisionFlaw,
): Schemas["RecordDecision"] {
  const { description } = walk.sandbox;
  const none: Hex = `0x${"00".repeat(32)}`;
  const { id, claimHash } = purchase.filed ?? { id: `clm_${"a".repeat(20)}`, claimHash: none };
  const claim = { id: flaw === "other_claim" ? `clm_${"b".repeat(20)}` : id, claim_hash: claimHash };
  const { now } = walk.model;
  const decidedAt = toTimestamp(
    flaw === "before_claim" ? 1_000_000_000 : flaw === "after_now" ? now + 1 : now,
  );
  const verdict = { outcome, award: award.toString(), decidedAt };
  // Signed for another purchase, it is not an approval of this one.
  const view = flaw === "changed" ? { ...purchase.view, id: `pur_${"a".repeat(20)}` } : purchase.view;
  const body = signVerdict(description.reviewers, view, claim, verdict);
  return flaw === "other_reviewer" ? { ...body, reviewer_key_id: "another-key" } : body;
}

/** Starts a refund whose collection is held: it is due, and the next request collects it. */
async function startRefund(walk: Walk, step: ResolvedStep, purchase: ModelPurchase): Promise<void> {
  const { model } = walk;
  const { id, decision, status } = purchase;
  const request = refundRequest(walk, step, purchase);
  const accepted = await walk.write({
    ...request,
    title: `${request.title}, and hold the collection`,
    expected: dueRefundAnswer(model, purchase, step.mistake === "value"),
    holdsCollection: true,
  });
  if (accepted === null || decision === null) return;
  noteRelayed(model, { kind: "collect_refund", purchase: id, status: "accepted" });
  if (status === "refund_due") return;
  purchase.status = "refund_due";
  addEvent(model, "refund.due", id, { purchase_id: id, award: decision.award.toString() });
}

/** Executes a refund. */
export async function refund(walk: Walk, step: ResolvedStep, purchase: ModelPurchase): Promise<void> {
  const { model } = walk;
  const { id, decision } = purchase;
  const merchant = model.merchants[purchase.merchant];
  const accepted = await walk.write({
    ...refundRequest(walk, step, purchase),
    expected: refundAnswer(model, purchase, step.mistake === "value"),
    fault: step.fault,
    relayed: true,
  });
  if (accepted === null || decision === null || merchant === undefined) return;
  const isDue = purchase.status === "refund_due";
  const { award } = decision;
  purchase.status = "refunded";
  purchase.refunded = award;
  merchant.collected += award;
  model.funded[merchant.wallet] = (model.funded[merchant.wallet] ?? 0n) - award;
  move(model, merchant.wallet, "beneficiary", award);
  noteRelayed(model, { kind: "collect_refund", purchase: id, status: "confirmed" });
  const paid = { purchase_id: id, award: award.toString() };
  // The collection takes one block.
  const plain = step.fault === "none";
  if (!isDue) addEvent(model, "refund.due", id, paid, plain ? model.now : null);
  addEvent(model, "refund.collected", id, paid, plain ? model.now + 1 : null);
}

function refundRequest(walk: Walk, { mistake }: ResolvedStep, purchase: ModelPurchase) {
  const isOther = mistake === "value" || purchase.decision === null;
  return {
    title: `Refund ${nameOfPurchase(walk, purchase)}${mistake === "value" ? " by another decision" : ""}`,
    line: `POST ${walk.program}/purchases/${purchase.id}/refunds`,
    body: { decision_id: isOther ? `dec_${"a".repeat(20)}` : (purchase.decision?.id ?? "") },
    mistake,
    // The held collection is simulated again, and has failed (docs/relayer.md).
    refused:
      purchase.status === "refund_due" && !isOther
        ? () => noteRelayed(walk.model, { kind: "collect_refund", purchase: purchase.id, status: "failed" })
        : undefined,
  };
}

/** The steps about the claim and the refund of a purchase. */
export const refundMoves = { claim, fileClaim, decide, startRefund, refund };
