import type { Sandbox } from "routing-sandbox";
import { sandboxTest } from "routing-sandbox/vitest";
import { expect } from "vitest";

// One sandbox a worker, restored before each test.
const test = sandboxTest();
const program = "prg_demo";
const write = (key: string) => ({ "Idempotency-Key": key });

/** A purchase of 25 USDC that its merchant is enrolled for and that is offered on chain. */
async function offerPurchase({ client, wallets }: Sandbox) {
  const { data: merchant } = await client.POST("/v1/routing/programs/{program}/merchants", {
    params: { path: { program }, header: write("merchant") },
    body: { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "100000000" },
  });
  if (!merchant) throw new Error("The merchant was not created.");
  const { body } = await wallets.merchant.enroll(merchant);
  await client.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
    params: { path: { program, id: merchant.id }, header: write("enrollment") },
    body,
  });
  const { data: purchase } = await client.POST("/v1/routing/programs/{program}/purchases", {
    params: { path: { program }, header: write("purchase") },
    body: {
      merchant_id: merchant.id,
      buyer: wallets.buyer.address,
      amount: "25000000",
      terms: { sku: "course-42" },
    },
  });
  if (!purchase) throw new Error("The purchase was not created.");
  await client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
    params: { path: { program, id: purchase.id }, header: write("activate") },
    body: { commitment_hash: purchase.commitment.hash },
  });
  return purchase;
}

test("the buyer's payment is found and reconciled", async ({ sandbox }) => {
  const purchase = await offerPurchase(sandbox);
  await sandbox.wallets.buyer.approve(purchase);
  await sandbox.wallets.buyer.pay(purchase);
  const { data } = await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
    params: { path: { program, id: purchase.id }, header: write("reconcile") },
    body: {},
  });
  expect(data?.purchase.payment_status).toBe("paid");
});

// Equal idempotency keys and wallets: nothing of the test before is left.
test("a stranger's payment is refused", async ({ sandbox }) => {
  const purchase = await offerPurchase(sandbox);
  await sandbox.wallets.stranger.approve(purchase);
  const { transaction_hash } = await sandbox.wallets.stranger.pay(purchase);
  const { error } = await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
    params: { path: { program, id: purchase.id }, header: write("reconcile") },
    body: { transaction_hashes: [transaction_hash] },
  });
  expect(error).toMatchObject({ code: "binding_mismatch" });
});
