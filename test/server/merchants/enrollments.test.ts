import { describe, expect, test } from "vitest";
import { approveCall } from "../../../protocol/call.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { type Answer, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

type Merchant = Schema<"Merchant">;

let kit: TestKit;
let merchant: Merchant;
let purchase: Schema<"Purchase">;

resetBeforeEach(async () => {
  kit = await TestKit.shared({ receiptTimeoutMs: 30_000 });
  merchant = await kit.enrolledMerchant("1000000000");
  purchase = await kit.createPurchase(merchant);
  return kit;
});

/** Has the wallet revoke an enrollment, and says when that was. */
async function revoke(which: Pick<Merchant, "program" | "id"> = merchant): Promise<string> {
  await kit.sandbox.wallets.merchant.revokeFunding(which);
  return toTimestamp(await kit.sandbox.clock.now());
}

async function create(under: Pick<Merchant, "id"> = merchant, amount = "1000"): Promise<Answer> {
  return await kit.post(kit.path("/purchases"), {
    merchant_id: under.id,
    buyer: kit.wallet("buyer").address,
    amount,
    terms: {},
  });
}

async function confirm(which: Pick<Merchant, "id">, body: object): Promise<Answer> {
  return await kit.post(kit.path(`/merchants/${which.id}/enrollment`), body);
}

/** Enrolls the wallet as another merchant, and confirms that. */
async function enrollAnew(): Promise<Merchant> {
  const newer = await kit.createMerchant();
  const { body } = await kit.sandbox.wallets.merchant.enroll(newer);
  const answer = await confirm(newer, body);
  expect(answer.status, answer.text).toBe(200);
  return newer;
}

/** Has a reorg remove the newest transaction of the merchant's wallet. */
async function removeNewest(): Promise<void> {
  await kit.reorg(1);
}

async function relayed(): Promise<number> {
  return (await kit.relayOperations()).length;
}

function expectNotEnrolled(answer: Answer, expected: { detail: string; retryable: boolean }): void {
  expect(answer.status, answer.text).toBe(409);
  expect(problem(answer)).toMatchObject({ code: "merchant_not_enrolled", ...expected });
}

test("a merchant's funding has the cap, what is collected and left, and the wallet's allowance and balance on the chain", async () => {
  const { chain, wallets } = kit.sandbox;
  const { token, fundingSource } = chain.deployment;
  const pending = await kit.createMerchant("1000", "other_merchant");
  await kit.wallet("other_merchant").send(approveCall(token.address, fundingSource.address, 7n));
  await wallets.buyer.faucet(5n, wallets.other_merchant.address);
  const { body } = await wallets.other_merchant.enroll(pending);
  const { text } = await confirm(pending, body);
  const { valid_until, balance } = pending.funding;
  const unfunded = { cap: "1000", collected: "0", remaining: "1000", valid_until, allowance: "0" };
  expect(pending.funding).toEqual({ ...unfunded, balance });
  expect(JSON.parse(text).funding).toEqual({
    ...unfunded,
    allowance: "7",
    balance: String(BigInt(balance) + 5n),
  });
});

describe("a purchase of a merchant", () => {
  test("whose enrollment is not confirmed is refused, and can be repeated once it is", async () => {
    const pending = await kit.createMerchant("1000", "other_merchant");
    const refused = await create(pending);
    expectNotEnrolled(refused, {
      detail: `${pending.id} is pending; its wallet has to enroll first.`,
      retryable: true,
    });
    expect(problem(refused).errors).toEqual([
      { pointer: "/merchant_id", code: "not_enrolled", detail: "must be an enrolled merchant" },
    ]);
  });

  test("whose wallet has enrolled is refused with what is left to do until POST …/enrollment confirms that", async () => {
    const pending = await kit.createMerchant("1000", "other_merchant");
    const { body } = await kit.sandbox.wallets.other_merchant.enroll(pending);
    expectNotEnrolled(await create(pending), {
      detail: `The wallet of ${pending.id} has enrolled, which is not confirmed. Confirm it with POST …/enrollment, then send the identical request again.`,
      retryable: true,
    });
    expect((await confirm(pending, body)).status).toBe(200);
    expect((await create(pending)).status).toBe(201);
  });

  test("whose funding has ended is refused for that, not for its deadlines", async () => {
    await kit.sandbox.clock.travelTo(merchant.funding.valid_until - 100);
    await kit.renew();
    const at = async (claim_deadline: number) =>
      await kit.post(kit.path("/purchases"), {
        merchant_id: merchant.id,
        buyer: kit.wallet("buyer").address,
        amount: "1000",
        terms: {},
        offer_deadline: claim_deadline,
        pay_deadline: claim_deadline,
        claim_deadline,
      });
    expect((await at(merchant.funding.valid_until)).status).toBe(201);
    await kit.sandbox.clock.travelTo(merchant.funding.valid_until);
    const refused = await create();
    const ended = toTimestamp(merchant.funding.valid_until);
    expect(refused.status, refused.text).toBe(422);
    expect(problem(refused)).toMatchObject({
      code: "validation_failed",
      errors: [
        {
          pointer: "/merchant_id",
          code: "funding_ended",
          detail: `is of a merchant whose funding authorization was valid until ${ended}; let its wallet revoke the authorization and enroll under a new merchant`,
        },
      ],
    });
  });

  test("that has revoked its enrollment is refused, with the time and what to do, and a repeat is of no use", async () => {
    const at = await revoke();
    const digest = await kit.digest();
    const refused = await create();
    expectNotEnrolled(refused, {
      detail: `The wallet of ${merchant.id} revoked its enrollment at ${at}. Create a new merchant for the wallet with POST …/merchants, and the purchase under that one.`,
      retryable: false,
    });
    expect(problem(refused).errors).toMatchObject([{ pointer: "/merchant_id", code: "not_enrolled" }]);
    expect(await kit.digest()).toBe(digest);
  });

  test("that has revoked its enrollment is refused with the merchant that the wallet is enrolled as now", async () => {
    const at = await revoke();
    const newer = await enrollAnew();
    expectNotEnrolled(await create(), {
      detail: `The wallet of ${merchant.id} revoked its enrollment at ${at}. Create the purchase under ${newer.id}, which the wallet is enrolled as now.`,
      retryable: false,
    });
    expect((await create(newer)).status).toBe(201);
  });

  test("is accepted again after a reorg that removes the revocation", async () => {
    await revoke();
    expect((await create()).status).toBe(409);
    await removeNewest();
    expect((await create()).status).toBe(201);
  });

  test("of more than its refunds have left of the cap is refused with that figure", async () => {
    await kit.act("merchant", "merchant", merchant.id, "fund");
    const { purchase: refunded, decision } = await kit.approvedPurchase(merchant);
    const done = await kit.post(kit.path(`/purchases/${refunded.id}/refunds`), {
      decision_id: decision.id,
    });
    expect(done.status, done.text).toBe(201);
    expect((await create(merchant, "990000000")).status).toBe(201);
    const refused = await create(merchant, "990000001");
    const detail = "must not be above what is left under the merchant's funding cap (990000000)";
    expect(refused.status).toBe(422);
    expect(problem(refused)).toMatchObject({
      code: "validation_failed",
      errors: [{ pointer: "/amount", code: "above_funding_remaining", detail }],
    });
  });
});

describe("the activation of a purchase", () => {
  test("whose merchant has revoked its enrollment is refused before anything is relayed", async () => {
    const at = await revoke();
    expectNotEnrolled(await kit.requestActivation(purchase), {
      detail: `The wallet of ${merchant.id} revoked its enrollment at ${at} and has no other. Let it enroll under a new merchant (POST …/merchants), then send the identical request again.`,
      retryable: true,
    });
    expect(await relayed()).toBe(0);
  });

  test("succeeds once the wallet is enrolled as another merchant, and once a reorg removes the revocation", async () => {
    await revoke();
    const revoked = await kit.sandbox.snapshot();
    expect((await kit.requestActivation(purchase)).status).toBe(409);
    await enrollAnew();
    const covered = await kit.requestActivation(purchase);
    expect(covered.status, covered.text).toBe(200);
    await revoked.restore();
    await kit.renew();
    expect((await kit.requestActivation(purchase)).status).toBe(409);
    await removeNewest();
    const unrevoked = await kit.requestActivation(purchase);
    expect(unrevoked.status, unrevoked.text).toBe(200);
  });

  test("that meets a revocation in its block is refused with the revert", async () => {
    const { id, program } = merchant;
    const { client } = kit.sandbox.chain;
    await client.setAutomine(false);
    const revoking = kit.sandbox.wallets.merchant.revokeFunding({ id, program });
    await expect.poll(async () => (await client.getTxpoolStatus()).pending).toBe(1);
    const asked = kit.requestActivation(purchase);
    await expect.poll(async () => (await client.getTxpoolStatus()).pending).toBe(2);
    await client.mine({ blocks: 1 });
    await client.setAutomine(true);
    await revoking;
    const refused = await asked;
    const at = toTimestamp(await kit.sandbox.clock.now());
    expectNotEnrolled(refused, {
      detail: `The wallet of ${merchant.id} revoked its enrollment at ${at} and has no other. Let it enroll under a new merchant (POST …/merchants), then send the identical request again.`,
      retryable: true,
    });
    expect(problem(refused)).toMatchObject({
      revert: { name: "NotEnrolled" },
      operation: { status: "reverted", attempt: 1 },
    });
  });

  test("that also exceeds a bound is refused for the enrollment that is missing", async () => {
    const at = await revoke();
    await kit.setBounds({ maxPurchase: 1n });
    await kit.sandbox.chain.client.mine({ blocks: 1 });
    expectNotEnrolled(await kit.requestActivation(purchase), {
      detail: `The wallet of ${merchant.id} revoked its enrollment at ${at} and has no other. Let it enroll under a new merchant (POST …/merchants), then send the identical request again.`,
      retryable: true,
    });
  });

  test("by the merchant, of which nothing was sent, is refused for the enrollment that is missing, not for the hash", async () => {
    const register = async () => await kit.post(kit.path(`/purchases/${purchase.id}/registration`), {});
    const missing = await register();
    expect(missing.status, missing.text).toBe(422);
    expect(problem(missing)).toMatchObject({ errors: [{ pointer: "/transaction_hash", code: "missing" }] });
    const at = await revoke();
    expectNotEnrolled(await register(), {
      detail: `The wallet of ${merchant.id} revoked its enrollment at ${at} and has no other. Let it enroll under a new merchant (POST …/merchants), then send the identical request again.`,
      retryable: true,
    });
  });

  test("by the merchant that is on chain already still asks for its transaction after a revocation", async () => {
    await kit.act("merchant", "purchase", purchase.id, "register");
    await revoke();
    const missing = await kit.post(kit.path(`/purchases/${purchase.id}/registration`), {});
    expect(missing.status, missing.text).toBe(422);
    expect(problem(missing)).toMatchObject({ errors: [{ pointer: "/transaction_hash", code: "missing" }] });
  });

  test("by the merchant is not offered after a revocation, with the reason", async () => {
    const at = await revoke();
    expect(await kit.action("purchase", purchase.id, "register")).toMatchObject({
      allowed: false,
      why_not: `The transaction would revert: The wallet of ${merchant.id} revoked its enrollment at ${at} and has no other. Let it enroll under a new merchant (POST …/merchants).`,
    });
  });
});

describe("the enrollment of a merchant", () => {
  const revokedDetail = (at: string) =>
    `The wallet revoked this enrollment at ${at}. Create a new merchant for it with POST …/merchants.`;

  test("that was revoked before it was confirmed is not confirmed", async () => {
    const pending = await (async () => {
      await revoke();
      return await kit.createMerchant();
    })();
    const { body } = await kit.sandbox.wallets.merchant.enroll(pending);
    const at = await revoke(pending);
    for (const refused of [
      await confirm(pending, body),
      await kit.post(`/wallet/${kit.program}/merchant/${pending.id}`, { action: "enroll", ...body }),
    ]) {
      expect(refused.status, refused.text).toBe(409);
      expect(problem(refused)).toMatchObject({
        code: "state_conflict",
        detail: revokedDetail(at),
        current_state: "pending",
        allowed: [],
      });
    }
  });

  test.each([0, 1])("that is signed with v = %i is refused for that", async (v) => {
    const pending = await kit.createMerchant("1000", "other_merchant");
    const { body } = await kit.sandbox.wallets.other_merchant.enroll(pending);
    const refused = await confirm(pending, { ...body, signature: `${body.signature.slice(0, 130)}0${v}` });
    expect(refused.status, refused.text).toBe(422);
    expect(problem(refused)).toMatchObject({
      code: "signature_invalid",
      detail: `The signature has v = ${v}. An account's signature needs v = 27 or 28, its last byte 0x1b or 0x1c.`,
      errors: [{ pointer: "/signature", code: "signature", detail: "must have v = 27 or 28" }],
    });
  });

  test("that was revoked after it was confirmed is reported as revoked, not as done already", async () => {
    const at = await revoke();
    expect(await kit.action("merchant", merchant.id, "enroll")).toMatchObject({
      allowed: false,
      why_not: `The transaction would revert: The merchant has enrolled before, and can only once. POST …/enrollment would refuse it: ${revokedDetail(at)}`,
    });
    const refused = await confirm(merchant, {});
    expect(refused.status, refused.text).toBe(409);
    expect(problem(refused)).toMatchObject({
      code: "state_conflict",
      detail: revokedDetail(at),
      current_state: "enrolled",
    });
  });

  test("that a reorg has removed is pending again until the chain has one, which needs no second confirmation", async () => {
    await revoke();
    const { id, enrollment } = await enrollAnew();
    await removeNewest();
    expectNotEnrolled(await create({ id }), {
      detail: `The chain no longer has the enrollment of ${id}. Let its wallet enroll again, then send the identical request again.`,
      retryable: true,
    });
    expectNotEnrolled(await kit.requestActivation(purchase), {
      detail: expect.stringContaining(`The wallet of ${merchant.id} revoked its enrollment`),
      retryable: true,
    });
    expect(await kit.action("merchant", id, "enroll")).toMatchObject({ allowed: true, why_not: null });
    const { transaction_hash: transactionHash } = await kit.wallet("merchant").send(enrollment.transaction);
    expect((await create({ id })).status).toBe(201);
    expect((await kit.requestActivation(purchase)).status).toBe(200);
    expect(problem(await confirm({ id }, { transaction_hash: transactionHash }))).toMatchObject({
      code: "state_conflict",
      detail: "The merchant is enrolled already.",
      current_state: "enrolled",
    });
  });
});
