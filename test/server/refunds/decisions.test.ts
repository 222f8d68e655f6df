import { describe, expect, test } from "vitest";
import { claimCall } from "../../../protocol/call.ts";
import { fromTimestamp, toTimestamp } from "../../../protocol/values/time.ts";
import { type Answer, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;

resetBeforeEach(async () => {
  kit = await TestKit.shared();
  merchant = await kit.enrolledMerchant();
  return kit;
});

/** An active purchase of 25 USDC that was paid in two parts, of 10 and of 15, and reconciled. */
async function paidInParts() {
  const purchase = await kit.activePurchase(merchant);
  await kit.act("buyer", "purchase", purchase.id, "approve");
  for (const amount of ["10000000", "15000000"])
    await kit.act("buyer", "purchase", purchase.id, "pay", { amount });
  await kit.reconcile(purchase);
  return purchase;
}

async function decide(purchase: Schema<"Purchase">, body: Schema<"RecordDecision">): Promise<Answer> {
  return await kit.post(kit.path(`/purchases/${purchase.id}/decisions`), body);
}

/** The transaction of a claim, as its wallet sent it, so that it can be sent again after a reorg. */
async function signedClaim(purchase: Schema<"Purchase">, amount?: string) {
  const body = await kit.claimBody(purchase, amount);
  const { client } = kit.sandbox.chain;
  const serializedTransaction = await kit.rawTransaction(String(body.transaction_hash));
  return { body, sendAgain: async () => await client.sendRawTransactionSync({ serializedTransaction }) };
}

async function file(purchase: Schema<"Purchase">, body: Schema<"FileClaim">): Promise<Answer> {
  return await kit.post(kit.path(`/purchases/${purchase.id}/claims`), body);
}

describe("a decision after a reorg", () => {
  test("that removed the payment and the claim is refused, and taken once both are back", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const { body, sendAgain } = await signedClaim(purchase);
    const claim: Schema<"Claim"> = JSON.parse((await file(purchase, body)).text);
    const decision = kit.decision(purchase, claim);
    await kit.reorg(2);
    const before = await kit.digest();

    const refused = await decide(purchase, decision);
    expect(refused.status, refused.text).toBe(409);
    expect(problem(refused)).toMatchObject({
      code: "transaction_not_found",
      retryable: true,
      detail:
        "The chain has no claim of this purchase any more, and payments of 0 in all. " +
        "Let the buyer send the missing payment again and, after it, the beneficiary its claim, " +
        "then submit it over the wallet route, and send the identical request again.",
      transaction_hash: claim.transaction_hash,
      binding: { accepted: false },
    });
    expect(await kit.digest()).toBe(before);

    await kit.act("buyer", "purchase", purchase.id, "pay");
    await sendAgain();
    const unreconciled = await decide(purchase, decision);
    expect(unreconciled.status).toBe(409);
    expect(problem(unreconciled)).toMatchObject({ code: "state_conflict", current_state: "claimed" });
    await kit.reconcile(purchase);
    const taken = await decide(purchase, decision);
    expect(taken.status, taken.text).toBe(201);
  });

  test("that removed one of two payments is refused until the purchase is reconciled, and then capped by what is paid", async () => {
    const purchase = await paidInParts();
    const { body, sendAgain } = await signedClaim(purchase, "25000000");
    const claim: Schema<"Claim"> = JSON.parse((await file(purchase, body)).text);
    const decision = kit.decision(purchase, claim, { award: "25000000" });
    await kit.reorg(3);
    await kit.act("buyer", "purchase", purchase.id, "pay", { amount: "10000000" });
    await sendAgain();

    const refused = await decide(purchase, decision);
    expect(refused.status, refused.text).toBe(409);
    expect(problem(refused)).toMatchObject({
      code: "state_conflict",
      detail:
        "The chain no longer has 2 of the reconciled payments. Reconcile the purchase with POST …/reconcile.",
      current_state: "claimed",
      allowed: ["reconcile"],
      reverted: [{ amount: "10000000" }, { amount: "15000000" }],
    });
    await kit.reconcile(purchase);
    const above = await decide(purchase, decision);
    expect(above.status).toBe(422);
    expect(problem(above)).toMatchObject({
      code: "validation_failed",
      errors: [
        {
          pointer: "/award",
          code: "above_claim",
          detail: "must be at most 10000000, what was claimed and paid",
        },
      ],
    });
    const taken = await decide(purchase, kit.decision(purchase, claim, { award: "10000000" }));
    expect(taken.status, taken.text).toBe(201);
  });

  test("says that the chain has another claim, after which no repeat helps", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const claim = await kit.claim(purchase);
    await kit.reorg(1);
    const other = `0x${"0c".repeat(32)}` as const;
    const { address } = kit.sandbox.chain.deployment.registrar;
    const call = claimCall(address, `0x${purchase.commitment.hash.slice(2)}`, other);
    expect((await kit.wallet("beneficiary").send(call)).receipt.status).toBe("success");
    const refused = await decide(purchase, kit.decision(purchase, claim));
    expect(refused.status, refused.text).toBe(422);
    expect(problem(refused)).toMatchObject({
      code: "binding_mismatch",
      retryable: false,
      detail:
        `The claim ${claim.id} is ${claim.claim_hash}, and the chain has the claim ${other} of this purchase. ` +
        "The contract takes no second claim, so resolve it outside of this service.",
      binding: {
        accepted: false,
        checks: [{ name: "purchase", ok: false, expected: claim.claim_hash, actual: other }],
      },
    });
  });

  test("says how to have the same claim counted that another transaction has made", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const claim = await kit.claim(purchase);
    await kit.reorg(1);
    const { address } = kit.wallet("beneficiary");
    await kit.wallet("beneficiary").send({ to: address, data: "0x" });
    const transaction_hash = await kit.act("beneficiary", "purchase", purchase.id, "claim");
    const decision = kit.decision(purchase, claim);
    const refused = await decide(purchase, decision);
    expect(refused.status, refused.text).toBe(409);
    expect(problem(refused)).toMatchObject({
      code: "transaction_not_found",
      retryable: true,
      detail:
        `The chain has the claim by another transaction than ${claim.transaction_hash}. ` +
        "Submit that one over the wallet route (claim), then send the identical request again.",
    });
    const wallet = `/wallet/${kit.program}/purchase/${purchase.id}`;
    expect((await kit.post(wallet, { action: "claim", transaction_hash })).status).toBe(200);
    expect((await decide(purchase, decision)).status).toBe(201);
  });

  test.each([
    ["claim", 1, "claim_deadline", "and the deadline for another was"],
    ["payment", 2, "pay_deadline", "and payments of 0 in all, and the deadline for another payment was"],
  ] as const)(
    "says that the deadline of another %s has passed, after which no repeat helps",
    async (_, depth, name, end) => {
      const purchase = await kit.paidPurchase(merchant);
      const claim = await kit.claim(purchase);
      const deadline = purchase.deadlines[name];
      await kit.reorg(depth);
      await kit.sandbox.clock.travelTo(deadline);
      await kit.renew();
      const refused = await decide(purchase, kit.decision(purchase, claim));
      expect(refused.status, refused.text).toBe(409);
      expect(problem(refused)).toMatchObject({
        code: "transaction_not_found",
        retryable: false,
        detail: `The chain has no claim of this purchase any more, ${end} ${toTimestamp(deadline)}. No repeat of this request succeeds.`,
      });
    },
  );

  test("that removed the claim is refused even for a denial", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const claim = await kit.claim(purchase);
    await kit.reorg(1);
    const denial = kit.decision(purchase, claim, { outcome: "denied", award: "0" });
    const refused = await decide(purchase, denial);
    expect([refused.status, problem(refused).code]).toEqual([409, "transaction_not_found"]);
  });
});

test("a claim on payments that a reorg removed is refused until the purchase is reconciled", async () => {
  const purchase = await paidInParts();
  await kit.reorg(1);
  const claim = { amount: 25_000_000n, reason: "Arrived broken." };
  const { body } = await kit.sandbox.wallets.beneficiary.claim(purchase, claim);
  const refused = await file(purchase, body);
  expect(refused.status, refused.text).toBe(409);
  expect(problem(refused)).toMatchObject({
    code: "state_conflict",
    detail:
      "The chain no longer has 1 of the reconciled payments. Reconcile the purchase with POST …/reconcile.",
    current_state: "active",
    allowed: ["reconcile"],
    reverted: [{ amount: "15000000" }],
  });
  await kit.reconcile(purchase);
  const above = await file(purchase, body);
  expect(above.status).toBe(422);
  expect(problem(above).errors).toMatchObject([{ pointer: "/requested_amount", code: "above_paid" }]);
});

test("a decision names the claim of its purchase", async () => {
  const [purchase, other] = [await kit.paidPurchase(merchant), await kit.paidPurchase(merchant)];
  const claim = await kit.claim(purchase);
  const foreign = await kit.claim(other);
  const refused = await decide(purchase, kit.decision(purchase, { ...claim, id: foreign.id }));
  expect(refused.status, refused.text).toBe(404);
  expect(problem(refused)).toMatchObject({
    code: "not_found",
    detail: `There is no claim ${foreign.id} of ${purchase.id}.`,
  });
});

describe("the award", () => {
  test.each([
    ["denied", "1", "not_zero", 'must be 0 when the claim is denied, not "1"'],
    ["approved", "0", "zero", 'must be above 0 when the claim is approved, not "0"'],
    ["approved", "10000001", "above_claim", "must be at most 10000000, what was claimed and paid"],
  ] as const)(
    "of a claim over 10000000 that is %s with %s is refused",
    async (outcome, award, code, detail) => {
      const purchase = await kit.paidPurchase(merchant);
      const claim = await kit.claim(purchase);
      const refused = await decide(purchase, kit.decision(purchase, claim, { outcome, award }));
      expect(refused.status, refused.text).toBe(422);
      expect(problem(refused)).toMatchObject({
        code: "validation_failed",
        errors: [{ pointer: "/award", code, detail }],
      });
    },
  );

  test.each([
    ["denied", "0"],
    ["approved", "1"],
    ["approved", "10000000"],
  ] as const)("of a claim over 10000000 that is %s with %s is taken", async (outcome, award) => {
    const purchase = await kit.paidPurchase(merchant);
    const claim = await kit.claim(purchase);
    const taken = await decide(purchase, kit.decision(purchase, claim, { outcome, award }));
    expect(taken.status, taken.text).toBe(201);
    expect(JSON.parse(taken.text)).toMatchObject({ outcome, award });
  });
});

describe("decided_at", () => {
  test.each([
    ["one second from now", 1, "Z", "later_than_now"],
    ["five minutes from now", 300, "Z", "later_than_now"],
    ["0.999 seconds from now", 0, ".999Z", "later_than_now"],
    ["a small part of a second from now", 0, ".00000000000000000001Z", "later_than_now"],
  ])("%s is refused", async (_, seconds, end, code) => {
    const purchase = await kit.paidPurchase(merchant);
    const claim = await kit.claim(purchase);
    const now = await kit.sandbox.clock.now();
    const decided_at = toTimestamp(now + seconds).replace("Z", end);
    const refused = await decide(purchase, kit.decision(purchase, claim, { decided_at }));
    expect(refused.status, refused.text).toBe(422);
    expect(problem(refused)).toMatchObject({
      code: "timestamp_out_of_tolerance",
      errors: [{ pointer: "/decided_at", code, detail: `must be at most ${toTimestamp(now)}, the time now` }],
    });
  });

  test.each([
    ["a second", "Z"],
    ["a tenth of a second", ".9Z"],
    ["a small part of a second", ".99999999999999999999Z"],
  ])("%s before the claim is refused with the time of the claim", async (_, end) => {
    const purchase = await kit.paidPurchase(merchant);
    const claim = await kit.claim(purchase);
    await kit.sandbox.clock.travel({ seconds: 60 });
    const decided_at = toTimestamp(fromTimestamp(claim.created_at) - 1).replace("Z", end);
    const refused = await decide(purchase, kit.decision(purchase, claim, { decided_at }));
    expect(refused.status, refused.text).toBe(422);
    expect(problem(refused)).toMatchObject({
      code: "timestamp_out_of_tolerance",
      errors: [
        {
          pointer: "/decided_at",
          code: "before_claim",
          detail: `must be at least ${claim.created_at}, the time of the claim`,
        },
      ],
    });
  });

  test.each([
    ["of the time of the claim", "claim", "Z"],
    ["of the time now", "now", "Z"],
    ["of the time now, with a fraction of zero", "now", ".000Z"],
  ] as const)("%s is taken", async (_, which, end) => {
    const purchase = await kit.paidPurchase(merchant);
    const claim = await kit.claim(purchase);
    await kit.sandbox.clock.travel({ seconds: 60 });
    const time = which === "claim" ? claim.created_at : toTimestamp(await kit.sandbox.clock.now());
    const decided_at = time.replace("Z", end);
    const taken = await decide(purchase, kit.decision(purchase, claim, { decided_at }));
    expect(taken.status, taken.text).toBe(201);
  });

  test("of the wall clock in milliseconds is taken in live mode, and a minute later is not", async () => {
    await using live = await TestKit.open({ seed: "live decisions", mode: "live" });
    const purchase = await live.paidPurchase(await live.fundedMerchant());
    const claim = await live.claim(purchase);
    const send = async (time: number) => {
      const body = live.decision(purchase, claim, { decided_at: new Date(time).toISOString() });
      return await live.post(live.path(`/purchases/${purchase.id}/decisions`), body);
    };
    expect((await send(Date.now() + 60_000)).status).toBe(422);
    const taken = await send(Date.now());
    expect(taken.status, taken.text).toBe(201);
  });
});
