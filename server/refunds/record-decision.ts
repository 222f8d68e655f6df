import { hashDecision } from "../../protocol/signatures/decision.ts";
import { defineOperation, type Outcome } from "../http/operation.ts";
import { viewDecision } from "../purchases/refund-views.ts";
import { decisionSchema, recordDecisionBody } from "../schemas/refunds.ts";
import { findPurchase, readOnChain } from "../store/records/find.ts";
import { nextId } from "../store/records/next-id.ts";
import { updatePurchase } from "../store/records/update-purchase.ts";
import type { DecisionRecord, PurchaseRecord } from "../store/records.ts";
import type { Stored } from "../store/store.ts";
import { checkDecision } from "./check-decision.ts";

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
    const { store, chain, deployment } = services;
    const claim = (await store.get("claims", body.claim_id))?.value;
    const { stored, purchase } = await findPurchase(services, program.id, id, (record) => [
      readOnChain(record, services),
      ...(claim?.purchase_id === record.id
        ? [
            chain.observe(claim.transaction_hash, {
              to: deployment.registrar.address,
              wallet: record.beneficiary,
            }),
          ]
        : []),
    ]);
    const statement = await checkDecision(purchase, body, now, services);
    const decisionId = await nextId("dec", services);
    return decide(stored, { id: decisionId, statement, approval: body.approval, created_at: now });
  },
});

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
