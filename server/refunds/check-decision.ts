import type { Hex } from "viem";
import { type Decision, verifyDecision } from "../../protocol/signatures/decision.ts";
import { fromTimestamp, toTimestamp } from "../../protocol/values/time.ts";
import { expectClaim } from "../binding/expectations.ts";
import { requireBound } from "../binding/require-bound.ts";
import { sayRemedy, sayWrong } from "../binding/reverts/cause.ts";
import { explainMissing } from "../binding/reverts/removed-by-reorg.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import { assertNoFieldErrors, Problem } from "../errors/problem.ts";
import { RefusedTransaction } from "../errors/refused-transaction.ts";
import type { Services } from "../http/services.ts";
import { assertPaymentsOnChain } from "../payments/assert-payments-on-chain.ts";
import { reconciledOf } from "../purchases/payment-receipts.ts";
import { assertStep } from "../purchases/purchase-steps.ts";
import type { RecordDecision } from "../schemas/refunds.ts";
import { findParts, readOnChain } from "../store/records/find.ts";
import { submissionKey } from "../store/records/submissions.ts";
import type { ClaimRecord, PurchaseRecord } from "../store/records.ts";
import { assertFiledClaim } from "./claims.ts";

/**
 * Checks a decision: that it is the next step of the purchase, its claim, award and time, the reviewer's approval, and that the chain
 * still has what is decided on.
 *
 * @returns the statement that the reviewer has signed.
 * @throws Problem that says what is wrong.
 */
export async function checkDecision(
  purchase: PurchaseRecord,
  body: RecordDecision,
  now: number,
  services: Services,
): Promise<Decision> {
  const { store, keyRing } = services;
  const { id, program } = purchase;
  const used = await store.get("used_transactions", `approval/${body.approval}`);
  if (used !== undefined)
    throw new Problem(
      "approval_replayed",
      `This approval is already in ${used.value.subject}. Let the reviewer sign a new decision.`,
    );
  await assertStep(purchase, "decisions", services);
  const { claim } = await findParts(services, purchase);
  if (claim === null || claim.id !== body.claim_id)
    throw new Problem("not_found", `There is no claim ${body.claim_id} of ${id}.`);
  const reviewer = await keyRing.reviewer(program);
  if (reviewer.keyId !== body.reviewer_key_id)
    throw new Problem(
      "reviewer_not_designated",
      `${body.reviewer_key_id} is not the key of the designated reviewer of ${program}. Sign with ${reviewer.keyId}, and send it as reviewer_key_id.`,
    );
  assertAward(body, claim, purchase);
  await assertTimely(body.decided_at, claim, now, services);
  const statement = statementOf(body, claim, purchase, services);
  if (!verifyDecision(reviewer.publicKey, statement, body.approval)) throw notApproved(statement);
  await assertStillOnChain(claim, purchase, services);
  return statement;
}

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

function notApproved(statement: Decision): Problem {
  return new Problem(
    "signature_invalid",
    "The approval is not a signature of the reviewer's key over this decision. Let the reviewer sign the decision bytes of signed_statement.",
    {
      errors: [{ pointer: "/approval", code: "signature", detail: "must sign exactly this decision" }],
      members: { signed_statement: { ...statement } },
    },
  );
}

function assertAward(
  body: Pick<RecordDecision, "award">,
  claim: ClaimRecord,
  purchase: PurchaseRecord,
): void {
  const paid = reconciledOf(purchase);
  const award = BigInt(body.award);
  const requested = BigInt(claim.requested_amount);
  const most = requested < paid ? requested : paid;
  const detail = `must be at most ${most}, what was claimed and paid`;
  assertNoFieldErrors(award > most ? [{ pointer: "/award", code: "above_claim", detail }] : []);
}

/** A decision is made after its claim and before it is recorded. */
async function assertTimely(
  decidedAt: string,
  claim: ClaimRecord,
  now: number,
  { clock }: Pick<Services, "clock">,
): Promise<void> {
  // Apart, because a number does not hold a whole second and each fraction of it.
  const [, second = "", digits = ""] = /^([^.]*)(\.\d+)?Z$/.exec(decidedAt) ?? [];
  const at = fromTimestamp(`${second}Z`);
  const fraction = Number(digits);
  const refuse = (code: string, detail: string) =>
    new Problem("timestamp_out_of_tolerance", `/decided_at ${detail}`, {
      errors: [{ pointer: "/decided_at", code, detail }],
    });
  if (at < claim.created_at)
    throw refuse("before_claim", `must be at least ${toTimestamp(claim.created_at)}, the time of the claim`);
  if (at > now || (at === now && fraction > 0 && (await clock.fraction(now)) < fraction))
    throw refuse("later_than_now", `must be at most ${toTimestamp(now)}, the time now`);
}

/**
 * Asks whether the chain still has what is decided on: a reorg may have removed the claim or payments since.
 *
 * @throws Problem that says what is missing, and who can send it again.
 */
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
