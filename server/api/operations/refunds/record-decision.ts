import type { Hex } from "viem";
import { type Decision, hashDecision, verifyDecision } from "../../../../protocol/signatures/decision.ts";
import { fromTimestamp, toTimestamp } from "../../../../protocol/values/time.ts";
import type { ChainPurchase } from "../../../chain/chain-reader.ts";
import { expectClaim } from "../../../domain/binding/expectations.ts";
import { RefusedTransaction } from "../../../domain/binding/refused-transaction.ts";
import { requireBound } from "../../../domain/binding/require-bound.ts";
import { assertPaymentsOnChain } from "../../../domain/payments/assert-payments-on-chain.ts";
import { reconciledOf } from "../../../domain/payments/payment-receipts.ts";
import { assertStep } from "../../../domain/purchases/purchase-steps.ts";
import { findParts, findPurchase, readOnChain } from "../../../domain/records/find.ts";
import { nextId } from "../../../domain/records/next-id.ts";
import { updatePurchase } from "../../../domain/records/update-purchase.ts";
import { assertFiledClaim } from "../../../domain/refunds/claims.ts";
import { explainMissing } from "../../../domain/refunds/missing-on-chain.ts";
import { sayRemedy, sayWrong } from "../../../domain/reverts/cause.ts";
import { submissionKey } from "../../../domain/wallets/submissions.ts";
import { defineOperation, type Outcome } from "../../../http/operation.ts";
import type { Services } from "../../../services.ts";
import type { ClaimRecord, DecisionRecord, PurchaseRecord } from "../../../store/records.ts";
import type { Stored } from "../../../store/store.ts";
import { Problem } from "../../errors/problem.ts";
import { decisionSchema, type RecordDecision, recordDecisionBody } from "../../schemas/refunds.ts";
import { viewDecision } from "../../views/refunds.ts";

/** `POST …/decisions`: the Ed25519 approval of the program's reviewer. */
export const recordDecision = defineOperation({
  number: 12,
  id: "recordDecision",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases/{id}/decisions",
  summary: "Record a decision",
  description:
    "Verifies the Ed25519 signature of the program's reviewer over the decision and records the outcome of the claim. " +
    "The claim and its payments must still be on the chain.",
  authorization: { kind: "scope", scope: "decisions:write" },
  idempotent: true,
  effect: false,
  body: recordDecisionBody,
  responses: { 201: { description: "The decision.", schema: decisionSchema } },
  errors: [
    "not_found",
    "state_conflict",
    "reviewer_not_designated",
    "signature_invalid",
    "approval_replayed",
    "timestamp_out_of_tolerance",
    "transaction_not_found",
    "transaction_unconfirmed",
    "transaction_reverted",
    "binding_mismatch",
    "claim_window_closed",
  ],
  events: ["purchase.decided"],
  async handle({ services, program, id, body, now }) {
    const { store, keyRing } = services;
    const { stored, purchase } = await findPurchase(services, program.id, id);
    const used = await store.get("used_transactions", `approval/${body.approval}`);
    if (used !== undefined)
      throw new Problem("approval_replayed", `This approval is already in ${used.value.subject}.`);
    await assertStep(purchase, "decisions", services);
    const { claim } = await findParts(services, purchase);
    if (claim === null || claim.id !== body.claim_id)
      throw new Problem("not_found", `There is no claim ${body.claim_id} of ${id}.`);
    const reviewer = await keyRing.reviewer(program.id);
    if (reviewer.keyId !== body.reviewer_key_id)
      throw new Problem(
        "reviewer_not_designated",
        `${body.reviewer_key_id} is not the designated reviewer of ${program.id}.`,
      );
    assertAward(body, claim, purchase);
    assertTimely(body.decided_at, claim, now);
    const statement = statementOf(body, claim, purchase, services);
    if (!verifyDecision(reviewer.publicKey, statement, body.approval)) throw notApproved(statement);
    await assertStillOnChain(claim, purchase, services);
    const decisionId = await nextId("dec", services);
    return decide(stored, { id: decisionId, statement, approval: body.approval, created_at: now });
  },
});

/** Returns the statement that the reviewer signs. */
function statementOf(
  body: RecordDecision,
  claim: ClaimRecord,
  purchase: PurchaseRecord,
  { deployment }: Services,
): Decision {
  return {
    award: body.award,
    chain_id: deployment.chainId,
    claim_hash: claim.claim_hash,
    claim_id: claim.id,
    commitment_hash: purchase.commitment_hash,
    decided_at: body.decided_at,
    outcome: body.outcome,
    program: purchase.program,
    purchase: purchase.id,
    reviewer_key_id: body.reviewer_key_id,
  };
}

/** Writes a decision, its outcome in the purchase, and that its approval is used. */
function decide(
  stored: Stored<PurchaseRecord>,
  made: Pick<DecisionRecord, "id" | "statement" | "approval" | "created_at">,
): Outcome {
  const { id: decision_id, statement, approval } = made;
  const { outcome, award } = statement;
  const decision_hash = hashDecision(statement);
  return {
    kind: "write",
    status: 201,
    event: { type: "purchase.decided", data: { purchase_id: stored.key, decision_id, outcome, award } },
    write: (event_id) => {
      const record: DecisionRecord = { ...made, decision_hash, event_id };
      const decided: PurchaseRecord = { ...stored.value, status: outcome, decision_id, event_id };
      return {
        changes: [
          { kind: "insert", collection: "decisions", key: decision_id, value: record },
          updatePurchase(stored, decided),
          {
            kind: "insert",
            collection: "used_transactions",
            key: `approval/${approval}`,
            value: { step: "decision", subject: decision_id },
          },
        ],
        body: viewDecision(record),
      };
    },
  };
}

function notApproved(statement: Decision): Problem {
  return new Problem(
    "signature_invalid",
    "The approval does not verify over the decision bytes with the reviewer's key.",
    {
      errors: [{ pointer: "/approval", code: "signature", detail: "must sign exactly this decision" }],
      members: { signed_statement: { ...statement } },
    },
  );
}

function assertAward(
  body: Pick<RecordDecision, "outcome" | "award">,
  claim: ClaimRecord,
  purchase: PurchaseRecord,
): void {
  const paid = reconciledOf(purchase);
  const award = BigInt(body.award);
  const requested = BigInt(claim.requested_amount);
  const most = requested < paid ? requested : paid;
  const refuse = (code: string, detail: string) =>
    new Problem("validation_failed", `/award ${detail}`, { errors: [{ pointer: "/award", code, detail }] });
  if (body.outcome === "denied" && award !== 0n)
    throw refuse("not_zero", "must be 0 when the claim is denied");
  if (body.outcome === "approved" && award === 0n)
    throw refuse("zero", "must be above 0 when the claim is approved");
  if (award > most) throw refuse("above_claim", `must be at most ${most}, what was claimed and paid`);
}

/** A decision is made after its claim and before it is recorded; sandbox time has whole seconds. */
function assertTimely(decidedAt: string, claim: ClaimRecord, now: number): void {
  const at = fromTimestamp(decidedAt);
  const refuse = (code: string, detail: string) =>
    new Problem("timestamp_out_of_tolerance", `/decided_at ${detail}`, {
      errors: [{ pointer: "/decided_at", code, detail }],
    });
  if (at < claim.created_at)
    throw refuse("before_claim", `must be at least ${toTimestamp(claim.created_at)}, the time of the claim`);
  if (Math.floor(at) > now)
    throw refuse("later_than_now", `must be at most ${toTimestamp(now)}, the time now`);
}

/** Asks whether the chain still has what is decided on: a reorg may have removed the claim or payments since. */
async function assertStillOnChain(
  claim: ClaimRecord,
  purchase: PurchaseRecord,
  services: Services,
): Promise<void> {
  const onChain = await readOnChain(purchase, services);
  assertFiledClaim(claim, onChain, {
    about: `The claim ${claim.id} is`,
    instead: "resolve it outside of this service",
  });
  const hash = await claimTransaction(claim, services);
  const use = { key: hash, step: "claim", subject: purchase.id } as const;
  const expected = expectClaim(purchase, claim.claim_hash, onChain.exists, services);
  try {
    await requireBound(hash, expected, use, services);
  } catch (error) {
    throw error instanceof RefusedTransaction && error.code === "transaction_not_found"
      ? await explainGone(error, purchase, onChain, services)
      : error;
  }
  await assertPaymentsOnChain(purchase, onChain, services);
}

/** Returns the refusal of a claim whose transaction the chain no longer knows: the missing transaction, and who can send it again. */
async function explainGone(
  refused: RefusedTransaction,
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  { chain }: Services,
): Promise<Problem> {
  const time = await chain.nextTime();
  const missing = explainMissing(purchase, onChain, { least: 1n, time });
  if (missing === null)
    return refused.because(
      `The chain has the claim by another transaction than ${refused.transactionHash}. ` +
        "Submit that one over the wallet route (claim), then send the identical request again.",
      true,
    );
  const again = "submit it over the wallet route, and send the identical request again";
  const then = sayRemedy(missing, again, "No repeat of this request succeeds.");
  return refused.because(`${sayWrong(missing)} ${then}`, missing.remedy !== null);
}

/** The transaction of a claim: the one that it was filed with or, once a reorg has removed that, the one that it was sent again with. */
async function claimTransaction(
  { program, purchase_id, claim_hash, transaction_hash }: ClaimRecord,
  { chain, store }: Services,
): Promise<Hex> {
  if ((await chain.observe(transaction_hash)).receipt !== null) return transaction_hash;
  const again = await store.get("submissions", submissionKey(program, purchase_id, "claim", claim_hash));
  return again?.value.transaction_hash ?? transaction_hash;
}
