import { encodeEventTopics, encodeFunctionData, type Hex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { contractWalletAbi, lookalikeAbi } from "../../../check-contract/adversary-abi.ts";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";
import type { Outgoing } from "../../../check-contract/fixture/fixture-chain.ts";
import type { FixturePurchase } from "../../../check-contract/fixture/fixture-service.ts";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import { type BindingCheck, type CheckName, checkNames } from "../../../protocol/binding/check-binding.ts";
import { collectRefundCall, expireCall } from "../../../protocol/call.ts";
import { usdc } from "../../../protocol/values/amount.ts";
import { nameCauses } from "../../../sandbox/explain/cause/name-cause.ts";
import { type Explanation, explanationSchema } from "../../../sandbox/explain/explanation.ts";

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterEach(async () => await fixture.reset());
afterAll(async () => await fixture.close());

async function explain(hash: Hex): Promise<Explanation> {
  const response = await fetch(`${fixture.sandbox.description.urls.control}/explain/${hash}`);
  expect(response.status).toBe(200);
  return explanationSchema.parse(await response.json());
}

/** Two purchases of a buyer who has no others, made in this order: one that can be paid for days, one for seconds. */
async function createInOrder(order: readonly ("open" | "late")[]) {
  const now = await fixture.sandbox.clock.now();
  const made = new Map<string, FixturePurchase>();
  for (const name of order) {
    const deadlines = name === "open" ? {} : { offer_deadline: now + 50, pay_deadline: now + 50 };
    made.set(name, await fixture.createPurchase({ buyer: fixture.address("other_buyer"), ...deadlines }));
  }
  const [open, late] = [made.get("open"), made.get("late")];
  if (open === undefined || late === undefined) throw new Error("Both purchases are made.");
  return { open, late, payDeadline: now + 50 };
}

describe.each([[["open", "late"]], [["late", "open"]]] as const)(
  "of two purchases that were made in the order %s",
  (order) => {
    test("an approval that is too late for one is reported as accepted for the other", async () => {
      const { open, late, payDeadline } = await createInOrder(order);
      await fixture.sandbox.clock.travelTo(payDeadline + 10);
      const explanation = await explain(await fixture.succeed("other_buyer", fixture.approve(usdc)));
      expect(explanation).toMatchObject({
        accepted: true,
        step: "payment approval",
        subject: open.id,
        cause: `It is accepted as payment approval of ${open.id}.`,
        compared: [
          { subject: open.id, accepted: true, failed: [] },
          { subject: late.id, accepted: false, failed: ["timely"] },
        ],
      });
    });

    test("an approval of another spender is reported for the one that it is not too late for", async () => {
      const { open, late, payDeadline } = await createInOrder(order);
      await fixture.sandbox.clock.travelTo(payDeadline + 10);
      const spender = fixture.address("stranger");
      const explanation = await explain(await fixture.succeed("other_buyer", fixture.approve(usdc, spender)));
      expect(explanation).toMatchObject({
        accepted: false,
        subject: open.id,
        cause: `In approve, spender is "${spender}"; "${fixture.contracts.registrar}" was expected.`,
        compared: [
          { subject: open.id, failed: ["calldata", "log"] },
          { subject: late.id, failed: ["calldata", "log", "timely"] },
        ],
      });
    });
  },
);

test("an approval is reported for the newest purchase that was there when it was mined", async () => {
  const create = async () => await fixture.createPurchase({ buyer: fixture.address("other_buyer") });
  const [older, newer] = [await create(), await create()];
  const hash = await fixture.succeed("other_buyer", fixture.approve(usdc));
  await fixture.client.mine({ blocks: 1 });
  const newest = await create();
  expect(await explain(hash)).toMatchObject({
    accepted: true,
    subject: newer.id,
    compared: [
      { subject: newer.id, failed: [] },
      { subject: older.id, failed: [] },
      { subject: newest.id, failed: ["timely"] },
    ],
  });
});

/** Calldata in which one byte of a hash is another one. */
function withOneByteWrong(data: Hex, hash: Hex): Hex {
  const last = hash.slice(-2) === "00" ? "01" : "00";
  return data.replace(hash.slice(2), `${hash.slice(2, -2)}${last}`) as Hex;
}

test.for([
  ["pay", (purchase: FixturePurchase) => fixture.pay(purchase)],
  ["claim", (purchase: FixturePurchase) => fixture.claim(purchase).call],
] as const)(
  "a call of %s with one wrong byte in the id is compared with the purchase that it is closest to",
  async ([_, callOf]) => {
    const create = async () => await fixture.createPurchase({ buyer: fixture.address("other_buyer") });
    const [older, newer] = [await create(), await create()];
    for (const { id, commitment } of [older, newer]) {
      const { to, data } = callOf(id === older.id ? older : newer);
      const call = {
        from: fixture.address("other_buyer"),
        to,
        data: withOneByteWrong(data, commitment.hash as Hex),
      };
      const explanation = await fixture.sandbox.explain({ call });
      expect(explanation.subject).toBe(id);
      expect(explanation.call?.words.flatMap(({ differing }) => differing)).toHaveLength(1);
    }
  },
);

describe("the id to compare with can be in the request, in the options and in the query, of", () => {
  /** Each kind of request about the second purchase, and what the first one is named for. */
  const requests = {
    call: () => ({ from: fixture.address("buyer"), ...fixture.pay(fixture.second) }),
    typed_data: () => fixture.second.commitment.typed_data,
    decision: () => ({
      award: "0",
      chain_id: fixture.sandbox.description.chain.chain_id,
      claim_hash: fixture.second.commitment.hash,
      claim_id: "clm_aaaaaaaaaaaaaaaaaaaa",
      commitment_hash: fixture.second.commitment.hash,
      decided_at: "2026-01-01T00:00:00Z",
      outcome: "denied",
      program: fixture.second.program,
      purchase: fixture.second.id,
      reviewer_key_id: fixture.sandbox.description.reviewer.key_id,
    }),
  };

  test.each(["call", "typed_data", "decision"] as const)("%s", async (kind) => {
    const { sandbox, purchase, second } = fixture;
    const request: { [name: string]: unknown } = { [kind]: requests[kind]() };
    const inCode: (...args: never[]) => Promise<unknown> = sandbox.explain;
    const untyped = inCode as (request: unknown, options?: unknown) => Promise<unknown>;
    const overHttp = async (body: object, query: string): Promise<unknown> => {
      const response = await fetch(`${sandbox.description.urls.control}/explain${query}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      return await response.json();
    };
    const { id } = purchase;
    expect(await untyped(request)).toMatchObject({ subject: second.id });
    const named = await untyped({ ...request, for: id });
    expect(named).toMatchObject({ subject: id });
    expect(await untyped(request, { for: id })).toEqual(named);
    expect(await overHttp(request, `?for=${id}`)).toEqual(named);
    const detail = `for names "${second.id}" and "${id}". Pass one of them.`;
    const both = { ...request, for: second.id };
    await expect(untyped(both, { for: id })).rejects.toMatchObject({
      code: "argument_invalid",
      message: detail,
    });
    expect(await overHttp(both, `?for=${id}`)).toMatchObject({ code: "argument_invalid", detail });
    await expect(untyped(request, id)).rejects.toMatchObject({
      code: "argument_invalid",
      message: `The options of explain are "${id}". Pass { for: id }, the id of a merchant or purchase.`,
    });
  });
});

test("a transaction that is older than its purchase or merchant is reported as such", async () => {
  const hash = await fixture.succeed("other_buyer", fixture.approve(usdc));
  const mined = await fixture.sandbox.clock.now();
  await fixture.sandbox.clock.travel(60);
  const { id } = await fixture.createPurchase({ buyer: fixture.address("other_buyer") });
  const explanation = await explain(hash);
  expect(explanation).toMatchObject({ accepted: false, compared: [{ subject: id, failed: ["timely"] }] });
  expect(explanation.cause).toBe(
    `It was mined at ${mined}, before the purchase, merchant or decision of this step was created (${mined + 60}).`,
  );
});

test.each([100n, 200n])(
  "of two merchants of a wallet, the approval of a cap of %i is reported for the one with that cap",
  async (cap) => {
    const merchants = [
      await fixture.createMerchant("other_merchant", 100n),
      await fixture.createMerchant("other_merchant", 200n),
    ];
    const hash = await fixture.succeed(
      "other_merchant",
      fixture.approve(cap, fixture.contracts.funding_source),
    );
    const meant = merchants.find(({ funding }) => funding.cap === String(cap));
    expect(await explain(hash)).toMatchObject({
      accepted: true,
      step: "funding approval",
      subject: meant?.id,
      compared: [{ failed: [] }, { failed: ["calldata", "log"] }],
    });
  },
);

describe("an approval of the wrong spender is reported as what its sender can approve:", () => {
  test("the funding source by a buyer is a payment approval", async () => {
    const spender = fixture.contracts.funding_source;
    const explanation = await explain(await fixture.succeed("buyer", fixture.approve(usdc, spender)));
    expect(explanation).toMatchObject({
      accepted: false,
      step: "payment approval",
      cause: `In approve, spender is "${spender}"; "${fixture.contracts.registrar}" was expected.`,
    });
  });

  test("the registrar by a merchant is a funding approval", async () => {
    const explanation = await explain(await fixture.succeed("merchant", fixture.approve(500n * usdc)));
    expect(explanation).toMatchObject({
      accepted: false,
      step: "funding approval",
      cause: `In approve, spender is "${fixture.contracts.registrar}"; "${fixture.contracts.funding_source}" was expected.`,
    });
  });
});

test("an approval by a merchant that is a buyer too is reported as what its spender is for", async () => {
  const merchant = await fixture.createMerchant("other_buyer", usdc);
  const { id } = await fixture.createPurchase({ buyer: fixture.address("other_buyer") });
  const told = async (spender: Hex) =>
    await explain(await fixture.succeed("other_buyer", fixture.approve(usdc, spender)));
  expect(await told(fixture.contracts.funding_source)).toMatchObject({
    cause: `It is accepted as funding approval of ${merchant.id}.`,
    compared: [{ subject: merchant.id }, { subject: id, failed: ["calldata", "log"] }],
  });
  expect(await told(fixture.contracts.registrar)).toMatchObject({
    cause: `It is accepted as payment approval of ${id}.`,
    compared: [{ subject: id }, { subject: merchant.id, failed: ["calldata", "log"] }],
  });
  // As far from the one as from the other.
  const wrongAmount = fixture.approve(2n * usdc, fixture.contracts.funding_source);
  expect(await explain(await fixture.succeed("other_buyer", wrongAmount))).toMatchObject({
    accepted: false,
    step: "funding approval",
    compared: [
      { subject: merchant.id, failed: ["calldata", "log"] },
      { subject: id, failed: ["calldata", "log"] },
    ],
  });
  expect(await told(fixture.address("stranger"))).toMatchObject({
    step: "payment approval",
    compared: [{ subject: id }, { subject: merchant.id }],
  });
});

test("a call that is not a step is reported for the purchase that it names, even if it reverts", async () => {
  const { registrar } = fixture.contracts;
  for (const { id, commitment } of [fixture.purchase, fixture.second]) {
    const refund = collectRefundCall(registrar, commitment.hash, 1n, commitment.hash);
    for (const call of [expireCall(registrar, commitment.hash), refund])
      expect(await explain(await fixture.send("stranger", call))).toMatchObject({
        accepted: false,
        step: "payment",
        subject: id,
        cause: `It was sent by ${fixture.address("stranger")}; the bound wallet is ${fixture.address("buyer")}.`,
      });
  }
  const expired = await explain(
    await fixture.send("buyer", expireCall(registrar, fixture.second.commitment.hash)),
  );
  expect(expired).toMatchObject({
    subject: fixture.second.id,
    cause: "It calls expire on the registrar contract; pay on the registrar contract was expected.",
  });
});

describe("a batch", () => {
  const amounts = [10n * usdc, 5n * usdc] as const;

  test.each([
    ["first", "second"],
    ["second", "first"],
  ] as const)(
    "of the %s and the %s purchase is reported as the payment of both, in its own order",
    async (...order) => {
      const [one, other] = order.map((name) => (name === "first" ? fixture.purchase : fixture.second));
      if (one === undefined || other === undefined) throw new Error("A batch of two.");
      const batch = fixture.payBatch([
        [one, amounts[0]],
        [other, amounts[1]],
      ]);
      expect(await explain(await fixture.succeed("buyer", batch))).toMatchObject({
        accepted: true,
        step: "payment",
        subject: `${one.id}, ${other.id}`,
        compared: [one, other].map(() => ({ subject: `${one.id}, ${other.id}`, failed: [] })),
      });
    },
  );

  test.each(["first", "last"])(
    "that pays a purchase of another program %s is refused for that",
    async (place) => {
      const parts = [
        [fixture.foreign, amounts[0]],
        [fixture.purchase, amounts[1]],
      ] as const;
      const batch = fixture.payBatch(place === "first" ? parts : parts.toReversed());
      expect(await explain(await fixture.succeed("buyer", batch))).toMatchObject({
        accepted: false,
        step: "payment",
        cause:
          "The purchase or claim of this transaction is not on the chain as the service expects it, or belongs to another buyer or program.",
      });
    },
  );
});

describe("a transaction whose own call says nothing", () => {
  async function emit(purchase: FixturePurchase, sender: "buyer" | "stranger"): Promise<Explanation> {
    const lookalike = await fixture.deploy("LookalikeRegistrar");
    const topics = encodeEventTopics({
      abi: purchaseRegistrarAbi,
      eventName: "PurchasePaid",
      args: { id: purchase.commitment.hash },
    }).filter((topic) => typeof topic === "string");
    const data = encodeFunctionData({ abi: lookalikeAbi, functionName: "emitLog", args: [topics, "0x"] });
    return await explain(await fixture.succeed(sender, { to: lookalike, data }));
  }

  test.each(["buyer", "stranger"] as const)(
    "is reported for the purchase that its logs name, before any other of its sender, who is the %s",
    async (sender) => {
      for (const purchase of [fixture.purchase, fixture.second, fixture.foreign])
        expect(await emit(purchase, sender)).toMatchObject({ step: "payment", subject: purchase.id });
    },
  );

  test("is reported for its sender's newest purchase when its logs name none", async () => {
    const create = async () => await fixture.createPurchase({ buyer: fixture.address("other_buyer") });
    await create();
    const newest = await create();
    const hash = await fixture.succeed("other_buyer", { to: fixture.address("stranger"), data: "0x" });
    expect(await explain(hash)).toMatchObject({ step: "payment", subject: newest.id });
  });

  test("is reported for the first call that it makes", async () => {
    const wallet = await fixture.deploy("ContractWallet");
    const calls = [fixture.approve(usdc), fixture.pay(fixture.second)].map(({ to, data }) => ({
      target: to,
      data,
    }));
    const told = async (order: typeof calls) => {
      const data = encodeFunctionData({ abi: contractWalletAbi, functionName: "multicall", args: [order] });
      return (await explain(await fixture.send("buyer", { to: wallet, data }))).step;
    };
    expect([await told(calls), await told(calls.toReversed())]).toEqual(["payment approval", "payment"]);
  });
});

describe("of several causes, explain names", () => {
  /** The next block is after the pay deadline of every purchase. */
  const late = async (): Promise<void> => {
    const deadlines = [fixture.purchase, fixture.second, fixture.draft, fixture.foreign].map(
      ({ deadlines: { pay_deadline } }) => pay_deadline,
    );
    await fixture.client.setNextBlockTimestamp({ timestamp: BigInt(Math.max(...deadlines) + 1) });
  };
  const trailing = (): Outgoing => {
    const { to, data } = fixture.pay(fixture.purchase);
    return { to, data: `${data}00` };
  };

  test.each<[string, CheckName[], () => Promise<Hex>, RegExp]>([
    [
      "the sender when a stranger sends ETH along",
      ["status", "wallet", "value", "log"],
      async () => await fixture.send("stranger", { ...fixture.pay(fixture.purchase), value: 1n }),
      /^It was sent by 0x\w{40}; the bound wallet is 0x\w{40}\.$/,
    ],
    [
      "the ETH when there is a trailing byte too",
      ["status", "value", "calldata", "log"],
      async () => await fixture.send("buyer", { ...trailing(), value: 1n }),
      /^It carries 1 wei; none is expected\.$/,
    ],
    [
      "the bytes when the registrar reverts for a trailing byte",
      ["status", "calldata", "log"],
      async () => await fixture.send("buyer", trailing()),
      /^The call of pay has the right arguments, but 1 byte too many: 00 at byte 68\.$/,
    ],
    [
      "the revert when a payment is of what is not on chain",
      ["status", "purchase", "log"],
      async () => await fixture.send("buyer", fixture.pay(fixture.draft)),
      /^It reverted: \w+\(.*\)\.$/,
    ],
    [
      "the contract's deadline when a payment comes too late",
      ["status", "log", "timely"],
      async () => {
        await late();
        return await fixture.send("buyer", fixture.pay(fixture.purchase));
      },
      /^It reverted: DeadlinePassed\(.*\)\.$/,
    ],
    [
      "the spender when an approval of another spender comes too late",
      ["calldata", "log", "timely"],
      async () => {
        await late();
        return await fixture.succeed("buyer", fixture.approve(usdc, fixture.address("stranger")));
      },
      /^In approve, spender is "0x\w{40}"; "0x\w{40}" was expected\.$/,
    ],
    [
      "the pending state of a stranger's payment",
      ["mined", "confirmations", "canonical", "status", "wallet", "contract", "log", "timely"],
      async () => {
        await fixture.client.setAutomine(false);
        return await fixture.submit("stranger", fixture.pay(fixture.purchase));
      },
      /^It is still pending: nothing is accepted before it is mined\.$/,
    ],
  ])("%s", async (_what, failed, send, cause) => {
    const explanation = await explain(await send());
    expect(explanation.checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(failed);
    expect(explanation.cause).toMatch(cause);
  });

  /** Each check as it fails, with both sides, and the sentence for it. */
  const failures: readonly [
    name: CheckName,
    sides: Pick<BindingCheck, "expected" | "actual">,
    sentence: RegExp,
  ][] = [
    [
      "chain",
      { expected: {}, actual: {} },
      /^The node serves a different chain from the one that the service was started with/,
    ],
    ["mined", { expected: "mined", actual: "pending" }, /^It is still pending/],
    ["canonical", { expected: {}, actual: null }, /^Its block is not on the chain/],
    ["contract", { expected: { address: "0xa" }, actual: { address: "0xb" } }, /^It calls 0xb /],
    ["wallet", { expected: "0xc", actual: "0xd" }, /^It was sent by 0xd/],
    ["value", { expected: "0", actual: "7" }, /^It carries 7 wei/],
    ["calldata", { expected: "0x", actual: {} }, /^Its calldata is not that/],
    ["status", { expected: "success", actual: "reverted" }, /^It reverted/],
    [
      "purchase",
      { expected: "0x01", actual: null },
      /^The purchase or claim of this transaction is not on the chain/,
    ],
    ["log", { expected: [], actual: [] }, /^The bound contracts did not emit/],
    ["unused", { expected: null, actual: "claim of pur_a" }, /^Its hash is used already: claim of pur_a/],
    [
      "timely",
      { expected: { from: null, to: 5 }, actual: 6 },
      /^It was mined at 6, after the deadline \(5\)/,
    ],
    ["confirmations", { expected: 2, actual: 1 }, /^It has 1 of 2 confirmations/],
  ];

  test("the cause of any check that fails", () => {
    expect(failures.map(([name]) => name).toSorted()).toEqual([...checkNames].toSorted());
  });

  test.each(failures)(
    "the cause of the check %s before that of every check below it, in whatever order they are reported",
    (name, sides, sentence) => {
      const place = failures.findIndex(([one]) => one === name);
      const failed = failures
        .slice(place)
        .map(([one, both]): BindingCheck => ({ name: one, ok: false, ...both }));
      const passed = failures
        .slice(0, place)
        .map(([one, both]): BindingCheck => ({ name: one, ok: true, ...both }));
      expect(failed[0]).toEqual({ name, ok: false, ...sides });
      for (const other of failed)
        for (const checks of [
          [...passed, ...failed],
          [other, ...failed.slice(0, 1), ...passed],
          failed.toReversed(),
        ])
          expect(nameCauses({ checks, call: null, failure: null })[0]).toMatch(sentence);
    },
  );
});

test("a call whose selector is wrong in one bit is compared with the purchase that its calldata names", async () => {
  const create = async () => await fixture.createPurchase({ buyer: fixture.address("other_buyer") });
  const [meant] = [await create(), await create()];
  const id = meant.commitment.hash as Hex;
  const from = fixture.address("other_buyer");
  const { registrar } = fixture.contracts;
  for (const data of [
    encodeFunctionData({ abi: purchaseRegistrarAbi, functionName: "pay", args: [id, 25_000_000n] }),
    encodeFunctionData({ abi: purchaseRegistrarAbi, functionName: "claim", args: [id, id] }),
  ]) {
    const selector = (Number.parseInt(data.slice(2, 4), 16) ^ 1).toString(16).padStart(2, "0");
    const call = { from, to: registrar, data: `0x${selector}${data.slice(4)}` } as const;
    expect(await fixture.sandbox.explain({ call })).toMatchObject({ accepted: false, subject: meant.id });
  }
});
