import { beforeAll, expect, test } from "vitest";
import { day } from "../../../server/limits.ts";
import { problem, type Schema } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;

beforeAll(async () => {
  kit = await TestKit.shared();
  merchant = await kit.enrolledMerchant("50000000");
});

/** Returns the refused fields of a purchase, as pairs of pointer and code. */
async function refused(terms: object): Promise<string[][]> {
  const body = {
    merchant_id: merchant.id,
    buyer: kit.wallet("buyer").address,
    amount: "25000000",
    terms: {},
    ...terms,
  };
  const answer = await kit.post(kit.path("/purchases"), body);
  expect(answer.status).toBe(422);
  return (problem(answer).errors ?? []).map(({ pointer, code }) => [pointer, code]);
}

test("terms that the contract would refuse are refused at creation, with the wrong field", async () => {
  const wallet = kit.wallet("merchant").address;
  const now = await kit.sandbox.clock.now();
  expect(await refused({ buyer: wallet })).toEqual([["/buyer", "same_party"]]);
  expect(await refused({ beneficiary: wallet })).toEqual([["/beneficiary", "same_party"]]);
  expect(await refused({ amount: "50000001" })).toEqual([["/amount", "above_funding_cap"]]);
  expect(await refused({ offer_deadline: now })).toEqual([["/offer_deadline", "not_in_future"]]);
  expect(await refused({ pay_deadline: now + 60, offer_deadline: now + 120 })).toEqual([
    ["/pay_deadline", "out_of_order"],
  ]);
  expect(await refused({ pay_deadline: now + 59, offer_deadline: now + 60 })).toEqual([
    ["/pay_deadline", "out_of_order"],
  ]);
  expect(
    await refused({ offer_deadline: now + 60, pay_deadline: now + 120, claim_deadline: now + 119 }),
  ).toEqual([["/claim_deadline", "out_of_order"]]);
  expect(await refused({ claim_deadline: merchant.funding.valid_until + 1 })).toEqual([
    ["/claim_deadline", "after_funding"],
  ]);
});

test("all deadlines may be one moment, the last one of the merchant's funding, and the amount its whole cap", async () => {
  const end = merchant.funding.valid_until;
  const deadlines = { offer_deadline: end, pay_deadline: end, claim_deadline: end };
  const purchase = await kit.createPurchase(merchant, { ...deadlines, amount: merchant.funding.cap });
  expect(purchase).toMatchObject({ deadlines, amount: merchant.funding.cap, expired: false });
});

test("the buyer is the beneficiary when none is named", async () => {
  const named = await kit.createPurchase(merchant);
  expect(named).toMatchObject({
    buyer: kit.wallet("buyer").address,
    beneficiary: kit.wallet("beneficiary").address,
  });
  const body = { merchant_id: merchant.id, buyer: named.buyer, amount: "25000000", terms: {} };
  const created = await kit.post(kit.path("/purchases"), body);
  expect(created.status, created.text).toBe(201);
  const { buyer, beneficiary, commitment }: Schema<"Purchase"> = JSON.parse(created.text);
  expect([buyer, beneficiary]).toEqual([named.buyer, named.buyer]);
  expect(commitment.typed_data.message).toMatchObject({ buyer, beneficiary });
});

test("deadlines that are not named are 1, 7 and 30 days from now, and never before an earlier one that is named", async () => {
  const daysFromNow = async (named: { offer_deadline?: number; pay_deadline?: number } = {}) => {
    const now = await kit.sandbox.clock.now();
    const shifted = Object.fromEntries(Object.entries(named).map(([name, days]) => [name, now + days * day]));
    const { deadlines } = await kit.createPurchase(merchant, shifted);
    return Object.values(deadlines).map((deadline) => (deadline - now) / day);
  };
  expect(await daysFromNow()).toEqual([1, 7, 30]);
  expect(await daysFromNow({ offer_deadline: 8 })).toEqual([8, 8, 30]);
  expect(await daysFromNow({ pay_deadline: 31 })).toEqual([1, 31, 31]);
  expect(await daysFromNow({ offer_deadline: 32 })).toEqual([32, 32, 32]);
});

test("a funding ends after now, a year from now when no end is named", async () => {
  const now = await kit.sandbox.clock.now();
  const wallet = kit.wallet("other_merchant").address;
  const body = { wallet, name: "Corner Books", funding_cap: "1" };
  const late = await kit.post(kit.path("/merchants"), { ...body, funding_valid_until: now });
  expect(problem(late)).toMatchObject({
    status: 422,
    code: "validation_failed",
    detail: `/funding_valid_until must be after now (${now})`,
    errors: [
      { pointer: "/funding_valid_until", code: "not_in_future", detail: `must be after now (${now})` },
    ],
  });
  const ending = await kit.post(kit.path("/merchants"), { ...body, funding_valid_until: now + 1 });
  expect(JSON.parse(ending.text).funding.valid_until).toBe(now + 1);
  const lasting = await kit.post(kit.path("/merchants"), body);
  expect(JSON.parse(lasting.text).funding.valid_until).toBe(now + 365 * day);
});

test("every finding is listed at once", async () => {
  const found = await refused({ amount: "50000001", offer_deadline: 1, pay_deadline: 0 });
  expect(found).toEqual([
    ["/offer_deadline", "not_in_future"],
    ["/pay_deadline", "out_of_order"],
    ["/amount", "above_funding_cap"],
  ]);
});
