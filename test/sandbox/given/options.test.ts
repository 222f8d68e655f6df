import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { unwrap } from "../../../sandbox/client/problem-error.ts";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Given } from "../../../sandbox/given/given.ts";
import { merchantStates, purchaseStates, routes } from "../../../sandbox/given/states.ts";
import { day } from "../../../server/limits.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

const otherStates = "claimed, approved, denied, refund_due or refunded";
const paying = `partially_paid, paid, reconciled, ${otherStates}`;

let sandbox: Sandbox;
let otherMerchant: string;

beforeAll(async () => {
  sandbox = await freshSandbox();
  otherMerchant = (await sandbox.given.merchant({ state: "enrolled", program: "prg_other" })).merchant.id;
});

/** Returns the answer to a JSON request. */
async function post(body: unknown) {
  const answer = await fetch(`${sandbox.description.urls.control}/given`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const type = answer.headers.get("content-type");
  return { status: answer.status, type, body: JSON.parse(await answer.text()) };
}

test("a buyer that is the wallet of the merchant to be is refused before that merchant is made", async () => {
  // The first test of the file: no other has made one.
  const merchants = async () => (await sandbox.store.list("merchants", { program: "prg_demo" })).length;
  const before = await merchants();
  await expect(sandbox.given.purchase({ state: "created", buyer: "merchant" })).rejects.toThrow(
    'buyer "merchant" is the wallet of the merchant, which cannot pay itself.',
  );
  expect(await merchants()).toBe(before);
});

test.each<[object, string, string]>([
  [
    { state: "payed" },
    "/state",
    'state "payed" is not a valid value. Use created, active, partially_paid, paid, reconciled, claimed, approved, denied, refund_due, refunded or expired.',
  ],
  [
    {},
    "/state",
    "state is missing. Use created, active, partially_paid, paid, reconciled, claimed, approved, denied, refund_due, refunded or expired.",
  ],
  [
    { state: "paid", route: "operator" },
    "/route",
    'route "operator" is not a valid value. Use registrar_offer or merchant_direct.',
  ],
  [
    { state: "created", route: "merchant_direct" },
    "/route",
    'route "merchant_direct" does not apply to the state created. Leave out route, or choose a state that it applies to: active, partially_paid, paid, reconciled, claimed, approved, denied, refund_due, refunded or expired.',
  ],
  [
    { state: "paid", amount: "0" },
    "/amount",
    'amount "0" is not an amount above zero in base units. Pass a decimal string such as "25000000".',
  ],
  [
    { state: "paid", amount: "30.50" },
    "/amount",
    'amount "30.50" is not an amount above zero in base units. Pass "30500000" for 30.50 USDC.',
  ],
  [
    { state: "paid", amount: 25 },
    "/amount",
    'amount 25 is not an amount above zero in base units. Pass a decimal string such as "25000000".',
  ],
  [
    { state: "paid", amount: "340282366920938463463374607431768211456" },
    "/amount",
    'amount "340282366920938463463374607431768211456" is above the largest amount, 2^128 - 1. Pass at most 340282366920938463463374607431768211455.',
  ],
  [
    { state: "approved", award: "340282366920938463463374607431768211456" },
    "/award",
    'award "340282366920938463463374607431768211456" is above the largest amount, 2^128 - 1. Pass at most 340282366920938463463374607431768211455.',
  ],
  [
    { state: "created", buyer: "merchant" },
    "/buyer",
    'buyer "merchant" is the wallet of the merchant, which cannot pay itself. Pass another wallet, or another merchant.',
  ],
  [
    { state: "created", beneficiary: "merchant" },
    "/beneficiary",
    'beneficiary "merchant" is the wallet of the merchant, which cannot refund itself. Pass another wallet, or another merchant.',
  ],
  [
    { state: "active", permit: true },
    "/permit",
    `permit true does not apply to the state active. Leave out permit, or choose a state that it applies to: ${paying}.`,
  ],
  [
    { state: "reconciled", claimed: "5" },
    "/claimed",
    `claimed "5" does not apply to the state reconciled. Leave out claimed, or choose a state that it applies to: ${otherStates}.`,
  ],
  [
    { state: "claimed", award: "5" },
    "/award",
    'award "5" does not apply to the state claimed. Leave out award, or choose a state that it applies to: approved, denied, refund_due or refunded.',
  ],
  [
    { state: "paid", paid: "5" },
    "/paid",
    `paid "5" does not apply to the state paid. Leave out paid, or choose a state that it applies to: partially_paid, reconciled, ${otherStates}.`,
  ],
  [
    { state: "partially_paid", amount: "5", paid: "5" },
    "/paid",
    'paid "5" is not less than the amount 5. Pass less, or use the state paid.',
  ],
  [
    { state: "partially_paid", amount: "1" },
    "/amount",
    'amount "1" cannot be paid in part. Pass an amount above 1.',
  ],
  [
    { state: "reconciled", amount: "5", paid: "6" },
    "/paid",
    'paid "6" is above the amount 5. Pass at most 5.',
  ],
  [
    { state: "claimed", amount: "9", paid: "5", claimed: "6" },
    "/claimed",
    'claimed "6" is above what is paid, 5. Pass at most 5.',
  ],
  [
    { state: "approved", claimed: "10", award: "11" },
    "/award",
    'award "11" is above what is claimed, 10. Pass at most 10.',
  ],
  [
    { state: "denied", award: "1" },
    "/award",
    'award "1" does not match the state denied. Pass "0", or leave out award.',
  ],
  [
    { state: "refunded", award: "0" },
    "/award",
    'award "0" does not match the state refunded. Pass an award above zero.',
  ],
  [
    { state: "paid", buyer: "alice" },
    "/buyer",
    'buyer "alice" is not a valid value. Use deployer, merchant, buyer, beneficiary, stranger, other_merchant or other_buyer.',
  ],
  [
    { state: "paid", deadlines: { pay_deadline: "soon" } },
    "/deadlines/pay_deadline",
    'deadlines.pay_deadline "soon" is not a Unix time. Pass whole seconds, not milliseconds.',
  ],
  [
    { state: "paid", deadlines: { pay_deadline: 1_900_000_000_000 } },
    "/deadlines/pay_deadline",
    "deadlines.pay_deadline 1900000000000 is not a Unix time. These look like milliseconds: pass 1900000000.",
  ],
  [
    { state: "paid", deadlines: { pay_deadline: "1900000000" } },
    "/deadlines/pay_deadline",
    'deadlines.pay_deadline "1900000000" is not a Unix time. Pass the number 1900000000.',
  ],
  [
    { state: "paid", deadlines: { pay_deadline: "2030-03-17T17:46:40Z" } },
    "/deadlines/pay_deadline",
    'deadlines.pay_deadline "2030-03-17T17:46:40Z" is not a Unix time. Pass the number 1900000000.',
  ],
  [
    { state: "paid", deadlines: { pay_deadline: "9".repeat(30) } },
    "/deadlines/pay_deadline",
    'deadlines.pay_deadline "999999999999999999999999999999" is not a Unix time. Pass whole seconds, not milliseconds.',
  ],
  [
    { state: "paid", deadlines: { claim_deadline: 2 ** 52 } },
    "/deadlines/claim_deadline",
    "deadlines.claim_deadline 4503599627370496 is not a Unix time. Pass whole seconds, not milliseconds.",
  ],
  [
    { state: "paid", merchant: "mer_aaaaaaaaaaaaaaaaaaaa" },
    "/merchant",
    'merchant "mer_aaaaaaaaaaaaaaaaaaaa" does not exist. Pass a merchant of this sandbox.',
  ],
  [
    { state: "paid", merchant: null },
    "/merchant",
    "merchant null is not a merchant's id. Pass a merchant, or its id.",
  ],
  [
    { state: "paid", program: "prg_none" },
    "/program",
    'program "prg_none" is not a program of this sandbox. Use prg_demo or prg_other.',
  ],
  [
    { state: "paid", status: "paid" },
    "/status",
    "There is no option status. Use state, route, program, merchant, buyer, beneficiary, amount, paid, permit, claimed, reason, award, terms, reference or deadlines.",
  ],
])("%j is refused with what to do, in code and over HTTP", async (options, pointer, detail) => {
  const call: (options: never) => Promise<unknown> = (wrong) => sandbox.given.purchase(wrong);
  const refused = call(options as Parameters<typeof call>[0]);
  await expect(refused).rejects.toMatchObject({
    name: "GivenInvalidError",
    code: "given_invalid",
    message: detail,
    errors: [{ pointer, detail }],
  });
  expect(await post({ purchase: options })).toEqual({
    status: 422,
    type: "application/problem+json; charset=utf-8",
    body: {
      type: "about:blank",
      status: 422,
      code: "given_invalid",
      detail,
      errors: [{ pointer: `/purchase${pointer}`, detail }],
    },
  });
});

test("an amount as a bigint, which JSON cannot carry, is refused as any other wrong amount", async () => {
  const call: (options: never) => Promise<unknown> = (wrong) => sandbox.given.purchase(wrong);
  const wrong: object = { state: "paid", amount: 5n };
  await expect(call(wrong as Parameters<typeof call>[0])).rejects.toThrow(
    'amount 5n is not an amount above zero in base units. Pass a decimal string such as "25000000".',
  );
});

const circular: { self?: object } = {};
circular.self = circular;

test.each<[terms: object, shown: string]>([
  [{ a: undefined }, '{"a":undefined}'],
  [{ a: { b: undefined } }, '{"a":{"b":undefined}}'],
  [{ price: 25n }, '{"price":25n}'],
  [{ list: [1, Number.NaN] }, '{"list":[1,NaN]}'],
  [circular, "an object without a JSON form"],
  [{ a: { when: new Date(0) } }, '{"a":{"when":the Date 1970-01-01T00:00:00.000Z}}'],
  [{ a: { toJSON: () => 1 } }, '{"a":the object with toJSON}'],
])("terms that JSON cannot carry are shown as they were passed: %o", async (terms, shown) => {
  const call: (options: never) => Promise<unknown> = (wrong) => sandbox.given.purchase(wrong);
  const wrong: object = { state: "paid", terms };
  await expect(call(wrong as Parameters<typeof call>[0])).rejects.toThrow(
    `terms ${shown} are not a JSON object. Pass a plain object of JSON values.`,
  );
});

test("a merchant of another program is refused, and gives the program when none is named", async () => {
  const detail = `merchant "${otherMerchant}" is of the program prg_other, not prg_demo. Pass a merchant of that program, or leave out program.`;
  const options: Parameters<Given["purchase"]>[0] = { state: "active", merchant: otherMerchant };
  await expect(sandbox.given.purchase({ ...options, program: "prg_demo" })).rejects.toThrow(detail);
  expect((await sandbox.given.purchase(options)).purchase.program).toBe("prg_other");
});

test("a merchant that is pending is refused", async () => {
  const { merchant } = await sandbox.given.merchant({ state: "pending", wallet: "stranger" });
  await expect(sandbox.given.purchase({ state: "paid", merchant })).rejects.toThrow(
    `merchant "${merchant.id}" is pending. Pass one that is enrolled.`,
  );
});

test("a merchant whose wallet the sandbox does not have is refused where the wallet must act", async () => {
  const { given, client, chain, openWallet } = sandbox;
  const wallet = openWallet(`0x${"17".repeat(32)}`);
  await chain.client.setBalance({ address: wallet.address, value: 10n ** 18n });
  const program = "prg_demo";
  const created = unwrap(
    await client.POST("/v1/routing/programs/{program}/merchants", {
      params: { path: { program }, header: { "Idempotency-Key": "foreign-merchant" } },
      body: { wallet: wallet.address, name: "Elsewhere", funding_cap: "100000000" },
    }),
  );
  const { body } = await wallet.enroll(created);
  const merchant = unwrap(
    await client.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
      params: { path: { program, id: created.id }, header: { "Idempotency-Key": "foreign-enrollment" } },
      body,
    }),
  );
  const detail = `merchant "${merchant.id}" has the wallet ${wallet.address}, whose key the sandbox does not have. Pass a merchant of one of its wallets.`;
  const purchases = async () => (await sandbox.store.list("purchases", {})).length;
  const before = await purchases();
  await expect(given.purchase({ state: "active", route: "merchant_direct", merchant })).rejects.toThrow(
    detail,
  );
  await expect(given.purchase({ state: "refunded", merchant })).rejects.toThrow(detail);
  expect(await purchases()).toBe(before);
  expect((await given.purchase({ state: "approved", merchant })).merchant.id).toBe(merchant.id);
});

test("options of a merchant that its wallet's enrollment contradicts are refused", async () => {
  const { given } = sandbox;
  const { merchant } = await given.merchant({ state: "enrolled", wallet: "other_merchant", name: "One" });
  const again = { state: "enrolled", wallet: "other_merchant" } as const;
  expect((await given.merchant({ ...again, name: "One" })).merchant.id).toBe(merchant.id);
  for (const [option, value] of [
    ["name", "Two"],
    ["cap", "5"],
    ["reference", "five"],
  ] as const)
    await expect(given.merchant({ ...again, [option]: value })).rejects.toThrow(
      `${option} "${value}" is not that of ${merchant.id}, which the wallet is enrolled as. Leave out ${option}, or pass another wallet.`,
    );
  await expect(given.merchant({ ...again, state: "pending" })).rejects.toThrow(
    `wallet "other_merchant" is enrolled as ${merchant.id} in prg_demo, so it has no pending merchant. Pass another wallet, or revoke its funding authorization first.`,
  );
});

test("a request over HTTP gives what it asks for, and one that asks for nothing or for both is refused", async () => {
  const { status, body } = await post({ merchant: { state: "funded", wallet: "other_buyer" } });
  expect([status, body.merchant.status, Object.keys(body)]).toEqual([201, "enrolled", ["merchant"]]);
  const paid = await post({ purchase: { state: "paid", merchant: body.merchant, permit: true } });
  expect(paid.status).toBe(201);
  expect(Object.keys(paid.body)).toEqual(["merchant", "purchase", "payments", "claim", "decision", "refund"]);
  expect(paid.body.purchase).toMatchObject({ merchant_id: body.merchant.id, payment_status: "paid" });
  const detail = 'The body must have one member, "merchant" or "purchase", with the options of that.';
  for (const wrong of [{}, { merchant: {}, purchase: {} }, { claim: {} }, { purchase: "paid" }, [], null])
    expect((await post(wrong)).body).toMatchObject({ code: "given_invalid", detail });
});

test("options that are no object are refused", async () => {
  const call: (options?: never) => Promise<unknown> = (none) => sandbox.given.merchant(none as never);
  await expect(call()).rejects.toThrow(
    "The options undefined are not an object. Pass one with state, program, wallet, name, cap or reference.",
  );
});

test("docs/states.md names every state and option", async () => {
  const page = await readFile(new URL("../../../docs/states.md", import.meta.url), "utf8");
  const named = new Set([...page.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name));
  const { errors } = await sandbox.given.purchase({ status: "paid" } as never).catch((error) => error);
  const options = /Use (.*)\.$/.exec(errors.at(-1)?.detail)?.[1]?.split(/, | or /) ?? [];
  expect(options).toContain("deadlines");
  const names = [...merchantStates, ...purchaseStates, ...routes, ...options];
  expect(names.filter((name) => name !== "state" && !named.has(name))).toEqual([]);
});

test("a buyer or a beneficiary that is the wallet of the merchant that is passed is refused", async () => {
  const { given } = sandbox;
  const { merchant } = await given.merchant({ state: "enrolled", wallet: "other_buyer" });
  await expect(given.purchase({ state: "created", merchant, buyer: "other_buyer" })).rejects.toThrow(
    'buyer "other_buyer" is the wallet of the merchant, which cannot pay itself. Pass another wallet, or another merchant.',
  );
  await expect(given.purchase({ state: "created", merchant, beneficiary: "other_buyer" })).rejects.toThrow(
    'beneficiary "other_buyer" is the wallet of the merchant, which cannot refund itself. Pass another wallet, or another merchant.',
  );
  expect((await given.purchase({ state: "created", merchant, buyer: "merchant" })).purchase.status).toBe(
    "created",
  );
});

test("a given state that cannot be made has its code over HTTP", async () => {
  const { client } = sandbox.chain;
  await client.setAutomine(false);
  try {
    expect(await post({ purchase: { state: "created" } })).toMatchObject({
      status: 422,
      body: { status: 422, code: "given_refused", detail: expect.stringContaining("Mining is stopped") },
    });
  } finally {
    await client.setAutomine(true);
  }
});

test("a refusal of the API has its problem over HTTP", async () => {
  const { status, body } = await post({ purchase: { state: "active", amount: "2000000000000" } });
  expect(status).toBe(422);
  expect(body).toMatchObject({
    code: "validation_failed",
    detail: expect.stringContaining("The API responded with 422 validation_failed: /amount"),
    problem: { code: "validation_failed", errors: [{ pointer: "/amount", code: "above_funding_cap" }] },
  });
});

test.each<[what: string, deadlines: { [name: string]: number }, pointer: string, detail: string]>([
  [
    "an offer deadline in the past",
    { offer_deadline: -60 },
    "/deadlines/offer_deadline",
    "deadlines.offer_deadline AT is not after the time of the sandbox, NOW. Pass a later time, such as NEXT for 60 minutes from now.",
  ],
  [
    "a pay deadline in the past",
    { pay_deadline: -60 },
    "/deadlines/pay_deadline",
    "deadlines.pay_deadline AT is not after the time of the sandbox, NOW. Pass a later time, such as NEXT for 60 minutes from now.",
  ],
  [
    "a pay deadline before the default of the offer deadline",
    { pay_deadline: 3_600 },
    "/deadlines/pay_deadline",
    "deadlines.pay_deadline AT is before deadlines.offer_deadline, by default DAY. Pass deadlines.offer_deadline, too, of AT or earlier.",
  ],
  [
    "a claim deadline before the default of the pay deadline",
    { claim_deadline: 172_800 },
    "/deadlines/claim_deadline",
    "deadlines.claim_deadline AT is before deadlines.pay_deadline, by default WEEK. Pass deadlines.pay_deadline, too, of AT or earlier.",
  ],
  [
    "a claim deadline before the pay deadline",
    { offer_deadline: 60, pay_deadline: 120, claim_deadline: 90 },
    "/deadlines/claim_deadline",
    "deadlines.claim_deadline AT is before deadlines.pay_deadline, PAY. Pass deadlines.pay_deadline, too, of AT or earlier.",
  ],
])("%s is refused by its name before anything is made", async (_, after, pointer, detail) => {
  const now = await sandbox.clock.now();
  const deadlines = Object.fromEntries(Object.entries(after).map(([name, seconds]) => [name, now + seconds]));
  const before = await sandbox.fingerprint();
  const said = detail
    .replaceAll("AT", String(deadlines[pointer.split("/").at(-1) ?? ""]))
    .replace("NOW", String(now))
    .replace("NEXT", String(now + 3_600))
    .replace("DAY", String(now + day))
    .replace("WEEK", String(now + 7 * day))
    .replace("PAY", String(deadlines["pay_deadline"]));
  await expect(sandbox.given.purchase({ state: "active", deadlines })).rejects.toMatchObject({
    name: "GivenInvalidError",
    code: "given_invalid",
    errors: [{ pointer, detail: said }],
  });
  expect(await post({ purchase: { state: "active", deadlines } })).toMatchObject({
    status: 422,
    body: { code: "given_invalid", errors: [{ pointer: `/purchase${pointer}`, detail: said }] },
  });
  expect(await sandbox.fingerprint()).toEqual(before);
});

test.each([
  ["merchant", "a promise", Promise.resolve({ state: "funded" })],
  ["deadlines", "a promise", Promise.resolve({})],
  ["terms", "a Map", new Map([["a", 1]])],
] as const)("what only looks like an object is refused: %s is %s", async (option, shown, value) => {
  const options = { state: "created", [option]: value };
  await expect(sandbox.given.purchase(options as never)).rejects.toMatchObject({
    code: "given_invalid",
    message: `${option} ${shown} has no fields. Pass an object, and await a promise first.`,
  });
});
