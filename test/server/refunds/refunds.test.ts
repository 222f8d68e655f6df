import { encodeFunctionData, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { approveCall, collectRefundCall } from "../../../protocol/call.ts";
import { hashId } from "../../../protocol/values/id.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import type { SentTransaction } from "../../../sandbox/wallets/wallet.ts";
import { day } from "../../../server/limits.ts";
import { type Answer, problem, type Schema } from "../../kit/answer.ts";
import { controlSandbox } from "../../kit/control.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;

const cap = 1_000_000_000_000n;

resetBeforeEach(async () => {
  kit = await TestKit.shared({ receiptTimeoutMs: 30_000 });
  return kit;
});

type Approved = Pick<Awaited<ReturnType<TestKit["approvedPurchase"]>>, "purchase" | "decision">;

/** Ways in which the merchant makes a collection fail, and how it reverses each. */
const takings = {
  allowance: {
    take: async () => await kit.wallet("merchant").submit(allow(0n)),
    giveBack: async () => await fund(cap),
    reason: "ERC20: transfer amount exceeds allowance",
    words:
      "the merchant's allowance to the funding source does not cover the award. Let the merchant approve the funding source for it",
  },
  balance: {
    take: async () => await kit.wallet("merchant").submit(await transferOfAll("merchant", "stranger")),
    giveBack: async () => {
      const {
        receipt: { status },
      } = await kit.wallet("stranger").send(await transferOfAll("stranger", "merchant"));
      expect(status).toBe("success");
    },
    reason: "ERC20: transfer amount exceeds balance",
    words: "the merchant's balance does not cover the award. Let the merchant hold it",
  },
} as const;

/** The merchant's approval of an amount to the funding source. */
function allow(allowance: bigint) {
  const { token, fundingSource } = kit.sandbox.chain.deployment;
  return approveCall(token.address, fundingSource.address, allowance);
}

async function fund(allowance: bigint): Promise<void> {
  expect((await kit.wallet("merchant").send(allow(allowance))).receipt.status).toBe("success");
}

async function transferOfAll(from: string, to: string) {
  const { client, deployment } = kit.sandbox.chain;
  const token = { address: deployment.token.address, abi: testUsdcAbi } as const;
  const { address } = kit.wallet(from);
  const balance = await client.readContract({ ...token, functionName: "balanceOf", args: [address] });
  return transfer(to, balance);
}

function transfer(to: string, amount: bigint) {
  const { address } = kit.sandbox.chain.deployment.token;
  const args = [kit.wallet(to).address, amount] as const;
  return { to: address, data: encodeFunctionData({ abi: testUsdcAbi, functionName: "transfer", args }) };
}

/** Leaves the merchant exactly so many tokens. */
async function leave(amount: bigint): Promise<void> {
  const [taken, left] = [await transferOfAll("merchant", "stranger"), transfer("merchant", amount)];
  expect((await kit.wallet("merchant").send(taken)).receipt.status).toBe("success");
  expect((await kit.wallet("stranger").send(left)).receipt.status).toBe("success");
}

/** Has a refund's collection mined behind the merchant's transaction that takes something away. */
async function revert(approved: Approved, what: keyof typeof takings, key?: string): Promise<Answer> {
  return await kit.behind(
    async () => [await takings[what].take()],
    async () => await kit.requestRefund(approved, key),
  );
}

async function collected(): Promise<Hex[]> {
  const { client, deployment } = kit.sandbox.chain;
  const logs = await client.getContractEvents({
    address: deployment.registrar.address,
    abi: purchaseRegistrarAbi,
    eventName: "RefundCollected",
    fromBlock: 0n,
  });
  return logs.map(({ transactionHash }) => transactionHash);
}

/** The program's relay operations of refunds, and its budget. */
async function transactions() {
  const { data } = await kit.api.GET("/v1/routing/programs/{program}/transactions", {
    params: { path: { program: kit.program } },
  });
  if (data === undefined) throw new Error("The transactions can be read.");
  const { limit_wei, reserved_wei, spent_wei, available_wei } = data.gas_budget;
  expect(BigInt(reserved_wei) + BigInt(spent_wei) + BigInt(available_wei)).toBe(BigInt(limit_wei));
  const costs = data.data.map(({ cost_wei }) => BigInt(cost_wei ?? 0));
  expect(costs.reduce((sum, cost) => sum + cost, 0n)).toBe(BigInt(spent_wei));
  return data.data.filter(({ kind }) => kind === "collect_refund");
}

describe.each(["allowance", "balance"] as const)(
  "a refund that reverted because the merchant took the %s away",
  (what) => {
    test.each(["the same key", "a new key"])(
      "is refused with the figure while that is missing, and collected once it is back, under %s",
      { tags: "thorough" },
      async (which) => {
        const approved = await kit.approvedPurchase(await kit.fundedMerchant());
        const reverted = await revert(approved, what, "first-key");
        expect(reverted.status, reverted.text).toBe(422);
        expect(problem(reverted)).toMatchObject({
          code: "transaction_reverted",
          retryable: true,
          detail: `The transaction of the collection reverted: ${takings[what].words}, then send the identical request again.`,
          revert: { name: "Error", args: { message: takings[what].reason } },
          operation: { status: "reverted", attempt: 1 },
        });
        const key = which === "the same key" ? "first-key" : "other-key";
        const short = await kit.requestRefund(approved, key);
        expect(short.status, short.text).toBe(409);
        expect(problem(short)).toMatchObject({
          code: "funding_source_insufficient",
          retryable: true,
          funding: { award: "10000000", [what]: "0", missing: [what] },
        });
        expect(await transactions()).toMatchObject([{ attempt: 1, status: "reverted" }]);

        await takings[what].giveBack();
        const done = await kit.requestRefund(approved, key);
        expect(done.status, done.text).toBe(201);
        const [operation] = await transactions();
        expect(JSON.parse(done.text)).toMatchObject({
          refund: { status: "collected", transaction_hash: operation?.hash },
          operation: { operation_id: operation?.operation_id, attempt: 2, status: "confirmed" },
        });
        expect(operation?.hashes).toMatchObject([
          { attempt: 1, purpose: "original", outcome: "reverted" },
          { attempt: 2, purpose: "original", outcome: "succeeded", hash: operation?.hash },
        ]);
        expect(await collected()).toEqual([operation?.hash]);
        const again = await kit.requestRefund(approved, key);
        expect(again.text).toBe(done.text);
      },
    );
  },
);

test("a refund that reverted between two requests is collected by the next request, once for all keys that began it", {
  tags: "thorough",
}, async () => {
  const approved = await kit.approvedPurchase(await kit.fundedMerchant());
  await kit.sandbox.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
  expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
  // The merchant's block is a new head, which the relayer follows: it sends what was held.
  await fund(0n);
  await expect.poll(async () => (await transactions())[0]?.status).toBe("reverted");
  await fund(cap);
  const done = await kit.requestRefund(approved, "other-key");
  expect(done.status, done.text).toBe(201);
  const late = await kit.requestRefund(approved, "first-key");
  expect(late.status, late.text).toBe(201);
  expect(late.text).toBe(done.text);
  expect(await transactions()).toMatchObject([{ attempt: 2, status: "confirmed" }]);
  expect(await collected()).toHaveLength(1);
});

/** Ways in which the key that started a collection gets the revert of its transaction. */
const learned = {
  "with the revert, after a 202": async (approved: Approved) => {
    await kit.sandbox.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
    expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
    const reverted = await revert(approved, "allowance", "first-key");
    expect([reverted.status, problem(reverted).code]).toEqual([422, "transaction_reverted"]);
  },
  "with the revert, at once": async (approved: Approved) => {
    const reverted = await revert(approved, "allowance", "first-key");
    expect([reverted.status, problem(reverted).code]).toEqual([422, "transaction_reverted"]);
  },
  "with what is missing, after a 202": async (approved: Approved) => {
    await kit.sandbox.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
    expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
    await fund(0n);
    await expect.poll(async () => (await transactions())[0]?.status).toBe("reverted");
    const short = await kit.requestRefund(approved, "first-key");
    expect([short.status, problem(short).code]).toEqual([409, "funding_source_insufficient"]);
  },
} as const;

test.each([
  "with the revert, after a 202",
  "with the revert, at once",
  "with what is missing, after a 202",
] as const)(
  "a key under which a refund began, and that was refused %s, gets the success of another key",
  { tags: "thorough" },
  async (how) => {
    const approved = await kit.approvedPurchase(await kit.fundedMerchant());
    await learned[how](approved);
    const other = await kit.post(
      kit.path(`/purchases/${approved.purchase.id}/reconcile`),
      {},
      { "Idempotency-Key": "first-key" },
    );
    expect([other.status, problem(other).code]).toEqual([422, "idempotency_key_reused"]);
    await fund(cap);
    const done = await kit.requestRefund(approved, "other-key");
    expect(done.status, done.text).toBe(201);
    const late = await kit.requestRefund(approved, "first-key");
    expect(late.status, late.text).toBe(201);
    expect(late.headers["idempotent-replayed"]).toBeUndefined();
    expect(late.text).toBe(done.text);
    expect((await kit.requestRefund(approved, "first-key")).headers["idempotent-replayed"]).toBe("true");
    expect(await collected()).toHaveLength(1);
  },
);

test("a refund whose collection is not confirmed is due since its award was recorded, and says so in one event", async () => {
  const approved = await kit.approvedPurchase(await kit.fundedMerchant());
  const { purchase } = approved;
  await kit.sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "hold", count: null });
  const due = await kit.requestRefund(approved, "first-key");
  expect(due.status, due.text).toBe(202);
  const begun: Schema<"RefundExecution"> = JSON.parse(due.text);
  expect(begun.refund).toEqual({
    ...dueRefund(approved),
    operation_id: begun.operation.operation_id,
    created_at: toTimestamp(await kit.sandbox.clock.now()),
    event_id: begun.event_id,
  });
  const { id: refund_id, event_id, created_at } = begun.refund;
  const told = { purchase_id: purchase.id, refund_id, award: "10000000" };
  expect(await refundEvents(purchase)).toEqual([{ id: event_id, type: "refund.due", data: told }]);
  expect(await kit.readPurchase(purchase)).toMatchObject({
    status: "refund_due",
    event_id,
    figures: { refunded: "0" },
  });
  const again = await kit.requestRefund(approved, "other-key");
  expect([again.status, JSON.parse(again.text).refund]).toEqual([202, begun.refund]);

  await kit.sandbox.chain.client.mine({ blocks: 1 });
  await kit.sandbox.faults.clear();
  const done = await kit.requestRefund(approved, "first-key");
  expect(done.status, done.text).toBe(201);
  const finished: Schema<"RefundExecution"> = JSON.parse(done.text);
  const { transaction_hash, collected_at } = finished.refund;
  expect(finished.refund).toEqual({
    ...begun.refund,
    status: "collected",
    transaction_hash: finished.operation.hash,
    claim_hash: approved.claim.claim_hash,
    collected_at,
    event_id: finished.event_id,
  });
  expect(Date.parse(String(collected_at))).toBeGreaterThan(Date.parse(created_at));
  expect(await refundEvents(purchase)).toEqual([
    { id: event_id, type: "refund.due", data: told },
    {
      id: finished.event_id,
      type: "refund.collected",
      data: { ...told, transaction_hash, claim_hash: approved.claim.claim_hash },
    },
  ]);
  expect(await kit.readPurchase(purchase)).toMatchObject({
    status: "refunded",
    figures: { refunded: "10000000" },
  });
});

/** Returns what is known of a refund of 10 USDC before it is begun. */
function dueRefund({ purchase, decision }: Approved) {
  return {
    id: expect.stringMatching(/^ref_/),
    program: kit.program,
    purchase_id: purchase.id,
    decision_id: decision.id,
    status: "due",
    award: "10000000",
    from: kit.wallet("merchant").address,
    to: kit.wallet("beneficiary").address,
    transaction_hash: null,
    claim_hash: null,
    collected_at: null,
  };
}

/** Returns a refund from all its readers: the purchase, the explorer and the events. */
async function readRefund({ purchase }: Approved) {
  const explorer = async (path: string): Promise<unknown> =>
    await controlSandbox(kit.sandbox.description, "GET", `/explorer${path}`);
  const { status, refund } = await kit.readPurchase(purchase);
  return {
    status,
    refund,
    events: (await refundEvents(purchase)).map(({ type }) => type),
    list: await explorer(`/purchases?q=${purchase.id}`),
    timeline: await explorer(`/purchases/${purchase.id}`),
    operations: await explorer(`/operations?q=${purchase.id}`),
    search: await explorer(`/search?q=${(await transactions())[0]?.subject.id ?? "none"}`),
  };
}

test.each([
  { point: "nonce", resumed: { operation: "confirmed", answer: 201 } },
  { point: "broadcast", resumed: { operation: "needs_attention", answer: 409 } },
] as const)(
  "a refund whose outcome is unknown since the nonce was taken at $point is due for every reader, also once the relayer has continued by itself",
  { tags: "thorough" },
  async ({ point, resumed }) => {
    const approved = await kit.approvedPurchase(await kit.fundedMerchant());
    const { purchase } = approved;
    await kit.sandbox.faults.set({ layer: "relayer", point, action: "foreign_nonce" });
    const unknown = await kit.requestRefund(approved, "first-key");
    expect(unknown.status, unknown.text).toBe(409);
    expect(problem(unknown)).toMatchObject({ code: "outcome_unknown" });
    const [operation] = await transactions();
    if (operation === undefined) throw new Error("The collection was begun.");
    const refund = {
      id: operation.subject.id,
      status: "due",
      operation_id: operation.operation_id,
      transaction_hash: null,
    };
    const told = {
      status: "refund_due",
      refund,
      events: ["refund.due"],
      list: { data: [{ id: purchase.id, status: "refund_due" }] },
      timeline: { purchase: { status: "refund_due" }, operations: [{}, { id: operation.operation_id }] },
      operations: { data: [{ id: operation.operation_id, purchase_id: purchase.id }, { kind: "offer" }] },
      search: { data: [{ type: "purchase", id: purchase.id }] },
    };
    expect(await readRefund(approved)).toMatchObject(told);

    const path = `/operations/${operation.operation_id}/resume`;
    await controlSandbox(kit.sandbox.description, "POST", path, {});
    const [continued] = await transactions();
    expect(continued?.status).toBe(resumed.operation);
    const transaction_hash = resumed.answer === 201 ? continued?.hash : null;
    expect(await readRefund(approved)).toMatchObject({ ...told, refund: { ...refund, transaction_hash } });
    const done = await kit.requestRefund(approved, "first-key");
    expect(done.status, done.text).toBe(resumed.answer);
    const events = resumed.answer === 201 ? ["refund.due", "refund.collected"] : ["refund.due"];
    expect(await readRefund(approved)).toMatchObject({ events });
  },
);

test("a refund that is refused before it may be sent is not due, and leaves no event", async () => {
  const approved = await kit.approvedPurchase(await kit.fundedMerchant());
  const pause = async (functionName: "pause" | "unpause") => {
    const data = encodeFunctionData({ abi: testUsdcAbi, functionName });
    const { address } = kit.sandbox.chain.deployment.token;
    expect((await kit.wallet("deployer").send({ to: address, data })).receipt.status).toBe("success");
  };
  await pause("pause");
  const refused = await kit.requestRefund(approved);
  expect([refused.status, problem(refused).code]).toEqual([422, "transaction_reverted"]);
  const [operation] = await transactions();
  expect(operation?.status).toBe("failed");
  expect(await readRefund(approved)).toMatchObject({
    status: "approved",
    refund: null,
    events: [],
    operations: { data: [{ id: operation?.operation_id, purchase_id: approved.purchase.id }, {}] },
    timeline: { operations: [{ kind: "offer" }, { kind: "collect_refund", status: "failed" }] },
  });
  await pause("unpause");
  expect((await kit.requestRefund(approved)).status).toBe(201);
  expect(await readRefund(approved)).toMatchObject({
    status: "refunded",
    refund: { id: operation?.subject.id, status: "collected" },
    events: ["refund.due", "refund.collected"],
  });
});

async function refundEvents({ id }: Pick<Schema<"Purchase">, "id">) {
  const events = await kit.sandbox.store.list("events", { subject: id });
  return events
    .filter(({ value }) => value.type.startsWith("refund."))
    .map(({ value }) => ({ id: value.id, type: value.type, data: JSON.parse(value.body).data }));
}

test("a refund under the decision on another purchase is refused, and nothing is relayed", async () => {
  const merchant = await kit.fundedMerchant();
  const { purchase } = await kit.approvedPurchase(merchant);
  const { decision } = await kit.approvedPurchase(merchant);
  const path = kit.path(`/purchases/${purchase.id}/refunds`);
  const refused = await kit.post(path, { decision_id: decision.id });
  expect(refused.status, refused.text).toBe(404);
  expect(problem(refused)).toMatchObject({
    code: "not_found",
    detail: `There is no decision ${decision.id} of ${purchase.id}.`,
  });
  expect(await transactions()).toEqual([]);
});

const award = 10_000_000n;

test.each([
  { exact: "allowance", allowance: award, balance: award - 1n, missing: "balance" },
  { exact: "balance", allowance: award - 1n, balance: award, missing: "allowance" },
])("the $exact is not told as missing when it is exactly the award", async (given) => {
  const approved = await kit.approvedPurchase(await kit.fundedMerchant());
  await fund(given.allowance);
  await leave(given.balance);
  const short = await kit.requestRefund(approved);
  expect(short.status, short.text).toBe(409);
  expect(problem(short)).toMatchObject({
    code: "funding_source_insufficient",
    detail: {
      balance: "The award is 10000000; the merchant's balance is 9999999.",
      allowance: "The award is 10000000; the merchant's allowance to the funding source is 9999999.",
    }[given.missing],
    funding: { [given.exact]: "10000000", [given.missing]: "9999999", missing: [given.missing] },
  });
});

test("a refund that is refused before a transaction was mined frees its key", async () => {
  const approved = await kit.approvedPurchase(await kit.enrolledMerchant());
  const short = await kit.requestRefund(approved, "first-key");
  expect([short.status, problem(short).code]).toEqual([409, "funding_source_insufficient"]);
  const other = await kit.post(
    kit.path(`/purchases/${approved.purchase.id}/reconcile`),
    {},
    { "Idempotency-Key": "first-key" },
  );
  expect(other.status, other.text).toBe(200);
});

test("twenty requests at once for a refund that reverted begin one further attempt", async () => {
  const approved = await kit.approvedPurchase(await kit.fundedMerchant());
  await revert(approved, "allowance");
  await fund(cap);
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => await kit.requestRefund(approved)),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409).map((answer) => problem(answer).code)).toEqual(
    Array.from({ length: 19 }, () => "state_conflict"),
  );
  expect((await transactions())[0]?.hashes).toHaveLength(2);
  expect(await collected()).toHaveLength(1);
});

test("a refund in progress is resumed, not refused, when its funding is revoked meanwhile", async () => {
  const approved = await kit.approvedPurchase(await kit.fundedMerchant());
  await kit.sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "hold", count: null });
  expect((await kit.requestRefund(approved, "first-key")).status).toBe(202);
  await fund(0n);
  for (const key of ["first-key", "other-key"]) {
    const meanwhile = await kit.requestRefund(approved, key);
    expect(meanwhile.status, meanwhile.text).toBe(202);
  }
  await fund(cap);
  await kit.sandbox.faults.clear();
  const done = await kit.requestRefund(approved, "first-key");
  expect(done.status, done.text).toBe(201);
  expect(await transactions()).toMatchObject([{ attempt: 1, hashes: { length: 1 } }]);
});

test("a refund that is no longer funded fails without a nonce, and is collected once it is funded again", async () => {
  const approved = await kit.approvedPurchase(await kit.fundedMerchant());
  await kit.sandbox.faults.set({ layer: "relayer", point: "after_intent", action: "hold" });
  expect((await kit.requestRefund(approved)).status).toBe(202);
  await fund(0n);
  const short = await kit.requestRefund(approved);
  expect(short.status, short.text).toBe(409);
  expect(problem(short)).toMatchObject({
    code: "funding_source_insufficient",
    funding: { missing: ["allowance"] },
    operation: { status: "failed", nonce: null, reserved_wei: "0" },
  });
  await fund(cap);
  const done = await kit.requestRefund(approved);
  expect(done.status, done.text).toBe(201);
  expect(await transactions()).toMatchObject([{ attempt: 1, hashes: { length: 1 } }]);
});

test("a refund above what the funding's cap leaves is refused with that figure, whatever may be drawn, and one of exactly that is not", async () => {
  const merchant = await kit.fundedMerchant("25000000");
  await fund(cap);
  const approve = async (awarded: string): Promise<Approved> => {
    const purchase = await kit.paidPurchase(merchant);
    const decision = await kit.decide(purchase, await kit.claim(purchase), { award: awarded });
    return { purchase, decision };
  };
  const [first, second, third] = [
    await approve("10000000"),
    await approve("10000000"),
    await approve("10000000"),
  ];
  const rest = await approve("5000000");
  for (const one of [first, second]) expect((await kit.requestRefund(one)).status).toBe(201);
  const refused = await kit.requestRefund(third);
  expect(refused.status, refused.text).toBe(409);
  expect(problem(refused)).toMatchObject({
    code: "funding_source_insufficient",
    retryable: false,
    detail: "The award is 10000000; the funding cap has 5000000 left.",
    funding: { merchant_id: merchant.id, award: "10000000", remaining: "5000000", missing: ["remaining"] },
  });
  expect(await transactions()).toHaveLength(2);

  await fund(0n);
  // The allowance can be given again, but not the cap.
  expect(problem(await kit.requestRefund(third))).toMatchObject({
    retryable: false,
    funding: { missing: ["remaining", "allowance"] },
  });
  expect(problem(await kit.requestRefund(rest))).toMatchObject({
    detail: "The award is 5000000; the merchant's allowance to the funding source is 0.",
    funding: { award: "5000000", remaining: "5000000", missing: ["allowance"] },
  });
  await fund(cap);
  expect((await kit.requestRefund(rest)).status).toBe(201);
});

/** Calls of the program's admin between a decision and its refund. */
const ofTheAdmin: readonly (readonly [what: string, done: () => Promise<SentTransaction>])[] = [
  ["a pause", async () => await kit.sandbox.wallets.deployer.setPaused(kit.program, true)],
  [
    "the end of the bounds",
    async () => {
      const { programs } = kit.sandbox.chain.deployment;
      const program = programs.find(({ id }) => id === kit.program);
      if (program === undefined) throw new Error("The program is deployed.");
      const bounds = { maxPurchase: 0n, openBudget: 0n, validUntil: 0 };
      return await kit.sandbox.wallets.deployer.setBounds(program.id, { ...program, bounds });
    },
  ],
];

test.each(ofTheAdmin)("%s does not keep an owed refund from being collected", async (_what, done) => {
  const approved = await kit.approvedPurchase(await kit.fundedMerchant());
  expect((await done()).receipt.status).toBe("success");
  const collectedRefund = await kit.requestRefund(approved);
  expect(collectedRefund.status, collectedRefund.text).toBe(201);
  expect(JSON.parse(collectedRefund.text)).toMatchObject({
    refund: { status: "collected", award: "10000000" },
    operation: { status: "confirmed", attempt: 1 },
  });
  expect(await collected()).toHaveLength(1);
});

describe("the validity of the funding", () => {
  const validUntil = async () => (await kit.sandbox.clock.now()) + 60 * day;

  async function approvedUntil(funding_valid_until: number): Promise<Approved> {
    const { api } = kit;
    const { data } = await api.POST("/v1/routing/programs/{program}/merchants", {
      params: kit.write(),
      body: {
        wallet: kit.wallet("merchant").address,
        name: "Corner Books",
        funding_cap: cap.toString(),
        funding_valid_until,
      },
    });
    if (data === undefined) throw new Error("The merchant is created.");
    const { transaction, message } = data.enrollment;
    const { transaction_hash: transactionHash } = await kit.wallet("merchant").send(transaction);
    const signature = await kit.wallet("merchant").signMessage(message);
    await api.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
      params: kit.write(data.id),
      body: { transaction_hash: transactionHash, signature },
    });
    await fund(cap);
    return await kit.approvedPurchase(data);
  }

  async function at(timestamp: number): Promise<void> {
    await kit.sandbox.clock.travelTo(timestamp);
    await kit.renew();
  }

  test("is judged by the time of the next block: one second late is refused before anything is relayed", async () => {
    const until = await validUntil();
    const approved = await approvedUntil(until);
    await at(until);
    const refused = await kit.requestRefund(approved);
    expect(refused.status, refused.text).toBe(409);
    expect(problem(refused)).toMatchObject({
      code: "funding_source_insufficient",
      retryable: false,
      detail: `The award is 10000000; the funding authorization was valid until ${toTimestamp(until)}, before the next block.`,
      funding: { valid_until: until, revoked_at: null, missing: ["valid_until"] },
    });
    expect(await transactions()).toEqual([]);
  });

  test("counts its last second", async () => {
    const until = await validUntil();
    const approved = await approvedUntil(until);
    await at(until - 1);
    const done = await kit.requestRefund(approved);
    expect(done.status, done.text).toBe(201);
  });

  test("that ends while the collection is on its way is reported with the revert, and nothing is sent again", async () => {
    const until = await validUntil();
    const approved = await approvedUntil(until);
    const late = await kit.behind(
      async () => [],
      async () => await kit.requestRefund(approved),
      async () => await at(until + 1),
    );
    expect(late.status, late.text).toBe(409);
    expect(problem(late)).toMatchObject({
      code: "funding_source_insufficient",
      retryable: false,
      funding: { missing: ["valid_until"] },
      revert: { name: "DeadlinePassed", args: { deadline: String(until) } },
      operation: { status: "reverted", attempt: 1 },
    });
    const again = await kit.requestRefund(approved);
    expect([again.status, problem(again).code]).toEqual([409, "funding_source_insufficient"]);
    expect(await transactions()).toMatchObject([{ attempt: 1, status: "reverted", reserved_wei: "0" }]);
  });

  async function revoke({ purchase }: Approved): Promise<void> {
    const data = encodeFunctionData({
      abi: purchaseRegistrarAbi,
      functionName: "revokeFunding",
      args: [hashId(kit.program), hashId(purchase.merchant_id)],
    });
    const {
      receipt: { status },
    } = await kit.wallet("merchant").send({ to: kit.sandbox.chain.deployment.registrar.address, data });
    expect(status).toBe("success");
  }

  test("of a revoked funding is the enrolled one, even after the purchase's claim deadline", async () => {
    const until = await validUntil();
    const approved = await approvedUntil(until);
    await revoke(approved);
    const revokedAt = toTimestamp(await kit.sandbox.clock.now());
    const { deadlines } = approved.purchase;
    expect(deadlines.claim_deadline).toBeLessThan(until - 1);
    const revoked = await kit.sandbox.snapshot();
    const seen: string[] = [];
    for (const time of [deadlines.claim_deadline - 1, deadlines.claim_deadline, until - 1, until]) {
      await revoked.restore();
      await at(time);
      const allowed = await contractAllows(approved);
      const answer = await kit.requestRefund(approved);
      expect(answer.status, `${toTimestamp(time)} ${answer.text}`).toBe(allowed ? 201 : 409);
      seen.push(allowed ? "allowed" : "refused");
      if (!allowed)
        expect(problem(answer)).toMatchObject({
          code: "funding_source_insufficient",
          retryable: false,
          funding: { valid_until: until, revoked_at: revokedAt, missing: ["valid_until"] },
        });
    }
    expect(seen).toEqual(["allowed", "allowed", "allowed", "refused"]);
  });

  /** Whether the contract would collect in the next block. */
  async function contractAllows({ purchase, decision }: Approved): Promise<boolean> {
    const { client, deployment } = kit.sandbox.chain;
    const program = deployment.programs.find(({ id }) => id === kit.program);
    const { address } = deployment.registrar;
    const hash: Hex = `0x${purchase.commitment.hash.slice(2)}`;
    const decisionHash: Hex = `0x${decision.decision_hash.slice(2)}`;
    const { to, data } = collectRefundCall(address, hash, BigInt(decision.award), decisionHash);
    return await client.call({ account: program?.operator ?? address, to, data, blockTag: "pending" }).then(
      () => true,
      () => false,
    );
  }
});

describe("a purchase that a newer enrollment of the wallet covers", { tags: "thorough" }, () => {
  /** A purchase whose merchant's wallet has enrolled again, with another cap and end, before it was offered. */
  async function coveredAnew() {
    const former = await kit.enrolledMerchant("20000000000");
    const purchase = await kit.createPurchase(former);
    await kit.sandbox.wallets.merchant.revokeFunding(former);
    const { data: newer } = await kit.api.POST("/v1/routing/programs/{program}/merchants", {
      params: kit.write(),
      body: {
        wallet: former.wallet,
        name: "Corner Books",
        funding_cap: "60000000",
        funding_valid_until: (await kit.sandbox.clock.now()) + 60 * day,
      },
    });
    if (newer === undefined) throw new Error("The merchant is created.");
    const { body } = await kit.sandbox.wallets.merchant.enroll(newer);
    const enrolled = await kit.post(kit.path(`/merchants/${newer.id}/enrollment`), body);
    expect(enrolled.status, enrolled.text).toBe(200);
    await kit.activate(purchase);
    await kit.pay(purchase);
    await kit.reconcile(purchase);
    const claim = await kit.claim(purchase);
    return { newer, approved: { purchase, claim, decision: await kit.decide(purchase, claim) } };
  }

  test("is refused with the figures and the merchant of that enrollment", async () => {
    const { newer, approved } = await coveredAnew();
    const refused = await kit.requestRefund(approved);
    expect(refused.status, refused.text).toBe(409);
    expect(problem(refused)).toMatchObject({
      code: "funding_source_insufficient",
      retryable: true,
      detail: `The award is 10000000; the merchant's allowance to the funding source is 0. The enrollment of ${newer.id} covers this purchase.`,
      funding: {
        merchant_id: newer.id,
        award: "10000000",
        remaining: "60000000",
        allowance: "0",
        valid_until: newer.funding.valid_until,
        revoked_at: null,
        missing: ["allowance"],
      },
    });
  });

  test("is refused once that enrollment has ended, although the one that it was created under has not", async () => {
    const { newer, approved } = await coveredAnew();
    await fund(cap);
    const until = newer.funding.valid_until;
    await kit.sandbox.clock.travelTo(until);
    await kit.renew();
    const refused = await kit.requestRefund(approved);
    expect(refused.status, refused.text).toBe(409);
    expect(problem(refused)).toMatchObject({
      retryable: false,
      detail: `The award is 10000000; the funding authorization was valid until ${toTimestamp(until)}, before the next block. The enrollment of ${newer.id} covers this purchase.`,
      funding: { merchant_id: newer.id, valid_until: until, missing: ["valid_until"] },
    });
  });

  test("is collected under the cap of that enrollment", async () => {
    const { newer, approved } = await coveredAnew();
    await fund(cap);
    expect((await kit.requestRefund(approved)).status).toBe(201);
    const again = await kit.approvedPurchase(newer);
    await fund(0n);
    expect(problem(await kit.requestRefund(again))).toMatchObject({
      detail: "The award is 10000000; the merchant's allowance to the funding source is 0.",
      funding: { merchant_id: newer.id, remaining: "50000000" },
    });
  });
});
