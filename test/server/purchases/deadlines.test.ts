import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { type Answer, present, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;

resetBeforeEach(async () => {
  kit = await TestKit.shared({ receiptTimeoutMs: 30_000 });
  merchant = await kit.enrolledMerchant();
  return kit;
});

/** Sends a request once the newest block has this time, so that the next one comes a second later. */
async function at(timestamp: number): Promise<void> {
  await kit.sandbox.clock.travelTo(timestamp);
  await kit.renew();
}

async function relayed() {
  const { relayer, chain } = kit.sandbox;
  const { data } = await kit.api.GET("/v1/routing/programs/{program}", {
    params: { path: { program: kit.program } },
  });
  const operator = data?.keys.registrar.address;
  if (operator === undefined) throw new Error("A program has an operator.");
  return {
    operations: await relayer.list(kit.program, { limit: 100 }),
    nonce: await chain.client.getTransactionCount({ address: `0x${operator.slice(2)}` }),
    budget: await relayer.budget(kit.program),
  };
}

describe("an offer", () => {
  test("that the next block would have one second late is refused before anything is relayed", async () => {
    const purchase = await kit.createPurchase(merchant);
    const { offer_deadline } = purchase.deadlines;
    await at(offer_deadline);
    const before = await relayed();
    const refused = await kit.requestActivation(purchase);
    expect(refused.status, refused.text).toBe(409);
    expect(problem(refused)).toMatchObject({
      code: "deadline_passed",
      detail: `The offer was due by ${toTimestamp(offer_deadline)}; the time of the next block is ${toTimestamp(offer_deadline + 1)}.`,
    });
    expect(await relayed()).toEqual(before);
  });

  test("that the next block has in the last second of its deadline is made", async () => {
    const purchase = await kit.createPurchase(merchant);
    await at(purchase.deadlines.offer_deadline - 1);
    const made = await kit.requestActivation(purchase);
    expect(made.status, made.text).toBe(200);
  });

  test("that the next block would have after the program's bounds have ended is refused before anything is relayed", async () => {
    const purchase = await kit.createPurchase(merchant);
    const validUntil = (await kit.sandbox.clock.now()) + 60;
    await settled(await kit.setBounds({ validUntil: BigInt(validUntil) }));
    await at(validUntil);
    const before = await relayed();
    const refused = await kit.requestActivation(purchase);
    expect(refused.status, refused.text).toBe(409);
    expect(problem(refused)).toMatchObject({
      code: "registrar_bound_exceeded",
      detail: `The program does not allow this offer of 25000000: the bounds were valid until ${toTimestamp(validUntil)}.`,
      bounds: { valid_until: validUntil },
    });
    expect(await relayed()).toEqual(before);
  });

  test("that the next block has in the last second of the program's bounds is made", async () => {
    const purchase = await kit.createPurchase(merchant);
    const validUntil = (await kit.sandbox.clock.now()) + 60;
    await settled(await kit.setBounds({ validUntil: BigInt(validUntil) }));
    await at(validUntil - 1);
    const made = await kit.requestActivation(purchase);
    expect(made.status, made.text).toBe(200);
  });

  test("that was accepted in time and would now be late is refused without a nonce, and its reservation is released", async () => {
    const purchase = await kit.createPurchase(merchant);
    const before = await relayed();
    await kit.sandbox.faults.set({ layer: "relayer", point: "after_intent", action: "hold" });
    expect((await kit.requestActivation(purchase)).status).toBe(202);
    expect((await relayed()).budget.reserved_wei).not.toBe("0");
    await at(purchase.deadlines.offer_deadline);
    const refused = await kit.requestActivation(purchase);
    expect([refused.status, problem(refused).code]).toEqual([409, "deadline_passed"]);
    const after = await relayed();
    expect(after).toMatchObject({ nonce: before.nonce, budget: before.budget });
    expect(after.operations).toMatchObject([{ status: "failed", nonce: null, reserved_wei: "0" }]);
  });

  test("whose transaction is mined late is refused with the revert, costs its gas once, and is sent no second time", async () => {
    const purchase = await kit.createPurchase(merchant);
    const { offer_deadline } = purchase.deadlines;
    const late = await kit.behind(
      async () => [],
      async () => await kit.requestActivation(purchase),
      async () => await at(offer_deadline + 1),
    );
    expect(late.status, late.text).toBe(409);
    expect(problem(late)).toMatchObject({
      code: "deadline_passed",
      detail: `The offer was due by ${toTimestamp(offer_deadline)}; the block of its transaction, which reverted, has the time ${toTimestamp(offer_deadline + 1)}.`,
      revert: {
        name: "DeadlinePassed",
        args: { timestamp: String(offer_deadline + 1), deadline: String(offer_deadline) },
      },
      operation: { status: "reverted", attempt: 1 },
    });
    const after = await relayed();
    expect(after.budget.reserved_wei).toBe("0");
    expect(after.budget.spent_wei).toBe(after.operations[0]?.cost_wei);
    const again = await kit.requestActivation(purchase);
    expect([again.status, problem(again).code]).toEqual([409, "deadline_passed"]);
    expect(await relayed()).toEqual(after);
  });

  describe("that is refused for bounds that have ended keeps the key that it began under: the success of another key is its answer", () => {
    const endBounds = async () => {
      const now = await kit.sandbox.clock.now();
      return await kit.setBounds({ validUntil: BigInt(now) });
    };

    test.each<[string, (offer: () => Promise<Answer>) => Promise<Answer>]>([
      [
        "when its transaction reverted",
        async (offer) => await kit.behind(async () => [await endBounds()], offer),
      ],
      [
        "when it was accepted in time and nothing was sent",
        async (offer) => {
          await kit.sandbox.faults.set({ layer: "relayer", point: "after_intent", action: "hold" });
          expect((await offer()).status).toBe(202);
          await settled(await endBounds());
          return await offer();
        },
      ],
    ])("%s", async (_, refuse) => {
      const { id, commitment, deadlines } = await kit.createPurchase(merchant);
      const offer = async (key: string) =>
        await kit.post(
          kit.path(`/purchases/${id}/activate`),
          { commitment_hash: commitment.hash },
          { "Idempotency-Key": key },
        );
      const refused = await refuse(async () => await offer("offer-key-1"));
      expect([refused.status, problem(refused).code]).toEqual([409, "registrar_bound_exceeded"]);
      await settled(await kit.setBounds({ validUntil: BigInt(deadlines.claim_deadline) }));
      const made = await offer("offer-key-2");
      expect(made.status, made.text).toBe(200);
      const again = await offer("offer-key-1");
      expect(again.status, again.text).toBe(200);
      const { operation, event_id } = JSON.parse(made.text);
      expect(JSON.parse(again.text)).toMatchObject({
        purchase: { status: "active" },
        operation: { operation_id: operation.operation_id },
        event_id,
      });
    });
  });

  test("whose transaction meets bounds that have ended is refused with the revert, and made once they allow it", async () => {
    const purchase = await kit.createPurchase(merchant);
    const now = await kit.sandbox.clock.now();
    const late = await kit.behind(
      async () => [await kit.setBounds({ validUntil: BigInt(now) })],
      async () => await kit.requestActivation(purchase),
    );
    expect(late.status, late.text).toBe(409);
    expect(problem(late)).toMatchObject({
      code: "registrar_bound_exceeded",
      detail: `The program did not allow this offer of 25000000: the bounds were valid until ${toTimestamp(now)}.`,
      revert: { name: "DeadlinePassed" },
    });
    await settled(await kit.setBounds({ validUntil: BigInt(purchase.deadlines.claim_deadline) }));
    const made = await kit.requestActivation(purchase);
    expect(made.status, made.text).toBe(200);
    expect(JSON.parse(made.text).operation).toMatchObject({ attempt: 2, hashes: { length: 2 } });
  });
});

describe("what can no longer come on chain in time is refused with its deadline when nothing of it is sent", () => {
  const due = (step: string, deadline: number, over: number) =>
    `The ${step} was due by ${toTimestamp(deadline)}; the time of the next block is ${toTimestamp(deadline + over)}.`;

  test("an enrollment, and its signature over the wallet route", async () => {
    const now = await kit.sandbox.clock.now();
    const { id, enrollment, funding } = present(
      await kit.api.POST("/v1/routing/programs/{program}/merchants", {
        params: kit.write(),
        body: {
          wallet: kit.wallet("stranger").address,
          name: "Corner Books",
          funding_cap: "1",
          funding_valid_until: now + 60,
        },
      }),
    );
    const signature = await kit.wallet("stranger").signMessage(enrollment.message);
    const confirm = async (body: object) => await kit.post(kit.path(`/merchants/${id}/enrollment`), body);
    const submit = async () =>
      await kit.post(`/wallet/${kit.program}/merchant/${id}`, { action: "enroll", signature });
    await at(funding.valid_until - 1);
    expect(problem(await confirm({})).code).toBe("validation_failed");
    await at(funding.valid_until);
    const detail = due("enrollment", funding.valid_until, 1);
    for (const answer of [await confirm({}), await confirm({ signature }), await submit()])
      expect(problem(answer)).toMatchObject({ status: 409, code: "deadline_passed", detail });
  });

  test("a registration", async () => {
    const { id, deadlines } = await kit.createPurchase(merchant);
    const confirm = async () => await kit.post(kit.path(`/purchases/${id}/registration`), {});
    await at(deadlines.offer_deadline - 1);
    expect(problem(await confirm()).code).toBe("validation_failed");
    await at(deadlines.offer_deadline);
    const detail = due("registration", deadlines.offer_deadline, 1);
    expect(problem(await confirm())).toMatchObject({ status: 409, code: "deadline_passed", detail });
  });

  test("a claim, whichever of its fields are sent, and its signature over the wallet route", async () => {
    const purchase = await kit.paidPurchase(merchant);
    const { id, deadlines } = purchase;
    const wish = { amount: "1", reason: "Late." };
    const { sign } = await kit.action("purchase", id, "claim", wish);
    if (sign?.method !== "eth_signTypedData_v4") throw new Error("No claim is offered.");
    const signature = await kit.wallet("beneficiary").signTypedData(sign.typed_data);
    const file = async (body: object) => await kit.post(kit.path(`/purchases/${id}/claims`), body);
    const submit = async (body: object) =>
      await kit.post(`/wallet/${kit.program}/purchase/${id}`, { action: "claim", signature, ...body });
    await at(deadlines.claim_deadline - 1);
    expect(problem(await file({})).code).toBe("validation_failed");
    expect(problem(await submit({})).code).toBe("validation_failed");
    await at(deadlines.claim_deadline);
    const detail = due("claim", deadlines.claim_deadline, 1);
    for (const answer of [
      await file({}),
      await file({ requested_amount: "1", reason: "Late.", signature }),
      await file({ requested_amount: "99000000", reason: "Late." }),
      await submit(wish),
      await submit({}),
    ])
      expect(problem(answer)).toMatchObject({ status: 409, code: "claim_window_closed", detail });
    expect(await kit.action("purchase", id, "claim", wish)).toMatchObject({ allowed: false });
  });

  test("a claim of a payment that was not reconciled: to reconcile it would not help", async () => {
    const { given } = kit.sandbox;
    const { purchase } = await given.purchase({ state: "paid" });
    const { id, deadlines } = purchase;
    const signature = `0x${"11".repeat(65)}`;
    const wish = { action: "claim", amount: "1", reason: "Late.", signature };
    const claims = async () => [
      problem(await kit.post(kit.path(`/purchases/${id}/claims`), {})),
      problem(await kit.post(`/wallet/${kit.program}/purchase/${id}`, wish)),
    ];
    await at(deadlines.claim_deadline - 1);
    for (const claim of await claims())
      expect(claim).toMatchObject({ code: "state_conflict", allowed: ["reconcile"] });
    await at(deadlines.claim_deadline);
    const detail = due("claim", deadlines.claim_deadline, 1);
    for (const claim of await claims())
      expect(claim).toMatchObject({ status: 409, code: "claim_window_closed", detail });
  });
});

async function settled(hash: Hex): Promise<void> {
  expect((await kit.wallet("deployer").receipt(hash)).status).toBe("success");
}
