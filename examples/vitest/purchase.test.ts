import { unwrap } from "routing-sandbox/client";
import { sandboxTest } from "routing-sandbox/vitest";
import { expect } from "vitest";

// One sandbox a worker, restored before each test.
const test = sandboxTest();
const path = "/v1/routing/programs/{program}/purchases/{id}/reconcile";
const header = { "Idempotency-Key": "reconcile" };

test("the buyer's payment is found and reconciled", async ({ sandbox }) => {
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const { program, id } = purchase;
  await sandbox.wallets.buyer.approve(purchase);
  await sandbox.wallets.buyer.pay(purchase);
  const params = { path: { program, id }, header };
  const answer = unwrap(await sandbox.client.POST(path, { params, body: {} }));
  expect(answer.purchase.payment_status).toBe("paid");
});

// An equal idempotency key and equal wallets: nothing of the test before is left.
test("a stranger's payment is refused", async ({ sandbox }) => {
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const { program, id } = purchase;
  await sandbox.wallets.stranger.approve(purchase);
  const { transaction_hash } = await sandbox.wallets.stranger.pay(purchase);
  const params = { path: { program, id }, header };
  const body = { transaction_hashes: [transaction_hash] };
  expect(await sandbox.client.POST(path, { params, body })).toBeProblem("binding_mismatch");
  await expect(transaction_hash).toBeRefusedBy("wallet");
});

test("a purchase goes from enrollment to its refund", async ({ sandbox: { wallets, client, reviewer } }) => {
  const { merchant: seller, buyer, beneficiary } = wallets;
  const api = client.retrying;
  const created = await api.createMerchant("prg_demo", {
    wallet: seller.address,
    name: "Corner Books",
    funding_cap: "100000000",
  });
  const merchant = await api.enroll(created, (await seller.enroll(created)).body);
  await seller.fund(merchant);
  const parties = { buyer: buyer.address, beneficiary: beneficiary.address };
  const purchase = await api.createPurchase(merchant, { ...parties, amount: "25000000", terms: {} });
  await api.activate(purchase);
  await buyer.approve(purchase);
  await buyer.pay(purchase);
  await api.reconcile(purchase);
  const { body } = await beneficiary.claim(purchase, { amount: 10_000_000n, reason: "late" });
  const claim = await api.claim(purchase, body);
  const decision = await reviewer.decide(purchase, claim, { award: "10000000" });
  const refund = await api.refund(purchase, decision);
  expect(refund.status).toBe("collected");
});
