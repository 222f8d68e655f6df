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
