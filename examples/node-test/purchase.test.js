import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createSandbox } from "routing-sandbox";

let sandbox;
let start;

before(async () => {
  sandbox = await createSandbox();
  start = await sandbox.snapshot();
});

beforeEach(async () => {
  await start.restore();
});

after(async () => {
  await sandbox.close();
});

const program = "/v1/routing/programs/{program}";

/** Sends one write and answers what came back; a problem is an error. */
async function post(path, key, body, id) {
  const params = { path: { program: "prg_demo", id }, header: { "Idempotency-Key": key } };
  const { data, error } = await sandbox.client.POST(program + path, { params, body });
  if (error) throw new Error(`${error.code}: ${error.detail}`);
  return data;
}

/** A purchase of 25 USDC that its merchant is enrolled for and that is offered on chain. */
async function offerPurchase() {
  const { merchant: seller, buyer } = sandbox.wallets;
  const shop = { wallet: seller.address, name: "Corner Books", funding_cap: "100000000" };
  const merchant = await post("/merchants", "merchant", shop);
  await post("/merchants/{id}/enrollment", "enrollment", (await seller.enroll(merchant)).body, merchant.id);
  const order = {
    merchant_id: merchant.id,
    buyer: buyer.address,
    amount: "25000000",
    terms: { sku: "course-42" },
  };
  const purchase = await post("/purchases", "purchase", order);
  await post(
    "/purchases/{id}/activate",
    "activate",
    { commitment_hash: purchase.commitment.hash },
    purchase.id,
  );
  return purchase;
}

test("the buyer's payment is found and reconciled", async () => {
  const purchase = await offerPurchase();
  await sandbox.wallets.buyer.approve(purchase);
  await sandbox.wallets.buyer.pay(purchase);
  const reconciled = await post("/purchases/{id}/reconcile", "reconcile", {}, purchase.id);
  assert.equal(reconciled.purchase.payment_status, "paid");
});

// Equal idempotency keys and wallets: nothing of the test before is left.
test("a stranger's payment is refused", async () => {
  const purchase = await offerPurchase();
  await sandbox.wallets.stranger.approve(purchase);
  const { transaction_hash } = await sandbox.wallets.stranger.pay(purchase);
  const body = { transaction_hashes: [transaction_hash] };
  await assert.rejects(post("/purchases/{id}/reconcile", "reconcile", body, purchase.id), /binding_mismatch/);
});
