import { expect, test } from "vitest";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import { type Answer, present, type Schema } from "../kit/answer.ts";
import { resetBeforeEach } from "../kit/reset-before-each.ts";
import { TestKit } from "../kit/test-kit.ts";

// Each value is in its own field: no two of an object are equal here.

let kit: TestKit;

resetBeforeEach(async () => {
  kit = await TestKit.open({ seed: "values" });
  return kit;
});

/** Lets some time pass, so that what is done next has a time of its own. */
async function wait(): Promise<void> {
  await kit.sandbox.clock.travel(10);
}

async function now(): Promise<string> {
  return toTimestamp(await kit.sandbox.clock.now());
}

function read({ status, text }: Answer) {
  expect(status, text).toBeLessThan(300);
  return JSON.parse(text);
}

test("a merchant has its name, wallet and reference, and the times of its creation and its enrollment", async () => {
  const { address: wallet } = kit.wallet("merchant");
  const sent = { wallet, name: "Corner Books", reference: "shop-7" };
  const created = present(
    await kit.api.POST("/v1/routing/programs/{program}/merchants", {
      params: kit.write(),
      body: { ...sent, funding_cap: "1000000000" },
    }),
  );
  const created_at = await now();
  expect(created).toMatchObject({ ...sent, status: "pending", enrollment: { confirmed: null }, created_at });
  await wait();
  const { body } = await kit.sandbox.wallets.merchant.enroll(created);
  await wait();
  const enrolled = read(await kit.post(kit.path(`/merchants/${created.id}/enrollment`), body));
  const confirmed = { ...body, confirmed_at: await now() };
  expect(enrolled).toMatchObject({ ...sent, status: "enrolled", enrollment: { confirmed }, created_at });
});

test("a purchase has its parties, deadlines, terms and reference, and each payment receipt the values of its log", async () => {
  const merchant = await kit.enrolledMerchant();
  const { buyer, beneficiary } = kit.sandbox.wallets;
  const start = await kit.sandbox.clock.now();
  const deadlines = { offer_deadline: start + 100, pay_deadline: start + 200, claim_deadline: start + 300 };
  const sent = { amount: "25000000", terms: { sku: "course-42" }, reference: "order-1001" };
  const parties = { buyer: buyer.address, beneficiary: beneficiary.address };
  const created = await kit.createPurchase(merchant, { ...sent, ...parties, ...deadlines });
  const values = { ...sent, ...parties, deadlines, merchant_id: merchant.id, created_at: await now() };
  expect(created).toMatchObject(values);
  await kit.activate(created);
  await buyer.approve(created);
  await buyer.pay(created, 3_000_000n);
  const { receipt } = await buyer.pay(created, 4_000_000n);
  await wait();
  const registrar = kit.sandbox.chain.deployment.registrar.address.toLowerCase();
  const log = receipt.logs.find(({ address }) => address === registrar);
  const { receipts } = (await kit.reconcile(created)).purchase;
  expect(receipts[1]).toEqual({
    transaction_hash: receipt.transactionHash,
    log_index: log?.logIndex,
    block_number: Number(receipt.blockNumber),
    block_hash: receipt.blockHash,
    payer: buyer.address,
    amount: "4000000",
    paid_total: "7000000",
    reconciled_at: await now(),
  });
  expect(await kit.readPurchase(created)).toMatchObject({ ...values, receipts });
});

/** Reads the claim hash of a purchase on the chain. */
async function claimHashOf({ commitment }: Schema<"Purchase">): Promise<string> {
  const { client, deployment } = kit.sandbox.chain;
  const registrar = { address: deployment.registrar.address, abi: purchaseRegistrarAbi } as const;
  const id = `0x${commitment.hash.slice(2)}` as const;
  return (await client.readContract({ ...registrar, functionName: "figures", args: [id] })).claimHash;
}

test("a claim, its decision and its refund have their amounts, hashes, parties and times", async () => {
  const purchase = await kit.paidPurchase(await kit.fundedMerchant());
  const { merchant, beneficiary } = kit.sandbox.wallets;
  const body = await kit.claimBody(purchase);
  const claim_hash = await claimHashOf(purchase);
  await wait();
  const claim: Schema<"Claim"> = read(await kit.post(kit.path(`/purchases/${purchase.id}/claims`), body));
  const of = { program: kit.program, purchase_id: purchase.id };
  const claimed = { ...of, ...body, beneficiary: beneficiary.address, claim_hash };
  expect(claim).toMatchObject({ ...claimed, created_at: await now() });

  await wait();
  const decided = { award: "7000000", outcome: "approved", decided_at: claim.created_at } as const;
  const decision = await kit.decide(purchase, claim, decided);
  const { key_id: reviewer_key_id } = kit.sandbox.description.reviewer;
  expect(decision).toMatchObject({ ...of, ...decided, claim_id: claim.id, reviewer_key_id });
  expect(decision.created_at).toBe(await now());

  await wait();
  const created_at = await now();
  const executed: Schema<"RefundExecution"> = read(await kit.requestRefund({ purchase, decision }));
  const { refund, operation } = executed;
  expect(refund).toMatchObject({
    ...of,
    decision_id: decision.id,
    award: "7000000",
    from: merchant.address,
    to: beneficiary.address,
    operation_id: operation.operation_id,
    transaction_hash: operation.hash,
    claim_hash,
    created_at,
    // Both are the time of the request; refunds.test.ts has a collection that is recorded later.
    collected_at: created_at,
  });
});

test("a submission of a wallet has its action, amount, reason, transaction and time", async () => {
  const purchase = await kit.paidPurchase();
  const body = await kit.claimBody(purchase);
  await wait();
  const path = `/wallet/${kit.program}/purchase/${purchase.id}`;
  const { transaction_hash, signature, requested_amount: amount, reason } = body;
  const submitted = { action: "claim", transaction_hash, signature, amount, reason };
  read(await kit.post(path, submitted));
  const submitted_at = await now();
  await wait();
  expect(read(await kit.get(path))).toMatchObject({
    subject: {
      id: purchase.id,
      amount: "25000000",
      paid: "25000000",
      outstanding: "0",
      refunded: "0",
      payment_hashes: [expect.stringMatching(/^0x[0-9a-f]{64}$/)],
    },
    submissions: [{ ...submitted, submitted_at }],
  });
});

test("the wallet route of a refunded purchase has what was claimed, awarded and refunded, and the transactions", async () => {
  const { purchase, claim, decision, refund, payments } = await kit.sandbox.given.purchase({
    state: "refunded",
    claimed: "20000000",
    award: "10000000",
  });
  const { subject } = read(await kit.get(new URL(purchase.wallet_url).pathname));
  expect(subject).toMatchObject({
    status: "refunded",
    requested_amount: claim?.requested_amount,
    claim_reason: claim?.reason,
    award: decision?.award,
    refunded: "10000000",
    payment_hashes: payments.map(({ transaction_hash }) => transaction_hash),
    refund_hash: refund?.transaction_hash,
  });
});
