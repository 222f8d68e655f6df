import { unwrap } from "routing-sandbox/client";
import { sandboxFixture } from "routing-sandbox/fixture";
import { sandboxMatchers } from "routing-sandbox/matchers";

const fixture = sandboxFixture({ seed: "checkout" });

expect.extend(sandboxMatchers(() => fixture.sandbox));

beforeEach(fixture.begin);
afterEach(fixture.end);
afterAll(fixture.close);

/** Has the API look for payments: all of a purchase, or those of the named transactions. */
async function reconcile({ program, id }, body) {
  return await fixture.sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
    params: { path: { program, id }, header: { "Idempotency-Key": "reconcile" } },
    body,
  });
}

test("the buyer's payment is found and reconciled", async () => {
  const { purchase } = await fixture.sandbox.given.purchase({ state: "active" });
  await fixture.sandbox.wallets.buyer.approve(purchase);
  await fixture.sandbox.wallets.buyer.pay(purchase);
  const answer = unwrap(await reconcile(purchase, {}));
  expect(answer.purchase.payment_status).toBe("paid");
});

// An equal idempotency key and equal wallets: nothing of the test before is left.
test("a stranger's payment is refused", async () => {
  const { purchase } = await fixture.sandbox.given.purchase({ state: "active" });
  await fixture.sandbox.wallets.stranger.approve(purchase);
  const { transaction_hash } = await fixture.sandbox.wallets.stranger.pay(purchase);
  const answer = await reconcile(purchase, { transaction_hashes: [transaction_hash] });
  expect(answer).toBeProblem("binding_mismatch");
  await expect(transaction_hash).toBeRefusedBy("wallet");
});

test("a purchase goes from enrollment to its refund", async () => {
  const { wallets, client, reviewer } = fixture.sandbox;
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
