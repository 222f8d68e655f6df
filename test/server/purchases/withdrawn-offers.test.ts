import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { type Answer, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let purchase: Schema<"Purchase">;

resetBeforeEach(async () => {
  kit = await TestKit.shared({ receiptTimeoutMs: 30_000 });
  purchase = await kit.activePurchase(await kit.fundedMerchant());
  return kit;
});

/** Has the program's admin withdraw the offer as its operator. */
async function withdraw(): Promise<void> {
  const opened = kit.sandbox.chain.deployment.programs.find(({ id }) => id === kit.program);
  if (opened === undefined) throw new Error("The program is deployed.");
  const { deployer } = kit.sandbox.wallets;
  await deployer.setBounds(kit.program, { ...opened, operator: deployer.address });
  const { receipt, call } = await deployer.withdrawOffer(purchase);
  expect([receipt.status, call?.function]).toEqual(["success", "withdrawOffer"]);
  await deployer.setBounds(kit.program, opened);
}

async function submitApproval(transaction_hash: Hex): Promise<Answer> {
  return await kit.post(`/wallet/${kit.program}/purchase/${purchase.id}`, {
    action: "approve",
    transaction_hash,
  });
}

describe("an offer that was withdrawn", () => {
  const whyNot = "The offer was withdrawn: the purchase takes no more payments.";

  test("is shown by its purchase, until a reorg undoes it", async () => {
    expect(await kit.readPurchase(purchase)).toMatchObject({ status: "active", withdrawn: false });
    await withdraw();
    expect(await kit.readPurchase(purchase)).toMatchObject({
      status: "active",
      withdrawn: true,
      expired: false,
    });
    await kit.reorg(2);
    expect(await kit.readPurchase(purchase)).toMatchObject({ withdrawn: false });
  });

  test("is neither to be approved nor to be paid over the wallet route", async () => {
    const approved = await kit.act("buyer", "purchase", purchase.id, "approve");
    await withdraw();
    expect(await kit.action("purchase", purchase.id, "approve")).toMatchObject({
      allowed: false,
      why_not: whyNot,
    });
    expect(await kit.action("purchase", purchase.id, "pay")).toMatchObject({
      allowed: false,
      why_not: "The transaction would revert: The offer of the purchase was withdrawn.",
    });
    const refused = await submitApproval(approved);
    expect(refused.status, refused.text).toBe(409);
    expect(problem(refused)).toMatchObject({ code: "state_conflict", detail: whyNot });
  });
});

test("an offer that was withdrawn after a part was paid takes no payment, and the part can be claimed and refunded", async () => {
  const { buyer } = kit.sandbox.wallets;
  await buyer.approve(purchase);
  await buyer.pay(purchase, 10_000_000n);
  await withdraw();
  const withdrawn = expect.stringMatching(/^WrongStatus\(id 0x\S+, actual 2, expected 1\)$/);
  expect(await buyer.pay(purchase, 1n)).toMatchObject({ receipt: { status: "reverted" }, revert: withdrawn });
  expect(await buyer.pay(purchase, { permit: true, amount: 1n })).toMatchObject({ revert: withdrawn });
  expect(await buyer.payBatch([{ purchase, amount: 1n }])).toMatchObject({ revert: withdrawn });
  for (const name of ["pay", "pay_with_permit"])
    expect(await kit.action("purchase", purchase.id, name, { amount: "1" })).toMatchObject({
      why_not: "The transaction would revert: The offer of the purchase was withdrawn.",
    });
  expect((await kit.reconcile(purchase)).purchase).toMatchObject({
    status: "active",
    payment_status: "partially_paid",
    withdrawn: true,
    expired: false,
  });
  const decision = await kit.decide(purchase, await kit.claim(purchase));
  const done = await kit.requestRefund({ purchase, decision });
  expect(done.status, done.text).toBe(201);
  expect(await kit.readPurchase(purchase)).toMatchObject({ status: "refunded", withdrawn: true });
  const { control } = kit.sandbox.description.urls;
  const shown = await fetch(`${control}/explorer/purchases/${purchase.id}`);
  const { entries } = JSON.parse(await shown.text());
  expect(entries).toContainEqual(
    expect.objectContaining({
      title: "The offer was withdrawn on chain.",
      details: { released: "15000000" },
    }),
  );
});

test("a decision about a payment that a reorg has removed is refused for good once the offer is withdrawn", async () => {
  const { buyer } = kit.sandbox.wallets;
  await buyer.approve(purchase);
  await buyer.pay(purchase, 10_000_000n);
  await kit.reconcile(purchase);
  const claim = await kit.claim(purchase);
  await kit.reorg(2);
  await withdraw();
  const path = kit.path(`/purchases/${purchase.id}/decisions`);
  expect(problem(await kit.post(path, kit.decision(purchase, claim)))).toMatchObject({
    status: 409,
    detail: expect.stringContaining("and the purchase takes no more payments"),
  });
});

test("a purchase that was expired on chain is not to be approved over the wallet route, and is not withdrawn", async () => {
  const approved = await kit.act("buyer", "purchase", purchase.id, "approve");
  await kit.sandbox.clock.travelTo(purchase.deadlines.pay_deadline);
  await kit.renew();
  expect((await kit.sandbox.wallets.stranger.expire(purchase)).receipt.status).toBe("success");
  const refused = await submitApproval(approved);
  expect(refused.status, refused.text).toBe(409);
  expect(problem(refused)).toMatchObject({
    code: "state_conflict",
    detail: "The purchase has expired on chain: it takes no more payments.",
  });
  expect(await kit.readPurchase(purchase)).toMatchObject({ withdrawn: false, expired: true });
});

test("the approval of a purchase that is not on chain or refunded is refused when it is submitted too", async () => {
  const other = await kit.createPurchase({ id: purchase.merchant_id });
  const approved = await kit.act("buyer", "purchase", purchase.id, "approve");
  const submit = async ({ id }: Schema<"Purchase">) =>
    await kit.post(`/wallet/${kit.program}/purchase/${id}`, {
      action: "approve",
      transaction_hash: approved,
    });
  const created = await submit(other);
  expect(created.status, created.text).toBe(409);
  expect(problem(created)).toMatchObject({ detail: "The purchase is not on chain yet." });
  await kit.act("buyer", "purchase", purchase.id, "pay");
  await kit.reconcile(purchase);
  const decision = await kit.decide(purchase, await kit.claim(purchase));
  const done = await kit.post(kit.path(`/purchases/${purchase.id}/refunds`), { decision_id: decision.id });
  expect(done.status, done.text).toBe(201);
  const refunded = await submit(purchase);
  expect(refunded.status, refunded.text).toBe(409);
  expect(problem(refunded)).toMatchObject({
    detail: "The purchase is refunded: it takes no more payments.",
  });
});
