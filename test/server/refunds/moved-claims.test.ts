import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { catchUp } from "../../../sandbox/service/catch-up.ts";
import { type Answer, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";
import {
  type Approved,
  callOfClaim,
  expectOtherClaim,
  expectPaidOther,
  other,
  signOtherClaim,
} from "./other-claim.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;

resetBeforeEach(async () => {
  kit = await TestKit.shared({ receiptTimeoutMs: 30_000 });
  merchant = await kit.fundedMerchant();
  return kit;
});

/** Has the beneficiary file a claim hash on chain, without the service. */
async function fileOnChain(purchase: Schema<"Purchase">, hash: Hex): Promise<void> {
  expect((await kit.wallet("beneficiary").send(callOfClaim(kit, purchase, hash))).receipt.status).toBe(
    "success",
  );
}

describe("a refund is collected only for the claim that was decided:", () => {
  test("another claim that the chain has after a reorg is refused before anything is relayed", async () => {
    const approved = await kit.approvedPurchase(merchant);
    await kit.reorg(1);
    await fileOnChain(approved.purchase, other);
    const before = await kit.digest();
    expectOtherClaim(approved, await kit.requestRefund(approved));
    expect(await kit.collections()).toEqual([]);
    expect(await kit.readPurchase(approved.purchase)).toMatchObject({
      status: "approved",
      refund: null,
      figures: { refunded: "0" },
    });
    expect(await kit.digest()).toBe(before);
  });

  test("so is one that the chain has before a collection that was begun is signed", async () => {
    const approved = await kit.approvedPurchase(merchant);
    await kit.sandbox.faults.set({ layer: "relayer", point: "after_intent", action: "hold" });
    expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
    await kit.reorg(1);
    await fileOnChain(approved.purchase, other);
    expectOtherClaim(approved, await kit.requestRefund(approved, "first-key"));
    expect(await kit.collections()).toMatchObject([{ status: "accepted", nonce: null, hash: null }]);
    expect(await kit.readPurchase(approved.purchase)).toMatchObject({ figures: { refunded: "0" } });
  });

  /** Has another claim filed and paid in place of the decided one, by a reorg that comes behind the node's answer. */
  async function collectBehindOther(approved: Approved): Promise<Answer> {
    const raw = await signOtherClaim(kit, approved);
    return await kit.behind(
      async () => [],
      async () => await kit.requestRefund(approved, "first-key"),
      async () => {
        await kit.reorg(1, [[raw, 0]]);
        await kit.sandbox.chain.client.mine({ blocks: 1 });
      },
    );
  }

  /** Expects the refusal of the transaction that has paid the other claim, with the log of both. */
  function expectPaidBy(approved: Approved, answer: Answer, hash: string | null): void {
    const { claim } = approved;
    expect(expectPaidOther(approved, answer)).toMatchObject([
      {
        name: "log",
        expected: expect.arrayContaining([
          expect.objectContaining({ fields: expect.objectContaining({ claimHash: claim.claim_hash }) }),
        ]),
        actual: expect.arrayContaining([
          expect.objectContaining({ fields: expect.objectContaining({ claimHash: other }) }),
        ]),
      },
    ]);
    expect(problem(answer).transaction_hash).toBe(hash);
  }

  /** Expects all readers of the purchase to show that the other claim was paid. */
  async function expectShown({ purchase, claim }: Approved): Promise<void> {
    const read = await kit.readPurchase(purchase);
    expect(read).toMatchObject({
      status: "refunded",
      figures: { refunded: "10000000" },
      claim: { claim_hash: claim.claim_hash },
      refund: { status: "collected", award: "10000000", claim_hash: other },
    });
    expect(await kit.collections()).toMatchObject([
      {
        status: "confirmed",
        attempt: 1,
        status_reason: "precondition_failed",
        error: {
          code: "precondition_failed",
          message: `the collection has paid the claim ${other}, which is not the decided one`,
        },
        hash: read.refund?.transaction_hash,
      },
    ]);
    const control = async (path: string) =>
      await (await fetch(`${kit.sandbox.description.urls.control}/${path}`)).json();
    const explored = async (list: string) => await control(`explorer/${list}`);
    expect(await explored("purchases")).toMatchObject({
      data: [{ id: purchase.id, status: "refunded", figures: { refunded: "10000000" } }],
    });
    expect(await explored("merchants")).toMatchObject({ data: [{ funding: { collected: "10000000" } }] });
    expect(await explored("operations?status=confirmed")).toMatchObject({
      data: expect.arrayContaining([
        expect.objectContaining({
          kind: "collect_refund",
          status_reason: "precondition_failed",
          error: `the collection has paid the claim ${other}, which is not the decided one`,
        }),
      ]),
    });
    expect(await control(`explain/${read.refund?.transaction_hash}`)).toMatchObject({
      accepted: false,
      cause: `In the log RefundCollected, claimHash is "${other}"; "${claim.claim_hash}" was expected.`,
    });
  }

  test("a collection that was mined behind another claim is refused for good, under every key, and recorded as the chain has it", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const behindIt = await collectBehindOther(approved);
    const [{ hash } = { hash: null }] = await kit.collections();
    expectPaidBy(approved, behindIt, hash);
    await expectShown(approved);
    const again = await kit.requestRefund(approved, "first-key");
    expectPaidBy(approved, again, hash);
    const { request_id: _first, ...first } = problem(behindIt);
    const { request_id: _repeat, ...repeat } = problem(again);
    expect(repeat).toEqual(first);
    expectPaidBy(approved, await kit.requestRefund(approved, "second-key"), hash);
    await expectShown(approved);
    const path = kit.path(`/purchases/${approved.purchase.id}/reconcile`);
    const reused = await kit.post(path, {}, { "Idempotency-Key": "first-key" });
    expect([reused.status, problem(reused).code]).toEqual([422, "idempotency_key_reused"]);
  });

  test("the event of a collection names the claim that the chain has paid, and is written once", async () => {
    const { refund } = JSON.parse((await kit.requestRefund(await kit.approvedPurchase(merchant))).text);
    const approved = await kit.approvedPurchase(merchant);
    await collectBehindOther(approved);
    await kit.requestRefund(approved, "first-key");
    await kit.requestRefund(approved, "second-key");
    const events = await kit.sandbox.store.list("events", { program: kit.program });
    const bodies = events
      .filter(({ value }) => value.type === "refund.collected")
      .map(({ value }) => value.body);
    expect(bodies.map((body) => JSON.parse(body))).toMatchObject([
      { data: { refund_id: refund.id, claim_hash: refund.claim_hash } },
      { data: { purchase_id: approved.purchase.id, claim_hash: other } },
    ]);
  });

  test("nothing that would be refused is offered next, before and after such a collection is refused", async () => {
    const approved = await kit.approvedPurchase(merchant);
    const { relayer, chain } = kit.sandbox;
    const allowed = async () => {
      const path = kit.path(`/purchases/${approved.purchase.id}/registration`);
      return problem(await kit.post(path, {})).allowed;
    };
    expect(await allowed()).toEqual(["reconcile", "refunds"]);
    await collectBehindOther(approved);
    expect(await allowed()).toEqual(["reconcile"]);
    for (const name of ["register", "approve", "pay", "claim", "pay_with_permit"])
      expect(await kit.action("purchase", approved.purchase.id, name)).toMatchObject({ allowed: false });
    await catchUp(relayer, chain.client);
    expect(await allowed()).toEqual(["reconcile"]);
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
    expect((await kit.wallet("beneficiary").send({ to: address, data: "0x" })).receipt.status).toBe(
      "success",
    );
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
    expect(await kit.collections()).toMatchObject([
      { status: "failed", status_reason: "simulation_reverted", nonce: null, reserved_wei: "0" },
    ]);
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
        "POST …/claims would refuse it: A purchase that is approved does not allow claims.",
    });
    const done = await kit.requestRefund(approved);
    expect(done.status, done.text).toBe(201);
  });

  test("takes the refund out of what is offered next, until the claim is on the chain again", async () => {
    const { purchase, claim } = await kit.approvedPurchase(merchant);
    const path = kit.path(`/purchases/${purchase.id}/registration`);
    await kit.reorg(1);
    const without = problem(await kit.post(path, {}));
    expect(without).toMatchObject({ code: "state_conflict", current_state: "approved" });
    expect(without.allowed).toEqual(["reconcile"]);
    await fileOnChain(purchase, `0x${claim.claim_hash.slice(2)}`);
    expect(problem(await kit.post(path, {})).allowed).toEqual(["reconcile", "refunds"]);
  });

  test("is not offered with other terms", async () => {
    const { purchase } = await kit.approvedPurchase(merchant);
    await kit.reorg(1);
    const whyNot =
      'POST …/refunds would refuse it: The claim that was filed is of 10000000 base units, with the reason "Arrived broken.".';
    for (const other of [{ amount: "9999999" }, { reason: "Arrived late." }])
      expect(await kit.action("purchase", purchase.id, "claim", other)).toMatchObject({
        allowed: false,
        why_not: whyNot,
      });
    const { transaction_hash: transactionHash } = await kit
      .wallet("beneficiary")
      .send(callOfClaim(kit, purchase, other));
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
    const { transaction_hash: transactionHash } = await kit.wallet("beneficiary").send(transaction);
    const submission = { action: "claim", transaction_hash: transactionHash, ...terms };
    const answer = await kit.post(`/wallet/${kit.program}/purchase/${purchase.id}`, submission);
    expect(answer.status, answer.text).toBe(409);
    expect(problem(answer)).toMatchObject({
      code: "state_conflict",
      detail: "A purchase that is approved does not allow claims; possible now: reconcile.",
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

test("a claim whose payment a reorg has removed is not advised after the pay deadline", async () => {
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

  test("says if the claim was also removed, and which wallet has to send what again", async () => {
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

  test("can no longer be collected after the pay deadline", async () => {
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
