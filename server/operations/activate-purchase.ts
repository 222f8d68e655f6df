import { offerCall } from "../../protocol/call.ts";
import { hashId } from "../../protocol/id.ts";
import { toJson } from "../../protocol/json.ts";
import { expectOffer } from "../binding/expectations.ts";
import { requireBound } from "../binding/require-bound.ts";
import type { ChainProgram } from "../chain/chain.ts";
import { commitmentOf } from "../domain/commitment-of.ts";
import { findPurchase } from "../domain/find.ts";
import { assertRoute, assertStep } from "../domain/purchase-steps.ts";
import { relayBound } from "../domain/relay.ts";
import { Problem } from "../errors/problem.ts";
import { defineOperation } from "../http/operation.ts";
import { activatePurchaseBody, activationSchema } from "../schemas/purchase.ts";
import type { PurchaseRecord } from "../store/records.ts";
import { viewPurchase } from "../views/purchase.ts";

const noParts = { claim: null, decision: null, refund: null };

/** Operation 8: the bounded registrar offers this exact purchase. */
export const activatePurchase = defineOperation({
  number: 8,
  id: "activatePurchase",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases/{id}/activate",
  summary: "Activate a purchase by the registrar",
  description:
    "The relayer submits the bounded registrar's offer of exactly this purchase. While its transaction is not confirmed the answer is 202; " +
    "the identical request with the identical key goes on with the same operation.",
  authorization: { kind: "scope", scope: "purchases:write" },
  idempotent: true,
  effect: true,
  body: activatePurchaseBody,
  responses: {
    200: { description: "The purchase is active.", schema: activationSchema },
    202: {
      description: "The relayed transaction is not confirmed yet; send the identical request again.",
      schema: activationSchema,
    },
  },
  errors: [
    "not_found",
    "state_conflict",
    "commitment_mismatch",
    "binding_mismatch",
    "deadline_passed",
    "registrar_bound_exceeded",
    "gas_budget_exceeded",
    "transaction_reverted",
    "outcome_unknown",
    "rpc_unavailable",
    "chain_mismatch",
    "storage_unavailable",
  ],
  events: ["purchase.activated"],
  async handle({ services, program, id, body, beginEffect }) {
    const { store, chain, deployment } = services;
    const stored = await findPurchase(store, program.id, id);
    const purchase = stored.value;
    await assertStep(purchase, "activate", services);
    assertSamePurchase(purchase, body.commitment_hash);
    const query = { id: purchase.commitment_hash, buyer: purchase.buyer };
    const before = await chain.purchase(query);
    if (before.exists) await assertRoute(purchase, "registrar_offer", services);
    else assertOfferable(purchase, await chain.program(hashId(program.id)));
    await beginEffect(id);
    const relayed = await relayBound(
      {
        program: program.id,
        kind: "offer",
        subject: { type: "purchase", id },
        businessKey: purchase.commitment_hash,
        call: offerCall(
          deployment.registrar.address,
          commitmentOf(purchase, deployment),
          purchase.commitment_signature,
        ),
        signer: program.registrar,
      },
      services,
      async (hash) => {
        const { exists } = await chain.purchase(query);
        const use = { key: hash, step: "offer", subject: id };
        await requireBound(hash, expectOffer(purchase, program.registrar, exists, services), use, services);
      },
    );
    const operation = toJson(relayed.operation);
    const onChain = await chain.purchase(query);
    if (!relayed.confirmed)
      return {
        kind: "write",
        status: 202,
        final: false,
        write: () => ({
          changes: [],
          body: { purchase: viewPurchase(purchase, noParts, onChain, services), operation, event_id: null },
        }),
      };
    return {
      kind: "write",
      status: 200,
      event: { type: "purchase.activated", data: { purchase_id: id, transaction_hash: relayed.hash } },
      write: (event_id) => {
        const active: PurchaseRecord = { ...purchase, status: "active", route: "registrar_offer", event_id };
        return {
          changes: [
            { ...stored, kind: "update", collection: "purchases", value: active },
            {
              kind: "insert",
              collection: "used_transactions",
              key: relayed.hash,
              value: { step: "offer", subject: id },
            },
          ],
          body: { purchase: viewPurchase(active, noParts, onChain, services), operation, event_id },
        };
      },
    };
  },
});

function assertSamePurchase(purchase: PurchaseRecord, commitmentHash: string): void {
  if (commitmentHash === purchase.commitment_hash) return;
  const { id, commitment_hash: expected } = purchase;
  const detail = `The commitment_hash is not that of ${id}. Send its commitment.hash, ${expected}.`;
  const finding = { pointer: "/commitment_hash", code: "commitment_mismatch", detail: `must be ${expected}` };
  throw new Problem("commitment_mismatch", detail, { errors: [finding] });
}

/** What the contract would refuse is refused before the relayer reserves anything. */
function assertOfferable(purchase: PurchaseRecord, state: ChainProgram): void {
  const { timestamp } = state.asOf;
  if (timestamp > purchase.offer_deadline)
    throw new Problem(
      "deadline_passed",
      `The offer was due by ${purchase.offer_deadline}; it is ${timestamp}.`,
    );
  const amount = BigInt(purchase.amount);
  const available = state.openBudget - state.openOffers;
  const within =
    amount <= state.maxPurchase && amount <= available && timestamp <= state.validUntil && !state.paused;
  if (!within)
    throw new Problem("registrar_bound_exceeded", "The registrar's bounds do not allow this offer.", {
      members: {
        bounds: {
          amount: purchase.amount,
          max_purchase: state.maxPurchase.toString(),
          open_budget: state.openBudget.toString(),
          open_offers: state.openOffers.toString(),
          valid_until: state.validUntil,
          paused: state.paused,
        },
      },
    });
}
