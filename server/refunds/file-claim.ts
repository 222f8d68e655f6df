import { hashClaim } from "../../protocol/messages/claim.ts";
import { domainOf } from "../binding/commitment-of.ts";
import { expectClaim } from "../binding/expectations.ts";
import { bindingErrors, requireBound } from "../binding/require-bound.ts";
import { requireSignature, signatureErrors } from "../binding/require-signature.ts";
import { markTransactionUsed } from "../binding/used-transactions.ts";
import { defineOperation } from "../http/operation.ts";
import { viewClaim } from "../purchases/refund-views.ts";
import { claimSchema, type FileClaim, fileClaimBody } from "../schemas/refunds.ts";
import { findPurchase, readOnChain } from "../store/records/find.ts";
import { nextId } from "../store/records/next-id.ts";
import { missingEvidence, submissionsOf } from "../store/records/submissions.ts";
import { updatePurchase } from "../store/records/update-purchase.ts";
import type { ClaimRecord, PurchaseRecord, SubmissionRecord } from "../store/records.ts";
import { assertClaimable, assertClaimWindow, assertReconciled, claimOf, pickClaim } from "./claims.ts";

/** `POST …/claims`: the beneficiary's signature and a timely claim on chain. */
export const fileClaim = defineOperation({
  number: 11,
  id: "fileClaim",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases/{id}/claims",
  summary: "File a claim",
  description:
    "Verifies the beneficiary's EIP-712 signature of the claim and, by the binding check, its claim transaction, which must be on the chain by the claim deadline. " +
    "A claim requires a reconciled payment. Fields that you omit are taken from the submission over the wallet route.",
  authorization: { kind: "scope", scope: "claims:write" },
  idempotent: true,
  effect: false,
  body: fileClaimBody,
  responses: { 201: { description: "The claim.", schema: claimSchema } },
  errors: ["not_found", "state_conflict", ...signatureErrors, ...bindingErrors, "claim_window_closed"],
  events: ["purchase.claimed"],
  async handle({ services, program, id, body, now }) {
    const { store, deployment, chain } = services;
    const submissions = await submissionsOf(store, program.id, id, "claim");
    const likely = body.transaction_hash ?? submissions.at(-1)?.value.transaction_hash ?? null;
    const { stored, purchase } = await findPurchase(services, program.id, id, (record) => [
      readOnChain(record, services),
      ...(likely === null
        ? []
        : [chain.observe(likely, { to: deployment.registrar.address, wallet: record.beneficiary })]),
    ]);
    const onChain = await readOnChain(purchase, services);
    await assertClaimable(purchase, onChain, services);
    const claimed = completeClaim(body, pickClaim(submissions, purchase, onChain, deployment));
    if ("missing" in claimed) {
      assertClaimWindow(purchase, onChain);
      throw claimed.missing;
    }
    const { requested_amount, reason, signature, transaction_hash: hash } = claimed;
    assertReconciled(purchase, requested_amount, "/requested_amount");
    const claim = claimOf(purchase, { amount: BigInt(requested_amount), reason });
    const claim_hash = hashClaim(domainOf(deployment), claim);
    const { beneficiary: wallet } = purchase;
    await requireSignature({ wallet, digest: claim_hash, signature }, services);
    const use = { key: hash, step: "claim", subject: id } as const;
    await requireBound(hash, expectClaim(purchase, claim_hash, onChain.exists, services), use, services);
    const claimId = await nextId("clm", services);
    return {
      kind: "write",
      status: 201,
      event: { type: "purchase.claimed", data: { purchase_id: id, claim_id: claimId, claim_hash } },
      write: (event_id) => {
        const record: ClaimRecord = {
          id: claimId,
          program: program.id,
          purchase_id: id,
          requested_amount,
          reason,
          claim_hash,
          signature,
          transaction_hash: hash,
          created_at: now,
          event_id,
        };
        const claimed: PurchaseRecord = { ...purchase, status: "claimed", claim_id: claimId, event_id };
        return {
          changes: [
            { kind: "insert", collection: "claims", key: claimId, value: record },
            updatePurchase(stored, claimed),
            markTransactionUsed(use),
          ],
          body: viewClaim(record, claimed),
        };
      },
    };
  },
});

/** Takes each field from the body, else from what the wallet submitted; the refusal names every field that neither has. */
function completeClaim(body: FileClaim, submission: SubmissionRecord | null) {
  const requested_amount = body.requested_amount ?? submission?.amount ?? null;
  const reason = body.reason ?? submission?.reason ?? null;
  const signature = body.signature ?? submission?.signature ?? null;
  const transaction_hash = body.transaction_hash ?? submission?.transaction_hash ?? null;
  if (requested_amount === null || reason === null || signature === null || transaction_hash === null)
    return { missing: missingEvidence("claim", { requested_amount, reason, signature, transaction_hash }) };
  return { requested_amount, reason, signature, transaction_hash };
}
