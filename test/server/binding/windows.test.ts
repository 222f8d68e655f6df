import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { z } from "zod";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";
import type { Outgoing } from "../../../check-contract/fixture/fixture-chain.ts";
import type {
  FixtureAnswer,
  FixtureMerchant,
  FixturePurchase,
} from "../../../check-contract/fixture/fixture-service.ts";
import type { CheckName } from "../../../protocol/binding/check-binding.ts";
import { usdc } from "../../../protocol/values/amount.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import type { WalletName } from "../../../sandbox/chain/genesis/roles.ts";
import { problemSchema } from "../../../server/schemas/problem.ts";

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterEach(async () => await fixture.reset());
afterAll(async () => await fixture.close());

async function submitApproval(purchase: FixturePurchase, hash: Hex, amount = 25n * usdc) {
  return await fixture.submitToWallet(purchase, {
    action: "approve",
    transaction_hash: hash,
    amount: amount.toString(),
  });
}

/** Submits a merchant's approval of its funding over its wallet route. */
async function submitFunding({ program, id }: FixtureMerchant, transaction_hash: Hex) {
  const response = await fetch(`${fixture.sandbox.description.urls.api}/wallet/${program}/merchant/${id}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Idempotency-Key": "funding-approval" },
    body: JSON.stringify({ action: "fund", transaction_hash }),
  });
  const body: unknown = await response.json();
  if (response.ok) return { status: response.status, code: null, failed: [] };
  const { code, binding } = problemSchema.parse(body);
  return { status: response.status, code, failed: failedOf(binding) };
}

function failedOf(binding: z.infer<typeof problemSchema>["binding"]): CheckName[] {
  return (binding?.checks ?? []).filter(({ ok }) => !ok).map(({ name }) => name);
}

const inTime = { status: 200, code: null, failed: [] };
const tooEarly = { status: 422, code: "binding_mismatch", failed: ["timely"] };

describe("an approval that was mined before what it serves was made", () => {
  test("is refused for a purchase, and taken in the second in which that was made", async () => {
    const hash = await fixture.succeed("buyer", fixture.approve(25n * usdc));
    const { timestamp } = await fixture.client.getBlock({ blockTag: "latest" });
    const [same, later] = [
      await fixture.createPurchase({}),
      await fixture.client.mine({ blocks: 1 }).then(async () => await fixture.createPurchase({})),
    ];
    expect(Date.parse(same.created_at) / 1_000).toBe(Number(timestamp));
    for (const purchase of [same, later]) await fixture.activate(purchase);
    expect(await submitApproval(later, hash)).toMatchObject(tooEarly);
    expect(await submitApproval(same, hash)).toMatchObject(inTime);
  });

  test("is refused for a merchant, and taken in the second in which that was made", async () => {
    const cap = 7n * usdc;
    const hash = await fixture.succeed(
      "other_merchant",
      fixture.approve(cap, fixture.contracts.funding_source),
    );
    const same = await fixture.createMerchant("other_merchant", cap);
    await fixture.client.mine({ blocks: 1 });
    const later = await fixture.createMerchant("other_merchant", cap);
    expect(await submitFunding(later, hash)).toEqual(tooEarly);
    expect(await submitFunding(same, hash)).toEqual(inTime);
  });
});

describe("a step that reverts because it is one second late is refused with its window, and taken in its last second:", () => {
  /** Sends a transaction in the block of a time, and answers what came of its step. */
  async function sentAt(
    time: number,
    sender: WalletName,
    call: Outgoing,
    ask: (hash: Hex) => Promise<FixtureAnswer>,
  ): Promise<FixtureAnswer> {
    await fixture.client.setNextBlockTimestamp({ timestamp: BigInt(time) });
    const hash = await fixture.send(sender, call);
    await fixture.issueAccess();
    return await ask(hash);
  }

  const insteadOf = {
    registration: "create a new purchase (POST …/purchases)",
    enrollment: "create a new merchant with a later funding_valid_until (POST …/merchants)",
    payment: "create a new purchase (POST …/purchases)",
  };

  /** The refusal of what came one second after its window. */
  function expectLate(
    answer: FixtureAnswer,
    step: "registration" | "enrollment" | "payment",
    failed: CheckName[],
    window: { from: number; to: number },
    said = `its deadline, ${toTimestamp(window.to)}. No new transaction succeeds: ${insteadOf[step]}.`,
  ): void {
    expect(answer).toMatchObject({ status: 409, code: "deadline_passed", failed, wrote: false });
    const { detail, binding } = problemSchema.parse(answer.body);
    expect(detail).toBe(`The transaction of the ${step} was mined after ${said}`);
    expect(binding?.checks.find(({ name }) => name === "timely")).toEqual({
      name: "timely",
      ok: false,
      expected: window,
      actual: window.to + 1,
    });
  }

  function secondOf({ created_at }: { created_at: string }): number {
    return Date.parse(created_at) / 1_000;
  }

  test("a registration, which ends before the payments do", async () => {
    const { draft } = fixture;
    const { offer_deadline, pay_deadline } = draft.deadlines;
    expect(offer_deadline).toBeLessThan(pay_deadline);
    const register = async (time: number) =>
      await sentAt(
        time,
        "merchant",
        fixture.registration(draft),
        async (hash) => await fixture.register(draft, hash),
      );
    expectLate(await register(offer_deadline + 1), "registration", ["status", "purchase", "log", "timely"], {
      from: secondOf(draft),
      to: offer_deadline,
    });
    await fixture.reset();
    expect(await register(offer_deadline)).toMatchObject(inTime);
  });

  test("an enrollment, which ends with the funding", async () => {
    const enroll = async (late: number) => {
      const merchant = await fixture.createMerchant("other_merchant", 7n * usdc);
      const { message } = merchant.enrollment;
      const { to, data } = merchant.enrollment.transaction;
      const signature = await fixture.account("other_merchant").signMessage({ message });
      const { valid_until } = merchant.funding;
      const ask = async (hash: Hex) => await fixture.enroll(merchant, hash, signature);
      const answer = await sentAt(valid_until + late, "other_merchant", { to, data }, ask);
      return { answer, window: { from: secondOf(merchant), to: valid_until } };
    };
    const { answer, window } = await enroll(1);
    expectLate(answer, "enrollment", ["status", "purchase", "log", "timely"], window);
    await fixture.reset();
    expect((await enroll(0)).answer).toMatchObject(inTime);
  });

  test("a batch, from the youngest of its purchases to the earliest of their deadlines, whichever of them is asked", async () => {
    const young = await fixture.createPurchase({});
    await fixture.activate(young);
    const pair = [fixture.purchase, young] as const;
    const [older, younger] = [secondOf(fixture.purchase), secondOf(young)];
    expect(older).toBeLessThan(younger);
    const deadline = fixture.purchase.deadlines.pay_deadline;
    expect(deadline).toBeLessThan(young.deadlines.pay_deadline);
    const batch = fixture.payBatch(pair.map((purchase) => [purchase, usdc] as const));
    const snapshot = await fixture.sandbox.snapshot();
    for (const asked of pair) {
      await snapshot.restore();
      const ask = async (hash: Hex) => await fixture.reconcile(asked, [hash]);
      const failed: CheckName[] = ["status", "log", "timely"];
      const first = `the deadline of payment 1 of the batch, of ${fixture.purchase.id}, ${toTimestamp(deadline)}.`;
      const window = { from: younger, to: deadline };
      expectLate(
        await sentAt(deadline + 1, "buyer", batch, ask),
        "payment",
        failed,
        window,
        `${first} Leave that payment out, then send a new transaction.`,
      );
      await snapshot.restore();
      const last = young.deadlines.pay_deadline;
      const answer = await sentAt(last + 1, "buyer", batch, ask);
      expect(problemSchema.parse(answer.body).detail).toBe(
        `The transaction of the payment was mined after ${first} No new transaction succeeds: ${insteadOf.payment}.`,
      );
      await snapshot.restore();
      expect(await sentAt(deadline, "buyer", batch, ask)).toMatchObject(inTime);
    }
  });
});

describe("a refusal has the code of its one cause, and that of a mismatch when there are others:", () => {
  /** The next block is so many seconds after the pay deadline. */
  async function late(seconds: number): Promise<void> {
    const { pay_deadline } = fixture.purchase.deadlines;
    await fixture.client.setNextBlockTimestamp({ timestamp: BigInt(pay_deadline + seconds) });
  }

  test("an approval that is only too late", async () => {
    await late(1);
    const hash = await fixture.succeed("buyer", fixture.approve(25n * usdc));
    expect(await submitApproval(fixture.purchase, hash)).toMatchObject({
      status: 409,
      code: "deadline_passed",
      failed: ["timely"],
    });
  });

  test("an approval that is too late and of another spender", async () => {
    await late(1);
    const hash = await fixture.succeed("buyer", fixture.approve(25n * usdc, fixture.address("stranger")));
    expect(await submitApproval(fixture.purchase, hash)).toMatchObject({
      status: 422,
      code: "binding_mismatch",
      failed: ["calldata", "log", "timely"],
    });
  });

  test("a payment that reverts because it is too late", async () => {
    await late(1);
    const hash = await fixture.send("buyer", fixture.pay(fixture.purchase));
    await fixture.issueAccess();
    expect(await fixture.reconcile(fixture.purchase, [hash])).toMatchObject({
      status: 409,
      code: "deadline_passed",
      failed: ["status", "log", "timely"],
    });
  });

  test("a payment that reverts because it is too late, with ETH", async () => {
    await late(1);
    const hash = await fixture.send("buyer", { ...fixture.pay(fixture.purchase), value: 1n });
    await fixture.issueAccess();
    expect(await fixture.reconcile(fixture.purchase, [hash])).toMatchObject({
      status: 422,
      code: "binding_mismatch",
      failed: ["status", "value", "log", "timely"],
    });
  });

  test("a payment that reverts in time", async () => {
    const hash = await fixture.send("buyer", fixture.pay(fixture.purchase, 26n * usdc));
    expect(await fixture.reconcile(fixture.purchase, [hash])).toMatchObject({
      status: 422,
      code: "transaction_reverted",
      failed: ["status", "log"],
    });
  });

  test("a payment that reverts, with ETH", async () => {
    const hash = await fixture.send("buyer", { ...fixture.pay(fixture.purchase, 26n * usdc), value: 1n });
    expect(await fixture.reconcile(fixture.purchase, [hash])).toMatchObject({
      status: 422,
      code: "binding_mismatch",
      failed: ["status", "value", "log"],
    });
  });

  test("a transaction that serves another step, and is none of this one", async () => {
    const hash = await fixture.succeed("merchant", await fixture.registration(fixture.draft));
    fixture.expectAccepted(await fixture.register(fixture.draft, hash));
    expect(await fixture.reconcile(fixture.purchase, [hash])).toMatchObject({
      status: 422,
      code: "binding_mismatch",
      failed: ["wallet", "calldata", "log", "unused"],
    });
  });

  test("a claim's transaction that serves another purchase's claim", async () => {
    const { hash, signature } = await fixture.paidAndClaimed(fixture.purchase);
    fixture.expectAccepted(await fixture.fileClaim(hash, signature, fixture.purchase));
    await fixture.paid(fixture.second);
    const other = await fixture.signClaim(fixture.claim(fixture.second).claim);
    expect(await fixture.fileClaim(hash, other, fixture.second)).toMatchObject({
      status: 422,
      code: "binding_mismatch",
      failed: ["calldata", "log", "unused"],
    });
  });

  test("a payment whose transaction the chain has and no block", async () => {
    await fixture.client.setAutomine(false);
    const hash = await fixture.submit("buyer", fixture.pay(fixture.purchase));
    const answer = await fixture.reconcile(fixture.purchase, [hash]);
    expect(answer).toMatchObject({ status: 409, code: "transaction_unconfirmed" });
    expect(answer.body).toMatchObject({
      detail: "The transaction is not confirmed yet.",
      confirmations: 0,
      retryable: true,
    });
  });

  test("a payment that the chain does not know", async () => {
    const hash: Hex = `0x${"ab".repeat(32)}`;
    const answer = await fixture.reconcile(fixture.purchase, [hash]);
    expect(answer).toMatchObject({ status: 409, code: "transaction_not_found" });
    expect(answer.body).toMatchObject({
      detail: `The chain knows no transaction ${hash}. Send the hash of a transaction on this chain, once the wallet has broadcast it.`,
      transaction_hash: hash,
      explain: `${fixture.sandbox.description.urls.control}/explain/${hash}`,
    });
  });
});
