import { afterAll, beforeAll, expect, test } from "vitest";
import { problem, type Schema, Stage } from "./stage.ts";

let stage: Stage;
let merchant: Schema<"Merchant">;

beforeAll(async () => {
  stage = await Stage.open({ seed: "terms" });
  merchant = await stage.enrolledMerchant("50000000");
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** What is refused of a purchase, as pairs of pointer and code. */
async function refused(terms: object): Promise<string[][]> {
  const body = {
    merchant_id: merchant.id,
    buyer: stage.wallet("buyer").address,
    amount: "25000000",
    terms: {},
    ...terms,
  };
  const answer = await stage.post(stage.path("/purchases"), body);
  expect(answer.status).toBe(422);
  return (problem(answer).errors ?? []).map(({ pointer, code }) => [pointer, code]);
}

test("what the contract would refuse is refused at creation, with the field that is to blame", async () => {
  const wallet = stage.wallet("merchant").address;
  const now = await stage.sandbox.clock.now();
  expect(await refused({ buyer: wallet })).toEqual([["/buyer", "same_party"]]);
  expect(await refused({ beneficiary: wallet })).toEqual([["/beneficiary", "same_party"]]);
  expect(await refused({ amount: "50000001" })).toEqual([["/amount", "above_funding_cap"]]);
  expect(await refused({ offer_deadline: now })).toEqual([["/offer_deadline", "not_in_future"]]);
  expect(await refused({ pay_deadline: now + 60, offer_deadline: now + 120 })).toEqual([
    ["/pay_deadline", "out_of_order"],
  ]);
  expect(await refused({ claim_deadline: merchant.funding.valid_until + 1 })).toEqual([
    ["/claim_deadline", "after_funding"],
  ]);
});

test("every finding is listed at once", async () => {
  const found = await refused({ amount: "50000001", offer_deadline: 1, pay_deadline: 0 });
  expect(found).toEqual([
    ["/offer_deadline", "not_in_future"],
    ["/pay_deadline", "out_of_order"],
    ["/amount", "above_funding_cap"],
  ]);
});
