import { hashMessage } from "viem";
import { prefetch } from "../../relayer/prefetch.ts";
import { expectEnrollment } from "../binding/expectations.ts";
import { readFunding } from "../binding/read-funding.ts";
import { bindingErrors, requireBound } from "../binding/require-bound.ts";
import { requireSignature, signatureErrors } from "../binding/require-signature.ts";
import { markTransactionUsed } from "../binding/used-transactions.ts";
import { defineOperation } from "../http/operation.ts";
import { confirmEnrollmentBody, merchantSchema } from "../schemas/merchants.ts";
import { findMerchant } from "../store/records/find.ts";
import { missingEvidence, submissionsOf } from "../store/records/submissions.ts";
import type { MerchantRecord } from "../store/records.ts";
import { assertEnrollable, assertPending } from "./merchant-steps.ts";
import { enrollmentMessageOf, viewMerchant } from "./views.ts";

/** `POST …/enrollment`: the exact wallet enrollment and the personal signature. */
export const confirmEnrollment = defineOperation({
  number: 5,
  id: "confirmEnrollment",
  method: "post",
  path: "/v1/routing/programs/{program}/merchants/{id}/enrollment",
  summary: "Confirm a merchant's enrollment",
  description:
    "Confirms the wallet's enroll transaction, by the binding check, and its signature (EIP-191) of the enrollment message. " +
    "You can omit fields that the wallet has submitted over the wallet route.",
  authorization: { kind: "scope", scope: "merchants:write" },
  idempotent: true,
  effect: false,
  body: confirmEnrollmentBody,
  responses: { 200: { description: "The enrolled merchant.", schema: merchantSchema } },
  errors: ["not_found", "state_conflict", ...signatureErrors, ...bindingErrors, "deadline_passed"],
  events: ["merchant.enrolled"],
  async handle({ services, program, id, body, now }) {
    const { store } = services;
    const stored = await findMerchant(store, program.id, id);
    const merchant = stored.value;
    const submission = (await submissionsOf(store, program.id, id, "enroll")).at(-1)?.value;
    const transactionHash = body.transaction_hash ?? submission?.transaction_hash ?? null;
    const parts = { to: services.deployment.registrar.address, wallet: merchant.wallet };
    if (transactionHash !== null) prefetch(services.chain.observe(transactionHash, parts));
    const funding = await readFunding(merchant, services);
    assertPending(merchant, funding);
    const signature = body.signature ?? submission?.signature ?? null;
    if (transactionHash === null || signature === null) {
      await assertEnrollable(merchant, funding, services);
      throw missingEvidence("enroll", { transaction_hash: transactionHash, signature });
    }
    const use = { key: transactionHash, step: "enrollment", subject: id } as const;
    const expected = expectEnrollment(merchant, funding.authorization, services);
    await requireBound(transactionHash, expected, use, services);
    const digest = hashMessage(enrollmentMessageOf(merchant, services));
    await requireSignature({ wallet: merchant.wallet, digest, signature }, services);
    return {
      kind: "write",
      status: 200,
      event: { type: "merchant.enrolled", data: { merchant_id: id, transaction_hash: transactionHash } },
      write: (event_id) => {
        const enrollment = { transaction_hash: transactionHash, signature, confirmed_at: now };
        const enrolled: MerchantRecord = { ...merchant, status: "enrolled", enrollment, event_id };
        return {
          changes: [
            { ...stored, kind: "update", collection: "merchants", value: enrolled },
            markTransactionUsed(use),
          ],
          body: viewMerchant(enrolled, funding, services),
        };
      },
    };
  },
});
