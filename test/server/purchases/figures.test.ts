import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { payCall } from "../../../protocol/call.ts";
import { present, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;

resetBeforeEach(async () => {
  kit = await TestKit.shared();
  merchant = await kit.enrolledMerchant();
  return kit;
});

/** A purchase with a deadline each hundred seconds from now. */
async function create(): Promise<Schema<"Purchase">> {
  const now = await kit.sandbox.clock.now();
  return await kit.createPurchase(merchant, {
    offer_deadline: now + 100,
    pay_deadline: now + 200,
    claim_deadline: now + 300,
  });
}

/** Whether a purchase is expired at a time. */
async function expiredAt(purchase: Schema<"Purchase">, time: number): Promise<boolean> {
  if ((await kit.sandbox.clock.now()) < time) await kit.sandbox.clock.travelTo(time);
  const { expired, figures } = await kit.readPurchase(purchase);
  expect(Date.parse(figures.as_of.timestamp) / 1000).toBe(time);
  return expired;
}

describe("a purchase is expired", () => {
  test("once the next block is after its offer deadline while it is not on chain, as an activation is refused", async () => {
    const purchase = await create();
    const { offer_deadline, pay_deadline } = purchase.deadlines;
    expect(await expiredAt(purchase, offer_deadline - 1)).toBe(false);
    expect(await expiredAt(purchase, offer_deadline)).toBe(true);
    expect(problem(await kit.requestActivation(purchase)).code).toBe("deadline_passed");
    expect(await expiredAt(purchase, pay_deadline + 1)).toBe(true);
  });

  test("once the next block is after its pay deadline while it is on chain and unpaid, even if its registration is not confirmed", async () => {
    const activated = await kit.activate(await create());
    const registered = await create();
    await kit.act("merchant", "purchase", registered.id, "register");
    const { offer_deadline, pay_deadline } = activated.deadlines;
    const later = registered.deadlines;
    expect(later.pay_deadline).toBeGreaterThan(pay_deadline);
    expect(await expiredAt(activated, offer_deadline + 1)).toBe(false);
    expect(await expiredAt(registered, later.offer_deadline)).toBe(false);
    expect(await expiredAt(activated, pay_deadline - 1)).toBe(false);
    expect(await expiredAt(activated, pay_deadline)).toBe(true);
    expect(await expiredAt(registered, later.pay_deadline)).toBe(true);
  });

  test("in live mode as the clock moves, without a block", { tags: "thorough" }, async () => {
    await using live = await TestKit.open({ seed: "live figures", mode: "live" });
    const seller = await live.enrolledMerchant();
    const soon = (await live.sandbox.clock.now()) + 2;
    const times = { offer_deadline: soon, pay_deadline: soon, claim_deadline: soon };
    const purchase = await live.createPurchase(seller, times);
    const { number } = await live.sandbox.chain.client.getBlock();
    await expect.poll(async () => (await live.readPurchase(purchase)).expired).toBe(true);
    expect((await live.sandbox.chain.client.getBlock()).number).toBe(number);
  });

  test("never once a part of it is paid", async () => {
    const purchase = await kit.activate(await create());
    await kit.act("buyer", "purchase", purchase.id, "approve", { amount: "1" });
    await kit.act("buyer", "purchase", purchase.id, "pay", { amount: "1" });
    const { pay_deadline, claim_deadline } = purchase.deadlines;
    expect(await expiredAt(purchase, pay_deadline + 1)).toBe(false);
    expect(await expiredAt(purchase, claim_deadline + 1)).toBe(false);
  });
});

/** Sends payments of the buyer's, all of them in one block or each in its own. */
async function sendPayments(
  { commitment }: Schema<"Purchase">,
  amounts: readonly bigint[],
  blocks: "one block" | "a block each",
): Promise<Hex[]> {
  const { client } = kit.sandbox.chain;
  const { registrar } = kit.sandbox.description.contracts;
  await client.setAutomine(false);
  const hashes: Hex[] = [];
  for (const amount of amounts) {
    hashes.push(await kit.wallet("buyer").submit(payCall(registrar, commitment.hash, amount)));
    if (blocks === "a block each") await client.mine({ blocks: 1 });
  }
  if (blocks === "one block") await client.mine({ blocks: 1 });
  await client.setAutomine(true);
  return hashes;
}

test("the figures of a purchase follow every payment, and reconciled what was recorded of them", async () => {
  const purchase = await kit.activePurchase(merchant);
  const figures = async () => {
    const { payment_status, figures: shown } = await kit.readPurchase(purchase);
    const { approved, paid, outstanding, reconciled, refunded } = shown;
    return [payment_status, approved, paid, outstanding, reconciled, refunded];
  };
  expect(await figures()).toEqual(["unpaid", "0", "0", "25000000", "0", "0"]);
  await kit.act("buyer", "purchase", purchase.id, "approve");
  expect(await figures()).toEqual(["unpaid", "25000000", "0", "25000000", "0", "0"]);
  await kit.act("buyer", "purchase", purchase.id, "pay", { amount: "24999999" });
  expect(await figures()).toEqual(["partially_paid", "1", "24999999", "1", "0", "0"]);
  await kit.reconcile(purchase);
  expect(await figures()).toEqual(["partially_paid", "1", "24999999", "1", "24999999", "0"]);
  await kit.act("buyer", "purchase", purchase.id, "pay");
  expect(await figures()).toEqual(["paid", "0", "25000000", "0", "24999999", "0"]);
  await kit.reconcile(purchase);
  expect(await figures()).toEqual(["paid", "0", "25000000", "0", "25000000", "0"]);
});

test("a reconciliation of nothing new answers with the existing records, writes nothing and causes no event", async () => {
  const purchase = await kit.activePurchase(merchant);
  const hash = await kit.pay(purchase);
  const first = await kit.reconcile(purchase);
  expect(first).toMatchObject({ applied: [{ transaction_hash: hash }], already_reconciled: [] });
  const events = async () =>
    (await kit.sandbox.store.list("events", { subject: purchase.id })).map(({ value }) => value.id);
  expect((await events()).at(-1)).toBe(first.event_id);
  const before = await events();
  const second = await kit.reconcile(purchase);
  expect(second).toMatchObject({
    applied: [],
    already_reconciled: first.applied,
    reverted: [],
    affected_purchases: [purchase.id],
    event_id: null,
  });
  expect(second.purchase).toEqual(first.purchase);
  expect(await events()).toEqual(before);
});

test.each([
  ["one block", 0],
  ["one block", 1],
  ["a block each", 0],
  ["a block each", 1],
] as const)(
  "of two payments in %s, number %i alone is recorded when it alone is reconciled",
  async (blocks, index) => {
    const purchase = await kit.activePurchase(merchant);
    await kit.act("buyer", "purchase", purchase.id, "approve");
    const hashes = await sendPayments(purchase, [2_000_000n, 3_000_000n], blocks);
    const hash = hashes[index];
    if (hash === undefined) throw new Error("There are two payments.");
    const { applied } = present(
      await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
        params: kit.write(purchase.id),
        body: { transaction_hashes: [hash] },
      }),
    );
    expect(applied.map(({ transaction_hash }) => transaction_hash)).toEqual([hash]);
    const { receipts, figures } = await kit.readPurchase(purchase);
    expect(
      receipts.map(({ transaction_hash, amount, paid_total }) => [transaction_hash, amount, paid_total]),
    ).toEqual([
      [hashes[0], "2000000", "2000000"],
      [hashes[1], "3000000", "5000000"],
    ]);
    expect(receipts.map(({ reconciled_at }) => reconciled_at !== null)).toEqual([index === 0, index === 1]);
    expect(new Set(receipts.map(({ block_hash }) => block_hash)).size).toBe(blocks === "one block" ? 1 : 2);
    expect(new Set(receipts.map(({ log_index }) => log_index)).size).toBe(blocks === "one block" ? 2 : 1);
    expect(figures.reconciled).toBe(index === 0 ? "2000000" : "3000000");
  },
);
