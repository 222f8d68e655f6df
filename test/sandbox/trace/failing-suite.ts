/** A suite whose ten tests fail on purpose, each by another cause; traces.test.ts runs it, and reads what it leaves. */
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import { unwrap } from "../../../sandbox/client/api-client.ts";
import { sandboxTest } from "../../../testkit/vitest.ts";

const test = sandboxTest({ seed: "failing", traceFolder: process.env["TRACES"] ?? "traces" });

const keyed = ({ program, id }: { program: string; id: string }) => ({
  path: { program, id },
  header: { "Idempotency-Key": "a-key-of-the-suite" },
});

test("passes", async ({ sandbox }) => {
  expect(await sandbox.given.merchant({ state: "pending" })).toBeDefined();
});

test("wrong wallet", async ({ sandbox }) => {
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  await sandbox.wallets.stranger.faucet(BigInt(purchase.amount));
  await sandbox.wallets.stranger.approve(purchase, BigInt(purchase.amount));
  const paid = await sandbox.wallets.stranger.pay(purchase, BigInt(purchase.amount));
  const { client } = sandbox;
  const answer = await client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
    params: keyed(purchase),
    body: { transaction_hashes: [paid.transaction_hash] },
  });
  unwrap(answer);
});

test("lost answer", async ({ sandbox }) => {
  // The given state requests it again.
  await sandbox.faults.set("answer-lost", { operation: "createPurchase" });
  const { purchase } = await sandbox.given.purchase({ state: "created" });
  await sandbox.faults.set("answer-lost", { operation: "activatePurchase" });
  await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
    params: keyed(purchase),
    body: { commitment_hash: purchase.commitment.hash },
  });
});

test("late claim", async ({ sandbox }) => {
  const { purchase } = await sandbox.given.purchase({ state: "reconciled" });
  await sandbox.clock.travelTo(purchase.deadlines.claim_deadline + 1);
  const claimed = await sandbox.wallets.beneficiary.claim(purchase, { amount: 1_000_000n, reason: "late" });
  expect(claimed.receipt.status).toBe("success");
});

test("wrong amount", async ({ sandbox }) => {
  // A client that has confused its fields sends a key as a text that is returned.
  const reference = sandbox.description.accounts[0]?.key;
  const { purchase } = await sandbox.given.purchase({ state: "active", ...(reference && { reference }) });
  await sandbox.wallets.buyer.approve(purchase);
  await sandbox.wallets.buyer.pay(purchase, 1n);
  const read = await sandbox.client.GET("/v1/routing/programs/{program}/purchases/{id}", {
    params: { path: { program: purchase.program, id: purchase.id } },
  });
  expect(unwrap(read).figures.paid).toBe(purchase.amount);
});

test("missing enrollment", async ({ sandbox }) => {
  const { merchant } = await sandbox.given.merchant({ state: "pending" });
  const answer = await sandbox.client.POST("/v1/routing/programs/{program}/purchases", {
    params: { path: { program: merchant.program }, header: { "Idempotency-Key": "a-key-of-the-suite" } },
    body: {
      merchant_id: merchant.id,
      buyer: sandbox.wallets.buyer.address,
      amount: "1000000",
      terms: {},
    },
  });
  unwrap(answer);
});

test("reverted refund", async ({ sandbox }) => {
  const { purchase, merchant, decision } = await sandbox.given.purchase({ state: "approved" });
  await sandbox.wallets.merchant.fund(merchant, 1n);
  const answer = await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", {
    params: keyed(purchase),
    body: { decision_id: decision?.id ?? "" },
  });
  unwrap(answer);
});

test("bad webhook signature", async ({ sandbox }) => {
  await sandbox.given.merchant({ state: "pending" });
  const response = await fetch(`${sandbox.description.urls.api}/v1/routing/notification-receiver`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "webhook-id": "evt_aaaaaaaaaaaaaaaaaaaa",
      "webhook-timestamp": "1767225600",
      "webhook-signature": "v1,AAAA",
    },
    body: "{}",
  });
  expect(response.status).toBe(200);
});

test("timeout", { timeout: 1_000 }, async ({ sandbox }) => {
  await sandbox.faults.set("slow", { operation: "createMerchant", delay_ms: 60_000 });
  await sandbox.given.merchant({ state: "pending" });
  await setTimeout(60_000);
});

test("unhandled rejection", async ({ sandbox }) => {
  await sandbox.given.merchant({ state: "pending" });
  void Promise.reject(new Error("no test awaits the refund"));
  await setTimeout(1);
});

test("wrong chain state", async ({ sandbox }) => {
  const { purchase } = await sandbox.given.purchase({ state: "paid" });
  const { transaction_hash } = await sandbox.wallets.buyer.pay(purchase, 1n);
  const { status } = await sandbox.chain.client.getTransactionReceipt({ hash: transaction_hash });
  expect(status).toBe("success");
});
