import { createSandbox } from "routing-sandbox";
import { unwrap } from "routing-sandbox/client";
import { sandboxMatchers } from "routing-sandbox/matchers";

let sandbox;
let start;

expect.extend(sandboxMatchers(() => sandbox));

beforeAll(async () => {
  sandbox = await createSandbox();
  start = await sandbox.snapshot();
});

beforeEach(async () => {
  await start.restore();
});

afterAll(async () => {
  await sandbox.close();
});

/** Has the API look for payments: all of a purchase, or those of the named transactions. */
async function reconcile({ program, id }, body) {
  return await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
    params: { path: { program, id }, header: { "Idempotency-Key": "reconcile" } },
    body,
  });
}

test("the buyer's payment is found and reconciled", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  await sandbox.wallets.buyer.approve(purchase);
  await sandbox.wallets.buyer.pay(purchase);
  const answer = unwrap(await reconcile(purchase, {}));
  expect(answer.purchase.payment_status).toBe("paid");
});

// An equal idempotency key and equal wallets: nothing of the test before is left.
test("a stranger's payment is refused", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  await sandbox.wallets.stranger.approve(purchase);
  const { transaction_hash } = await sandbox.wallets.stranger.pay(purchase);
  const answer = await reconcile(purchase, { transaction_hashes: [transaction_hash] });
  expect(answer).toBeProblem("binding_mismatch");
  await expect(transaction_hash).toBeRefusedBy("wallet");
});
