import type { Address } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { problem, type Schema } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;
let start: Snapshot;

beforeAll(async () => {
  kit = await TestKit.shared();
  merchant = await kit.enrolledMerchant();
  start = await kit.sandbox.snapshot();
});

beforeEach(async () => {
  await start.restore();
});

/** Addresses that cannot act, and what each is called. */
const unable: readonly [what: string, address: () => Address][] = [
  ["the zero address", () => "0x0000000000000000000000000000000000000000"],
  ["the token contract", () => kit.sandbox.description.contracts.token],
  ["the registrar contract", () => kit.sandbox.description.contracts.registrar],
  ["the funding source", () => kit.sandbox.description.contracts.funding_source],
  ["the operator of prg_demo", () => operatorOf("prg_demo")],
  ["the operator of prg_other", () => operatorOf("prg_other")],
];

function operatorOf(program: string): Address {
  const found = kit.sandbox.chain.deployment.programs.find(({ id }) => id === program);
  if (found === undefined) throw new Error(`There is no program ${program}.`);
  return found.operator;
}

function purchaseBody(change: Partial<Schema<"CreatePurchase">> = {}) {
  return {
    merchant_id: merchant.id,
    buyer: kit.wallet("buyer").address,
    beneficiary: kit.wallet("beneficiary").address,
    amount: "25000000",
    terms: {},
    ...change,
  };
}

/** The refusal of a write, which must have written nothing. */
async function refusalOf(path: string, body: unknown) {
  const before = await kit.digest();
  const answer = await kit.post(kit.path(path), body);
  expect(answer.status, answer.text).toBe(422);
  expect(await kit.digest()).toBe(before);
  return problem(answer);
}

describe.each(unable)("%s", (what, address) => {
  const detail = `is ${what}, which cannot act as a party; use the address of an account`;

  test("is refused as a merchant's wallet", async () => {
    expect(
      await refusalOf("/merchants", { wallet: address(), name: "Corner Books", funding_cap: "1" }),
    ).toMatchObject({
      code: "validation_failed",
      detail: `/wallet ${detail}`,
      errors: [{ pointer: "/wallet", code: "cannot_act", detail }],
    });
  });

  test("is refused as a buyer, even in lower case", async () => {
    for (const buyer of [address(), address().toLowerCase()])
      expect(await refusalOf("/purchases", { ...purchaseBody(), buyer })).toMatchObject({
        code: "validation_failed",
        errors: [{ pointer: "/buyer", code: "cannot_act", detail }],
      });
  });

  test("is refused as a beneficiary", async () => {
    expect(await refusalOf("/purchases", purchaseBody({ beneficiary: address() }))).toMatchObject({
      code: "validation_failed",
      errors: [{ pointer: "/beneficiary", code: "cannot_act", detail }],
    });
  });
});

test("a buyer that is also the beneficiary by default is named once", async () => {
  const { beneficiary: _, ...body } = purchaseBody({ buyer: kit.sandbox.description.contracts.token });
  const { errors } = await refusalOf("/purchases", body);
  expect(errors?.map(({ pointer }) => pointer)).toEqual(["/buyer"]);
});

test("the merchant's wallet is refused as buyer and as beneficiary, each with its pointer", async () => {
  const { wallet } = merchant;
  const detail = "must not be the merchant's wallet";
  expect(await refusalOf("/purchases", purchaseBody({ buyer: wallet, beneficiary: wallet }))).toMatchObject({
    code: "validation_failed",
    errors: [
      { pointer: "/buyer", code: "same_party", detail },
      { pointer: "/beneficiary", code: "same_party", detail },
    ],
  });
  const { beneficiary: _, ...body } = purchaseBody({ buyer: wallet });
  expect((await refusalOf("/purchases", body)).errors).toEqual([
    { pointer: "/buyer", code: "same_party", detail },
  ]);
});

describe("a merchant's wallet", () => {
  const body = (wallet: Address) => ({ wallet, name: "Second Books", funding_cap: "1000" });

  test("that is enrolled in the program is refused, and the merchant that it is enrolled as is named", async () => {
    const detail = `is enrolled as ${merchant.id} in this program; use another wallet, or let it revoke that funding`;
    expect(await refusalOf("/merchants", body(merchant.wallet))).toMatchObject({
      code: "validation_failed",
      detail: `/wallet ${detail}`,
      errors: [{ pointer: "/wallet", code: "already_enrolled", detail }],
    });
  });

  test("that is enrolled on chain is refused before POST …/enrollment has confirmed it", async () => {
    const pending = await kit.createMerchant("1000", "other_merchant");
    await kit.act("other_merchant", "merchant", pending.id, "enroll");
    const { errors } = await refusalOf("/merchants", body(pending.wallet));
    expect(errors).toMatchObject([{ pointer: "/wallet", code: "already_enrolled" }]);
  });

  test("is accepted as long as no merchant of the program has enrolled it", async () => {
    await kit.createMerchant("1000", "other_merchant");
    const again = await kit.post(kit.path("/merchants"), body(kit.wallet("other_merchant").address));
    expect(again.status).toBe(201);
  });

  test("is accepted again once it has revoked its funding", async () => {
    await kit.sandbox.wallets.merchant.revokeFunding(merchant);
    expect((await kit.post(kit.path("/merchants"), body(merchant.wallet))).status).toBe(201);
  });

  test("that is enrolled in another program is accepted", async () => {
    const { credential } = await kit.issue(kit.otherAccountKey);
    const answer = await kit.post("/v1/routing/programs/prg_other/merchants", body(merchant.wallet), {
      Authorization: `Bearer ${credential}`,
    });
    expect(answer.status).toBe(201);
  });

  test("that is enrolled is named with every other finding", async () => {
    const { errors } = await refusalOf("/merchants", { ...body(merchant.wallet), funding_valid_until: 1 });
    expect(errors?.map(({ pointer }) => pointer)).toEqual(["/funding_valid_until", "/wallet"]);
  });
});
