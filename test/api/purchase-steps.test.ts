import { afterAll, beforeAll, expect, test } from "vitest";
import { present, problem, type Schema, Stage } from "./stage.ts";

let stage: Stage;
let merchant: Schema<"Merchant">;

beforeAll(async () => {
  stage = await Stage.open({ seed: "steps", patienceMs: 50 });
  merchant = await stage.enrolledMerchant();
  await stage.act("merchant", "merchant", merchant.id, "fund");
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** Bodies that are refused for nothing but the state. */
const bodies: { readonly [step: string]: object } = {
  activate: { commitment_hash: `0x${"11".repeat(32)}` },
  registration: { transaction_hash: `0x${"22".repeat(32)}` },
  reconcile: {},
  claims: {
    transaction_hash: `0x${"33".repeat(32)}`,
    requested_amount: "1",
    reason: "Arrived broken.",
    signature: `0x${"44".repeat(65)}`,
  },
  decisions: {
    claim_id: `clm_${"a".repeat(20)}`,
    outcome: "denied",
    award: "0",
    decided_at: "2026-01-01T00:00:00Z",
    reviewer_key_id: "nobody",
    approval: "A".repeat(86),
  },
  refunds: { decision_id: `dec_${"a".repeat(20)}` },
};

/** Every step but the allowed ones must be refused for the state that the purchase is in. */
async function expectOnly(id: string, status: string, allowed: readonly string[]): Promise<void> {
  for (const [step, body] of Object.entries(bodies)) {
    if (allowed.includes(step)) continue;
    const answer = await stage.post(stage.path(`/purchases/${id}/${step}`), body);
    expect(problem(answer), `${status}: ${step}`).toMatchObject({
      status: 409,
      code: "state_conflict",
      detail: `A purchase that is ${status} does not allow ${step}.`,
      current_state: status,
      allowed,
    });
  }
  const purchase = JSON.parse((await stage.get(stage.path(`/purchases/${id}`))).text);
  expect(purchase.status).toBe(status);
}

async function decide(purchase: Schema<"Purchase">, claim: Schema<"Claim">, denied = false) {
  const body = stage.decision(purchase, claim, denied ? { outcome: "denied", award: "0" } : {});
  const answer = await stage.post(stage.path(`/purchases/${purchase.id}/decisions`), body);
  expect(answer.status).toBe(201);
  const decision: Schema<"Decision"> = JSON.parse(answer.text);
  return decision;
}

test("a purchase allows exactly the steps of its state, from its creation to its refund", async () => {
  const purchase = await stage.createPurchase(merchant);
  const { id } = purchase;
  await expectOnly(id, "created", ["activate", "registration"]);
  await stage.activate(purchase);
  await expectOnly(id, "active", ["reconcile", "claims"]);
  await stage.pay(purchase);
  await stage.reconcile(purchase);
  await expectOnly(id, "active", ["reconcile", "claims"]);
  const claim = await stage.claim(purchase);
  await expectOnly(id, "claimed", ["reconcile", "decisions"]);
  const decision = await decide(purchase, claim);
  await expectOnly(id, "approved", ["reconcile", "refunds"]);

  const params = stage.write(id);
  const refund = async () =>
    present(
      await stage.api.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", {
        params,
        body: { decision_id: decision.id },
      }),
    );
  await stage.sandbox.chain.client.setAutomine(false);
  const due = await refund();
  expect(due.refund.status).toBe("due");
  await expectOnly(id, "refund_due", ["reconcile", "refunds"]);
  await stage.sandbox.clock.travel({ minutes: 1 });
  await stage.sandbox.chain.client.setAutomine(true);
  const { refund: collected } = await refund();
  expect(collected).toMatchObject({
    id: due.refund.id,
    status: "collected",
    created_at: due.refund.created_at,
  });
  expect(Date.parse(String(collected.collected_at))).toBeGreaterThan(Date.parse(collected.created_at));
  await expectOnly(id, "refunded", ["reconcile"]);
  expect((await stage.reconcile(purchase)).already_reconciled).toHaveLength(1);
});

test("a denied claim ends with reconciliation: it is neither refunded nor decided on again", async () => {
  const purchase = await stage.paidPurchase(merchant);
  await decide(purchase, await stage.claim(purchase), true);
  await expectOnly(purchase.id, "denied", ["reconcile"]);
  expect((await stage.reconcile(purchase)).already_reconciled).toHaveLength(1);
});
