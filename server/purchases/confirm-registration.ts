import { assertInTime, offerableUntil } from "../binding/deadlines.ts";
import { expectRegistration } from "../binding/expectations.ts";
import { bindingErrors, requireBound } from "../binding/require-bound.ts";
import { markUnlessUsed } from "../binding/used-transactions.ts";
import { defineOperation } from "../http/operation.ts";
import { assertCovered } from "../merchants/merchant-steps.ts";
import { confirmRegistrationBody, purchaseSchema } from "../schemas/purchases.ts";
import { findParts, findPurchase, readOnChain } from "../store/records/find.ts";
import { activatedRecord, currentPurchase } from "../store/records/status-after-reorg.ts";
import { missingEvidence, submissionsOf } from "../store/records/submissions.ts";
import { updatePurchase } from "../store/records/update-purchase.ts";
import { assertRoute, assertStep } from "./purchase-steps.ts";
import { viewPurchase } from "./views.ts";

/** `POST …/registration`: the merchant's own registration. */
export const confirmRegistration = defineOperation({
  number: 9,
  id: "confirmRegistration",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases/{id}/registration",
  summary: "Confirm a direct registration",
  description:
    "Confirms, by the binding check, that the merchant's wallet has registered exactly this purchase on the chain.",
  authorization: { kind: "scope", scope: "purchases:write" },
  idempotent: true,
  effect: false,
  body: confirmRegistrationBody,
  responses: { 200: { description: "The purchase is active.", schema: purchaseSchema } },
  errors: ["not_found", "state_conflict", "merchant_not_enrolled", ...bindingErrors, "deadline_passed"],
  events: ["purchase.registered"],
  async handle({ services, program, id, body }) {
    const submission = (await submissionsOf(services.store, program.id, id, "register")).at(-1)?.value;
    const hash = body.transaction_hash ?? submission?.transaction_hash ?? null;
    const { chain, deployment } = services;
    const { stored, purchase } = await findPurchase(services, program.id, id, (record) => [
      readOnChain(record, services),
      chain.route(record.commitment_hash),
      ...(hash === null
        ? []
        : [chain.observe(hash, { to: deployment.registrar.address, wallet: record.merchant })]),
    ]);
    await assertStep(purchase, "registration", services);
    await assertRoute(purchase, "merchant_direct", services);
    const onChain = await readOnChain(purchase, services);
    if (hash === null) {
      if (!onChain.exists) {
        assertInTime("deadline_passed", "registration", offerableUntil(purchase), onChain.nextTime);
        await assertCovered(purchase, services);
      }
      throw missingEvidence("register", { transaction_hash: hash });
    }
    const use = { key: hash, step: "registration", subject: id } as const;
    await requireBound(hash, expectRegistration(purchase, onChain.exists, services), use, services);
    const active = activatedRecord(stored.value, "merchant_direct");
    const current = await currentPurchase(active, services);
    const parts = await findParts(services, active);
    const marked = await markUnlessUsed(use, services);
    return {
      kind: "write",
      status: 200,
      event: { type: "purchase.registered", data: { purchase_id: id, transaction_hash: hash } },
      write: (event_id) => ({
        changes: [updatePurchase(stored, { ...active, event_id }), ...marked],
        body: viewPurchase({ ...current, event_id }, parts, onChain, services),
      }),
    };
  },
});
