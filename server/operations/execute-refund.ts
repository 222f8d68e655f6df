import { collectRefundCall } from "../../protocol/call.ts";
import { deriveId, hashId } from "../../protocol/id.ts";
import { toJson } from "../../protocol/json.ts";
import { expectRefund } from "../binding/expectations.ts";
import { requireBound } from "../binding/require-bound.ts";
import type { ChainFunding } from "../chain/chain.ts";
import { findMerchant, findParts, findPurchase } from "../domain/find.ts";
import { assertStep } from "../domain/purchase-steps.ts";
import { relayBound } from "../domain/relay.ts";
import { Problem } from "../errors/problem.ts";
import { defineOperation } from "../http/operation.ts";
import { executeRefundBody, refundExecutionSchema } from "../schemas/refund.ts";
import type { MerchantRecord, PurchaseRecord, RefundRecord } from "../store/records.ts";
import type { Change } from "../store/store.ts";
import { viewRefund } from "../views/refund.ts";

/** Operation 13: records the award and collects it from the accepted funding source. */
export const executeRefund = defineOperation({
  number: 13,
  id: "executeRefund",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases/{id}/refunds",
  summary: "Execute a refund",
  description:
    "Records the award of an approved decision and has the relayer collect it from the merchant's wallet, through the funding source, to the beneficiary. " +
    "While the collection is not confirmed the answer is 202 and the purchase is refund_due.",
  authorization: { kind: "scope", scope: "refunds:execute" },
  idempotent: true,
  effect: true,
  body: executeRefundBody,
  responses: {
    201: { description: "The refund is collected.", schema: refundExecutionSchema },
    202: {
      description: "The award is recorded; send the identical request again.",
      schema: refundExecutionSchema,
    },
  },
  errors: [
    "not_found",
    "state_conflict",
    "funding_source_insufficient",
    "gas_budget_exceeded",
    "transaction_reverted",
    "binding_mismatch",
    "outcome_unknown",
    "rpc_unavailable",
    "chain_mismatch",
    "storage_unavailable",
  ],
  events: ["refund.due", "refund.collected"],
  async handle({ services, program, id, body, now, beginEffect }) {
    const { store, chain, settings, deployment } = services;
    const stored = await findPurchase(store, program.id, id);
    const purchase = stored.value;
    await assertStep(purchase, "refunds", services);
    const { claim, decision, refund: due } = await findParts(store, purchase);
    if (claim === null || decision === null || decision.id !== body.decision_id)
      throw new Problem("not_found", `There is no decision ${body.decision_id} of ${id}.`);
    const { award } = decision.statement;
    const merchant = (await findMerchant(store, program.id, purchase.merchant_id)).value;
    const query = { id: purchase.commitment_hash, buyer: purchase.buyer };
    if ((await chain.purchase(query)).refunded === 0n) {
      const merchantRef = hashId(merchant.id);
      const wallet = merchant.wallet;
      assertFunded(
        BigInt(award),
        merchant,
        await chain.funding({ program: hashId(program.id), merchantRef, wallet }),
      );
    }
    const refundId = due?.id ?? deriveId("ref", [settings.seed, await store.next("ref")]);
    await beginEffect(id);
    const relayed = await relayBound(
      {
        program: program.id,
        kind: "collect_refund",
        subject: { type: "refund", id: refundId },
        businessKey: decision.decision_hash,
        call: collectRefundCall(
          deployment.registrar.address,
          purchase.commitment_hash,
          BigInt(award),
          decision.decision_hash,
        ),
        signer: program.registrar,
      },
      services,
      async (hash) => {
        const expected = { purchase, claim, decision, registrar: program.registrar };
        const use = { key: hash, step: "refund", subject: id };
        const onChain = await chain.purchase(query);
        await requireBound(hash, expectRefund(expected, onChain, services), use, services);
      },
    );
    const operation = toJson(relayed.operation);
    const base = {
      id: relayed.operation.subject.id,
      program: program.id,
      purchase_id: id,
      decision_id: decision.id,
      award,
      operation_id: relayed.operation.operation_id,
      created_at: due?.created_at ?? now,
    };
    const data = { purchase_id: id, refund_id: base.id, award };
    const revision = (await store.get("refunds", base.id))?.revision;
    const put = (refund: RefundRecord): Change =>
      revision === undefined
        ? { kind: "insert", collection: "refunds", key: refund.id, value: refund }
        : { kind: "update", collection: "refunds", key: refund.id, value: refund, revision };
    if (!relayed.confirmed) {
      if (due)
        return {
          kind: "write",
          status: 202,
          final: false,
          write: () => ({
            changes: [],
            body: { refund: viewRefund(due, purchase), operation, event_id: due.event_id },
          }),
        };
      return {
        kind: "write",
        status: 202,
        final: false,
        event: { type: "refund.due", data },
        write: (event_id) => {
          const refund: RefundRecord = {
            ...base,
            status: "due",
            transaction_hash: null,
            collected_at: null,
            event_id,
          };
          const waiting: PurchaseRecord = {
            ...purchase,
            status: "refund_due",
            refund_id: refund.id,
            event_id,
          };
          return {
            changes: [put(refund), { ...stored, kind: "update", collection: "purchases", value: waiting }],
            body: { refund: viewRefund(refund, waiting), operation, event_id },
          };
        },
      };
    }
    return {
      kind: "write",
      status: 201,
      event: { type: "refund.collected", data: { ...data, transaction_hash: relayed.hash } },
      write: (event_id) => {
        const refund: RefundRecord = {
          ...base,
          status: "collected",
          transaction_hash: relayed.hash,
          collected_at: now,
          event_id,
        };
        const refunded: PurchaseRecord = { ...purchase, status: "refunded", refund_id: refund.id, event_id };
        return {
          changes: [
            put(refund),
            { ...stored, kind: "update", collection: "purchases", value: refunded },
            {
              kind: "insert",
              collection: "used_transactions",
              key: relayed.hash,
              value: { step: "refund", subject: id },
            },
          ],
          body: { refund: viewRefund(refund, refunded), operation, event_id },
        };
      },
    };
  },
});

/** What the contract would refuse is refused before the relayer reserves anything, with every figure. */
function assertFunded(award: bigint, merchant: MerchantRecord, funding: ChainFunding): void {
  const remaining = BigInt(merchant.funding.cap) - funding.collected;
  const { allowance, balance, asOf } = funding;
  const valid = funding.revokedAt > 0 || asOf.timestamp <= merchant.funding.valid_until;
  if (award <= remaining && award <= allowance && award <= balance && valid) return;
  throw new Problem("funding_source_insufficient", `The award is ${award}; the funding does not cover it.`, {
    members: {
      funding: {
        award: award.toString(),
        remaining: remaining.toString(),
        allowance: allowance.toString(),
        balance: balance.toString(),
        valid_until: merchant.funding.valid_until,
        revoked_at: funding.revokedAt,
      },
    },
  });
}
