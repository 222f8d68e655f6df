import { concat, type Hex } from "viem";
import { expect, test } from "vitest";
import { payBatchCall } from "../../../protocol/call.ts";
import { problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

const reason = "Arrived broken.";
/** Answers the magic value to whatever it is called with (ERC-1271). */
const sayYes: Hex = "0x631626ba7e60e01b60005260206000f3";
const contract: Hex = `0x${"c0de".repeat(10)}`;

let kit: TestKit;
let merchant: Schema<"Merchant">;

resetBeforeEach(async () => {
  kit = await TestKit.open({ seed: "delegated wallets" });
  merchant = await kit.enrolledMerchant();
  return kit;
});

/** Refuses whatever it is called with. */
const refuseAll: Hex = "0x5f5ffd";

/** Has wallets delegate to code (EIP-7702). */
async function delegate(code: Hex, ...wallets: string[]): Promise<void> {
  const { client } = kit.sandbox.chain;
  await client.setCode({ address: contract, bytecode: code });
  for (const wallet of wallets)
    await client.setCode({
      address: kit.wallet(wallet).address,
      bytecode: concat(["0xef0100", contract]),
    });
}

async function submit(type: "merchant" | "purchase", id: string, body: object): Promise<void> {
  const answer = await kit.post(`/wallet/${kit.program}/${type}/${id}`, body);
  expect(answer.status, answer.text).toBe(200);
}

test("every step of wallets that delegate to code is offered and accepted, without their code being asked", async () => {
  await delegate(refuseAll, "stranger", "buyer", "beneficiary", "merchant");

  const { id, enrollment } = await kit.createMerchant(undefined, "stranger");
  const shop = kit.wallet("stranger");
  const enrolled = await kit.act("stranger", "merchant", id, "enroll");
  const signature = await shop.signMessage(enrollment.message);
  await submit("merchant", id, { action: "enroll", transaction_hash: enrolled, signature });
  const confirmed = await kit.post(kit.path(`/merchants/${id}/enrollment`), {});
  expect(confirmed.status, confirmed.text).toBe(200);
  const funded = await kit.act("stranger", "merchant", id, "fund");
  await submit("merchant", id, { action: "fund", transaction_hash: funded });

  const purchase = await kit.createPurchase({ id });
  const registered = await kit.act("stranger", "purchase", purchase.id, "register");
  await submit("purchase", purchase.id, { action: "register", transaction_hash: registered });
  const registration = await kit.post(kit.path(`/purchases/${purchase.id}/registration`), {});
  expect(registration.status, registration.text).toBe(200);

  const approved = await kit.act("buyer", "purchase", purchase.id, "approve");
  await submit("purchase", purchase.id, { action: "approve", transaction_hash: approved });
  const paid = await kit.act("buyer", "purchase", purchase.id, "pay");
  await submit("purchase", purchase.id, { action: "pay", transaction_hash: paid });
  const { purchase: reconciled } = await kit.reconcile(purchase);
  expect(reconciled.payment_status).toBe("paid");

  const claim = await kit.claim(purchase);
  const decision = await kit.decide(reconciled, claim);
  const refund = await kit.requestRefund({ purchase, decision });
  expect(refund.status, refund.text).toBe(201);
});

test("a batch that a delegating buyer pays is recorded for each of its purchases", async () => {
  await delegate(refuseAll, "buyer");
  const [one, two] = [await kit.activePurchase(merchant), await kit.activePurchase(merchant)];
  await kit.act("buyer", "purchase", one.id, "approve", { amount: "3000000" });
  const ids = [one, two].map(({ commitment }): Hex => `0x${commitment.hash.slice(2)}`);
  const { to, data } = payBatchCall(kit.sandbox.chain.deployment.registrar.address, ids, [
    1_000_000n,
    2_000_000n,
  ]);
  await kit.wallet("buyer").send({ to, data });
  const { affected_purchases: affected } = await kit.reconcile(one);
  expect(affected).toEqual([one.id, two.id]);
});

test("a delegating beneficiary's own signature is recorded before its claim is sent, and no signature that only its code accepts", async () => {
  const purchase = await kit.paidPurchase(merchant);
  const { sign } = await kit.action("purchase", purchase.id, "claim", { amount: "7", reason });
  if (sign?.method !== "eth_signTypedData_v4") throw new Error("No claim is offered.");
  await delegate(sayYes, "beneficiary");
  const digest = await kit.digest();
  for (const signature of ["0x01", await kit.wallet("stranger").signTypedData(sign.typed_data)]) {
    const claim = { action: "claim", signature, amount: "7", reason };
    const answer = await kit.post(`/wallet/${kit.program}/purchase/${purchase.id}`, claim);
    expect(problem(answer)).toMatchObject({
      code: "binding_mismatch",
      binding: { checks: [{ name: "purchase" }] },
    });
  }
  expect(await kit.digest()).toBe(digest);
  const signature = await kit.wallet("beneficiary").signTypedData(sign.typed_data);
  await submit("purchase", purchase.id, { action: "claim", signature, amount: "7", reason });
});

test("a signature of another account is refused as such while the wallet delegates to code", async () => {
  const purchase = await kit.paidPurchase(merchant);
  await delegate(refuseAll, "beneficiary");
  const { sign } = await kit.action("purchase", purchase.id, "claim", { amount: "10000000", reason });
  if (sign?.method !== "eth_signTypedData_v4") throw new Error("No claim is offered.");
  const signature = await kit.wallet("buyer").signTypedData(sign.typed_data);
  const body = await kit.claimBody(purchase);
  const path = kit.path(`/purchases/${purchase.id}/claims`);
  expect(problem(await kit.post(path, { ...body, signature }))).toMatchObject({
    code: "signer_mismatch",
    actual_signer: kit.wallet("buyer").address,
    expected_signer: kit.wallet("beneficiary").address,
  });
  expect((await kit.post(path, body)).status).toBe(201);
});

test("a delegating buyer is asked for no permit, and a payment under one that it sends itself is recorded", async () => {
  const purchase = await kit.activePurchase(merchant);
  const amount = "4000000";
  const before = await kit.action("purchase", purchase.id, "pay_with_permit", { amount });
  if (before.sign?.method !== "eth_signTypedData_v4") throw new Error("No permit is asked for.");
  const signature = await kit.wallet("buyer").signTypedData(before.sign.typed_data);
  const permit = { action: "pay_with_permit", signature, amount };
  await submit("purchase", purchase.id, permit);
  const { transaction } = await kit.action("purchase", purchase.id, "pay_with_permit", { amount });
  if (transaction === undefined) throw new Error("A permit that was submitted has a transaction.");

  await delegate(refuseAll, "buyer");
  const why =
    "The buyer delegates to code (EIP-7702), and the token asks that code, not the buyer's key, whether a permit is valid. Let the buyer approve the payment and pay.";
  const offered = await kit.action("purchase", purchase.id, "pay_with_permit", { amount: "5000000" });
  expect(offered).toMatchObject({ allowed: false, why_not: why });
  const refused = await kit.post(`/wallet/${kit.program}/purchase/${purchase.id}`, {
    ...permit,
    amount: "5000000",
  });
  expect(problem(refused)).toMatchObject({ code: "binding_mismatch", detail: why });

  const reverted = await kit.wallet("buyer").send(transaction);
  const judged = await kit.post(kit.path(`/purchases/${purchase.id}/reconcile`), {
    transaction_hashes: [reverted.transaction_hash],
  });
  expect(problem(judged)).toMatchObject({
    code: "transaction_reverted",
    detail:
      "The transaction of the payment reverted: the token refuses the permit: the code that the buyer delegates to refuses its signature (isValidSignature, ERC-1271). " +
      "Let the buyer approve the payment and pay, then send a new transaction.",
  });

  await delegate(sayYes, "buyer");
  const { transaction_hash: paid } = await kit.wallet("buyer").send(transaction);
  const { applied } = await kit.reconcile(purchase);
  expect(applied).toMatchObject([{ transaction_hash: paid, amount }]);
});

test("explain accepts the payment of a delegating buyer, before and after it is sent", async () => {
  const purchase = await kit.activePurchase(merchant);
  await kit.act("buyer", "purchase", purchase.id, "approve");
  await delegate(refuseAll, "buyer");
  const { transaction } = await kit.action("purchase", purchase.id, "pay");
  if (transaction === undefined) throw new Error("No payment is offered.");
  const { to, data } = transaction;
  const from = kit.wallet("buyer").address;
  expect(await kit.sandbox.explain({ call: { from, to, data } })).toMatchObject({ accepted: true });
  const { transaction_hash: hash } = await kit.wallet("buyer").send(transaction);
  expect(await kit.sandbox.explain(hash)).toMatchObject({ accepted: true });
});
