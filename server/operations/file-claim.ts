import { type Claim, hashClaim, hashReason } from "../../protocol/claim.ts";
import { deriveId } from "../../protocol/id.ts";
import { expectClaim } from "../binding/expectations.ts";
import { requireBound } from "../binding/require-bound.ts";
import { domainOf } from "../domain/commitment-of.ts";
import { findPurchase } from "../domain/find.ts";
import { assertStep, reconciledOf } from "../domain/purchase-steps.ts";
import { requireSignature } from "../domain/require-signature.ts";
import { submitted } from "../domain/submitted.ts";
import { Problem } from "../errors/problem.ts";
import { defineOperation } from "../http/operation.ts";
import { claimSchema, fileClaimBody } from "../schemas/claim.ts";
import type { ClaimRecord, PurchaseRecord } from "../store/records.ts";
import { viewClaim } from "../views/claim.ts";

/** Operation 11: the beneficiary's signature and a timely claim on chain. */
export const fileClaim = defineOperation({
  number: 11,
  id: "fileClaim",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases/{id}/claims",
  summary: "File a claim",
  description:
    "Verifies the beneficiary's EIP-712 signature over the claim and, by the binding check, its claim transaction at or before the claim deadline. " +
    "A claim needs a reconciled payment.",
  authorization: { kind: "scope", scope: "claims:write" },
  idempotent: true,
  effect: false,
  body: fileClaimBody,
  responses: { 201: { description: "The claim.", schema: claimSchema } },
  errors: [
    "not_found",
    "state_conflict",
    "signature_invalid",
    "signer_mismatch",
    "transaction_not_found",
    "transaction_unconfirmed",
    "transaction_reverted",
    "transaction_already_used",
    "binding_mismatch",
    "claim_window_closed",
    "rpc_unavailable",
    "chain_mismatch",
    "storage_unavailable",
  ],
  events: ["purchase.claimed"],
  async handle({ services, program, id, body, now }) {
    const { store, chain, settings, deployment } = services;
    const stored = await findPurchase(store, program.id, id);
    const purchase = stored.value;
    await assertStep(purchase, "claims", services);
    const paid = reconciledOf(purchase);
    if (BigInt(body.requested_amount) > paid)
      throw new Problem("validation_failed", "More is claimed than was paid.", {
        errors: [{ pointer: "/requested_amount", code: "above_paid", detail: `must be at most ${paid}` }],
      });
    const claim: Claim = {
      commitment: purchase.commitment_hash,
      beneficiary: purchase.beneficiary,
      requestedAmount: BigInt(body.requested_amount),
      reasonHash: hashReason(body.reason),
    };
    const claim_hash = hashClaim(domainOf(deployment), claim);
    const { beneficiary: wallet } = purchase;
    await requireSignature({ wallet, digest: claim_hash, signature: body.signature }, services);
    const hash = (await submitted(store, program.id, id, "claim")).transactionHash(body.transaction_hash);
    const onChain = await chain.purchase({ id: purchase.commitment_hash, buyer: purchase.buyer });
    const use = { key: hash, step: "claim", subject: id };
    await requireBound(hash, expectClaim(purchase, claim_hash, onChain.exists, services), use, services);
    const claimId = deriveId("clm", [settings.seed, await store.next("clm")]);
    return {
      kind: "write",
      status: 201,
      event: { type: "purchase.claimed", data: { purchase_id: id, claim_id: claimId, claim_hash } },
      write: (event_id) => {
        const record: ClaimRecord = {
          id: claimId,
          program: program.id,
          purchase_id: id,
          requested_amount: body.requested_amount,
          reason: body.reason,
          claim_hash,
          signature: body.signature,
          transaction_hash: hash,
          created_at: now,
          event_id,
        };
        const claimed: PurchaseRecord = { ...purchase, status: "claimed", claim_id: claimId, event_id };
        return {
          changes: [
            { kind: "insert", collection: "claims", key: claimId, value: record },
            { ...stored, kind: "update", collection: "purchases", value: claimed },
            {
              kind: "insert",
              collection: "used_transactions",
              key: use.key,
              value: { step: use.step, subject: id },
            },
          ],
          body: viewClaim(record, claimed),
        };
      },
    };
  },
});
