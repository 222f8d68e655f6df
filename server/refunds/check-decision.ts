import { type Decision, verifyDecision } from "../../protocol/signatures/decision.ts";
import { fromTimestamp, toTimestamp } from "../../protocol/values/time.ts";
import { assertNoFieldErrors, Problem } from "../errors/problem.ts";
import { reconciledOf } from "../payments/payment-receipts.ts";
import { assertStep } from "../purchases/purchase-steps.ts";
import type { Services } from "../services.ts";
import { findParts } from "../store/records/find.ts";
import type { ClaimRecord, PurchaseRecord } from "../store/records.ts";
import type { RecordDecision } from "./schemas.ts";
import { assertStillOnChain } from "./still-on-chain.ts";

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
