import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { claimCall } from "../../../protocol/call.ts";
import { toTimestamp } from "../../../protocol/time.ts";
import { type Answer, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

type Approved = Awaited<ReturnType<TestKit["approvedPurchase"]>>;

let kit: TestKit;
let merchant: Schema<"Merchant">;

const other: Hex = `0x${"0c".repeat(32)}`;

resetBeforeEach(async () => {
  kit = await TestKit.open({ seed: "moved claims", receiptTimeoutMs: 30_000 });
  merchant = await kit.fundedMerchant();
  return kit;
});

/** Has the beneficiary file a claim hash on chain, without the service. */
async function fileOnChain(purchase: Schema<"Purchase">, hash: Hex): Promise<void> {
  const call = claimCall(kit.sandbox.chain.deployment.registrar.address, purchase.commitment.hash, hash);
  expect((await kit.wallet("beneficiary").send(call)).status).toBe("success");
}

/** The program's relay operations of refunds. */
async function collections() {
  return (await kit.relayOperations()).filter(({ kind }) => kind === "collect_refund");
}

describe("a refund is collected only for the claim that was decided:", () => {
  const refused = ({ claim, decision }: Approved) => ({
    code: "binding_mismatch",
    retryable: false,
    detail:
      `The decision ${decision.id} is on the claim ${claim.claim_hash}, and the chain has the claim ${other} of this purchase. ` +
      "The contract takes no second claim, so settle the award outside of this service.",
    binding: {
      accepted: false,
      checks: [{ name: "purchase", ok: false, expected: claim.claim_hash, actual: other }],
    },
  });

  test("another claim that the chain has after a reorg is refused before anything is relayed", async () => {
    const approved = await kit.approvedPurchase(merchant);
    await kit.reorg(1);
    await fileOnChain(approved.purchase, other);
    const before = await kit.digest();
    const answer = await kit.requestRefund(approved);
    expect(answer.status, answer.text).toBe(422);
    expect(problem(answer)).toMatchObject(refused(approved));
    expect(await collections()).toEqual([]);
    expect(await kit.readPurchase(approved.purchase)).toMatchObject({
      status: "approved",
      refund: null,
      figures: { refunded: "0" },
    });
    expect(await kit.digest()).toBe(before);
  });

  test("so is one that the chain has before a collection that was begun is signed", async () => {
    const approved = await kit.approvedPurchase(merchant);
    kit.sandbox.relayer.fault({ point: "after_intent", action: "hold" });
    expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
    await kit.reorg(1);
    await fileOnChain(approved.purchase, other);
    const answer = await kit.requestRefund(approved, "first-key");
    expect(answer.status, answer.text).toBe(422);
    expect(problem(answer)).toMatchObject(refused(approved));
    expect(await collections()).toMatchObject([{ status: "accepted", nonce: null, hash: null }]);
    expect(await kit.readPurchase(approved.purchase)).toMatchObject({ figures: { refunded: "0" } });
  });

  test("a collection that was mined behind another claim is recorded, names the claim that the chain has paid, and is answered the same again", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const { client, deployment } = kit.sandbox.chain;
    const call = claimCall(deployment.registrar.address, approved.purchase.commitment.hash, other);
    const { address } = kit.wallet("beneficiary");
    const nonce = (await client.getTransactionCount({ address })) - 1;
    const behindIt = await kit.behind(
      async () => [],
      async () => await kit.requestRefund(approved, "first-key"),
      async () => {
        await kit.reorg(1, [[await kit.sign("beneficiary", call, nonce), 0]]);
        await client.mine({ blocks: 1 });
      },
    );
    for (const answer of [behindIt, await kit.requestRefund(approved, "first-key")]) {
      expect(answer.status, answer.text).toBe(201);
      expect(JSON.parse(answer.text)).toMatchObject({ refund: { status: "collected", claim_hash: other } });
    }
    expect(await kit.readPurchase(approved.purchase)).toMatchObject({
      status: "refunded",
      figures: { refunded: "10000000" },
      claim: { claim_hash: approved.claim.claim_hash },
      refund: { status: "collected", claim_hash: other },
    });
    const path = kit.path(`/purchases/${approved.purchase.id}/reconcile`);
    const reused = await kit.post(path, {}, { "Idempotency-Key": "first-key" });
    expect([reused.status, problem(reused).code]).toEqual([422, "idempotency_key_reused"]);
    expect(await collections()).toMatchObject([{ status: "confirmed", attempt: 1 }]);
  });

  test("the same claim that a new transaction has filed again is refunded", async () => {
    const approved = await kit.approvedPurchase(merchant);
    await kit.reorg(1);
    await fileOnChain(approved.purchase, `0x${approved.claim.claim_hash.slice(2)}`);
    const answer = await kit.requestRefund(approved);
    expect(answer.status, answer.text).toBe(201);
    expect(await kit.readPurchase(approved.purchase)).toMatchObject({ status: "refunded" });
  });
});

describe("a filed claim that a reorg has removed", () => {
  /** Has the beneficiary send something else first, so that its claim is another transaction than before. */
  async function spendNonce(): Promise<void> {
    const { address } = kit.wallet("beneficiary");
    expect((await kit.wallet("beneficiary").send({ to: address, data: "0x" })).status).toBe("success");
  }

  /** Sends again what the wallet route offers, and submits it. */
  async function claimAgain({ id }: Schema<"Purchase">): Promise<Answer> {
    const transaction_hash = await kit.act("beneficiary", "purchase", id, "claim");
    const path = `/wallet/${kit.program}/purchase/${id}`;
    return await kit.post(path, { action: "claim", transaction_hash });
  }

  test("is offered by the wallet route as it was filed, and refunded once it was sent again", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const { purchase, claim } = approved;
    await kit.reorg(1);
    const refused = await kit.requestRefund(approved);
    expect(problem(refused)).toMatchObject({
      code: "transaction_reverted",
      retryable: true,
      detail:
        "The collection was not sent: the chain has no claim of this purchase any more. " +
        "Let the beneficiary send its claim again, then send the identical request again.",
    });
    const offered = await kit.action("purchase", purchase.id, "claim");
    expect(offered).toMatchObject({
      allowed: true,
      why_not: null,
      amount: "10000000",
      reason: "Arrived broken.",
      transaction: { args: { claimHash: claim.claim_hash } },
    });
    expect(offered.sign).toBeUndefined();
    await spendNonce();
    const submitted = await claimAgain(purchase);
    expect(submitted.status, submitted.text).toBe(200);
    expect(JSON.parse(submitted.text)).toMatchObject({ submission: { amount: "10000000" } });
    expect(await kit.action("purchase", purchase.id, "claim")).toMatchObject({
      allowed: false,
      why_not:
        "The transaction would revert: The purchase is claimed already. " +
        "Operation 11 would refuse it: A purchase that is approved does not allow claims.",
    });
    const done = await kit.requestRefund(approved);
    expect(done.status, done.text).toBe(201);
  });

  test("is not offered with other terms", async () => {
    const { purchase } = await kit.approvedPurchase(merchant);
    await kit.reorg(1);
    const whyNot =
      'Operation 13 would refuse it: The claim that was filed is of 10000000 base units, with the reason "Arrived broken.".';
    for (const other of [{ amount: "9999999" }, { reason: "Arrived late." }])
      expect(await kit.action("purchase", purchase.id, "claim", other)).toMatchObject({
        allowed: false,
        why_not: whyNot,
      });
    const call = claimCall(kit.sandbox.chain.deployment.registrar.address, purchase.commitment.hash, other);
    const { transactionHash } = await kit.wallet("beneficiary").send(call);
    const submitted = await kit.post(`/wallet/${kit.program}/purchase/${purchase.id}`, {
      action: "claim",
      transaction_hash: transactionHash,
    });
    expect([submitted.status, problem(submitted).code]).toEqual([422, "binding_mismatch"]);
  });

  test("is not replaced by another claim that the beneficiary has sent, whose terms are right", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const terms = { amount: "9999999", reason: "Arrived broken." };
    const { transaction } = await kit.action("purchase", purchase.id, "claim", terms);
    if (transaction === undefined) throw new Error("A claim is offered.");
    await kit.decide(purchase, await kit.claim(purchase));
    await kit.reorg(1);
    const { transactionHash } = await kit.wallet("beneficiary").send(transaction);
    const submission = { action: "claim", transaction_hash: transactionHash, ...terms };
    const answer = await kit.post(`/wallet/${kit.program}/purchase/${purchase.id}`, submission);
    expect(answer.status, answer.text).toBe(409);
    expect(problem(answer)).toMatchObject({
      code: "state_conflict",
      detail: "A purchase that is approved does not allow claims.",
    });
  });

  test("is decided once it was sent again", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const claim = await kit.claim(purchase);
    await kit.reorg(1);
    await spendNonce();
    expect(await kit.action("purchase", purchase.id, "claim")).toMatchObject({ allowed: true });
    const decide = async () =>
      await kit.post(kit.path(`/purchases/${purchase.id}/decisions`), kit.decision(purchase, claim));
    const missing = await decide();
    expect([missing.status, problem(missing).code]).toEqual([409, "transaction_not_found"]);
    expect((await claimAgain(purchase)).status).toBe(200);
    const decided = await decide();
    expect(decided.status, decided.text).toBe(201);
    const done = await kit.requestRefund({ purchase, decision: JSON.parse(decided.text) });
    expect(done.status, done.text).toBe(201);
  });

  test("is not sent again after its deadline, so that no repeat of the refund succeeds", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const { claim_deadline } = approved.purchase.deadlines;
    await kit.reorg(1);
    await kit.sandbox.clock.travelTo(claim_deadline);
    await kit.renew();
    expect(problem(await kit.requestRefund(approved))).toMatchObject({
      code: "transaction_reverted",
      retryable: false,
      detail: `The collection was not sent: the chain has no claim of this purchase any more, and the deadline for another was ${toTimestamp(claim_deadline)}. No repeat of this request succeeds.`,
    });
  });
});

test("a claim whose payment a reorg has removed is not advised after the payment deadline", async () => {
  const approved = await kit.approvedPurchase(merchant);
  await kit.reorg(2);
  const { pay_deadline } = approved.purchase.deadlines;
  await kit.sandbox.clock.travelTo(pay_deadline);
  await kit.renew();
  const end = toTimestamp(pay_deadline);
  expect(await kit.action("purchase", approved.purchase.id, "claim")).toMatchObject({
    allowed: false,
    why_not: `The transaction would revert: Nothing has been paid, and the deadline for that was ${end}.`,
  });
  expect(problem(await kit.requestRefund(approved))).toMatchObject({
    code: "transaction_reverted",
    retryable: false,
    detail:
      "The collection was not sent: the chain has no claim of this purchase any more, and payments of 0 in all, " +
      `and the deadline for another payment was ${end}. No repeat of this request succeeds.`,
  });
});

describe("a refund for which a reorg has removed a payment", () => {
  /** A purchase paid in two parts, with an award above the first, whose second part and claim have left the chain. */
  async function shortOf() {
    const purchase = await kit.activePurchase(merchant);
    const { buyer } = kit.sandbox.wallets;
    await buyer.approve(purchase);
    await buyer.pay(purchase, 5_000_000n);
    await buyer.pay(purchase, 20_000_000n);
    const paid = (await kit.reconcile(purchase)).purchase;
    const claim = await kit.claim(paid);
    const decision = await kit.decide(paid, claim);
    await kit.reorg(2);
    return { purchase: paid, claim, decision };
  }

  const missing =
    "The collection was not sent: the award is 10000000, and the chain has payments of 5000000 in all, because a reorg has removed one";

  test("says that it is missing, and is collected once the buyer has paid again over the wallet route", async () => {
    const approved = await shortOf();
    await kit.act("beneficiary", "purchase", approved.purchase.id, "claim");
    expect(problem(await kit.requestRefund(approved))).toMatchObject({
      code: "transaction_reverted",
      retryable: true,
      detail: `${missing}. Let the buyer send the missing payment again, then send the identical request again.`,
      revert: { name: "AmountOutOfRange" },
    });
    await kit.act("buyer", "purchase", approved.purchase.id, "pay");
    const done = await kit.requestRefund(approved);
    expect(done.status, done.text).toBe(201);
  });

  test("says so when the claim is gone too, and who sends what again", async () => {
    const approved = await shortOf();
    expect(problem(await kit.requestRefund(approved))).toMatchObject({
      code: "transaction_reverted",
      retryable: true,
      detail:
        "The collection was not sent: the chain has no claim of this purchase any more, and payments of 5000000 in all. " +
        "Let the buyer send the missing payment again and, after it, the beneficiary its claim, then send the identical request again.",
    });
    const { pay_deadline } = approved.purchase.deadlines;
    await kit.sandbox.clock.travelTo(pay_deadline);
    await kit.renew();
    expect(problem(await kit.requestRefund(approved))).toMatchObject({
      code: "transaction_reverted",
      retryable: false,
      detail:
        "The collection was not sent: the chain has no claim of this purchase any more, and payments of 5000000 in all, " +
        `and the deadline for another payment was ${toTimestamp(pay_deadline)}. No repeat of this request succeeds.`,
    });
  });

  test("cannot be collected any more after the payment deadline", async () => {
    const approved = await shortOf();
    await kit.act("beneficiary", "purchase", approved.purchase.id, "claim");
    const { pay_deadline } = approved.purchase.deadlines;
    await kit.sandbox.clock.travelTo(pay_deadline);
    await kit.renew();
    expect(problem(await kit.requestRefund(approved))).toMatchObject({
      retryable: false,
      detail: `${missing}, and the deadline for another was ${toTimestamp(pay_deadline)}. No repeat of this request succeeds.`,
    });
  });
});
