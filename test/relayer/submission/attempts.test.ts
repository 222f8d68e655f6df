import type { EIP1193RequestFn } from "viem";
import { describe, expect, test } from "vitest";
import { faultPoints, type RelayOperation } from "../../../relayer/relayer.ts";
import { Crash, openStages, program, type Stage } from "../stage.ts";

const openStage = openStages();

const enough = 10n ** 12n;

function outcomes({ hashes }: RelayOperation) {
  return hashes.map(({ attempt, nonce, purpose, outcome }) => [attempt, nonce, purpose, outcome]);
}

/** The bytes of an operation's first transaction, as the journal has them. */
async function rawOf(stage: Stage, { operation_id }: RelayOperation) {
  const current = await stage.journal.read(operation_id);
  if (current === undefined) throw new Error(`The journal has lost ${operation_id}.`);
  const [first = current] = await stage.journal.superseded(current);
  return first.transactions[0]?.raw ?? "0x";
}

describe("a refund whose transaction reverted", () => {
  test("is collected by the next attempt of the same operation, with a nonce and a reservation of its own", async () => {
    const stage = await openStage();
    const { intent, reverted } = await stage.revertedRefund("again");
    await stage.fund(enough);
    const collected = await stage.relayer.submit(intent);
    expect(collected).toMatchObject({
      operation_id: reverted.operation_id,
      sequence: reverted.sequence,
      subject: reverted.subject,
      created_at: reverted.created_at,
      attempt: 2,
      status: "confirmed",
      nonce: 2,
      error: null,
      reserved_wei: "0",
    });
    expect(outcomes(collected)).toEqual([
      [1, 1, "original", "reverted"],
      [2, 2, "original", "succeeded"],
    ]);
    expect(collected.hashes[0]?.hash).toBe(reverted.hash);
    expect(collected.hashes[1]?.hash).toBe(collected.hash);
    expect(await stage.collected()).toEqual([collected.hash]);
    const costs = await Promise.all(
      collected.hashes.map(async ({ hash }) => await stage.client.getTransactionReceipt({ hash })),
    );
    const cost = costs.reduce((wei, { gasUsed, effectiveGasPrice }) => wei + gasUsed * effectiveGasPrice, 0n);
    expect(collected.cost_wei).toBe(cost.toString());
    expect(collected.gas_used).toBe(costs.reduce((gas, { gasUsed }) => gas + gasUsed, 0n).toString());
    await stage.expectBooksToBalance();

    expect(await stage.relayer.submit(intent)).toEqual(collected);
    expect(await stage.relayer.read(collected.operation_id)).toEqual(collected);
    expect((await stage.relayer.list(program, { limit: 10 })).at(-1)).toEqual(collected);
    expect(await (await stage.restart()).read(collected.operation_id)).toEqual(collected);
  });

  test("begins no attempt and costs nothing while the contract would refuse it again", async () => {
    const stage = await openStage();
    const { intent, reverted } = await stage.revertedRefund("unfunded");
    expect(await stage.relayer.submit(intent)).toEqual(reverted);
    await (await stage.restart()).recover();
    expect(await stage.relayer.submit(intent)).toEqual(reverted);
    expect(await stage.collected()).toEqual([]);
    await stage.expectBooksToBalance();
  });

  test("can revert again, and each attempt is told and paid", async () => {
    const stage = await openStage();
    const { intent } = await stage.revertedRefund("twice");
    await stage.fund(enough);
    stage.relayer.fault({ point: "after_signed", action: "hold" });
    const second = await stage.relayer.submit(intent);
    expect(second).toMatchObject({ attempt: 2, status: "signed" });
    await stage.fund(0n);
    expect(await stage.relayer.submit(intent)).toMatchObject({ attempt: 2, status: "reverted" });
    await stage.fund(enough);
    const collected = await stage.relayer.submit(intent);
    expect(outcomes(collected)).toEqual([
      [1, 1, "original", "reverted"],
      [2, 2, "original", "reverted"],
      [3, 3, "original", "succeeded"],
    ]);
    expect(await stage.collected()).toEqual([collected.hash]);
    await stage.expectBooksToBalance();
  });

  test("begins one further attempt, however many ask for it at once", async () => {
    const stage = await openStage();
    const { intent } = await stage.revertedRefund("many");
    await stage.fund(enough);
    const answers = await Promise.all(Array.from({ length: 8 }, () => stage.relayer.submit(intent)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(outcomes(answers[0] ?? (await stage.relayer.submit(intent)))).toHaveLength(2);
    expect(await stage.collected()).toHaveLength(1);
    await stage.expectBooksToBalance();
  });

  test("begins no further attempt that the gas budget does not cover", async () => {
    const stage = await openStage();
    const { intent, reverted } = await stage.revertedRefund("poor");
    await stage.fund(enough);
    const poor = await stage.restart({ gasBudgetWei: BigInt(reverted.cost_wei ?? 0) + 1n });
    await expect(poor.submit(intent)).rejects.toMatchObject({ code: "gas_budget_exceeded" });
    expect(await poor.read(reverted.operation_id)).toEqual(reverted);
    const rich = await stage.restart();
    expect(await rich.submit(intent)).toMatchObject({ attempt: 2, status: "confirmed" });
    await stage.expectBooksToBalance();
  });

  test.each(faultPoints)(
    "is collected once when the process dies at %s of the next attempt",
    async (point) => {
      const stage = await openStage();
      const { intent } = await stage.revertedRefund("crashed");
      await stage.fund(enough);
      stage.relayer.fault({ point, action: "crash" });
      await expect(stage.relayer.submit(intent)).rejects.toThrow(new Crash(point));

      const relayer = await stage.restart();
      await relayer.recover();
      const collected = await relayer.submit(intent);
      expect(outcomes(collected)).toEqual([
        [1, 1, "original", "reverted"],
        [2, 2, "original", "succeeded"],
      ]);
      expect(await stage.collected()).toEqual([collected.hash]);
      await stage.expectBooksToBalance();
    },
  );

  test("waits for the confirmations of the revert before the next attempt", async () => {
    const stage = await openStage({ receiptTimeoutMs: 50 });
    const offer = await stage.offer("deep");
    await stage.relayer.submit(offer);
    const intent = await stage.refund("deep", offer.businessKey, 4_000_000n);
    const relayer = await stage.restart({ confirmations: 2 });
    relayer.fault({ point: "after_signed", action: "hold" });
    await relayer.submit(intent);
    await stage.fund(0n);
    expect(await relayer.submit(intent)).toMatchObject({ attempt: 1, status: "mined", confirmations: 1 });
    expect(await relayer.submit(intent)).toMatchObject({ attempt: 1, status: "mined", confirmations: 1 });
    await stage.fund(enough);
    // The merchant's own block has confirmed it.
    const reverted = await relayer.submit(intent);
    expect(reverted).toMatchObject({ attempt: 1, status: "reverted", confirmations: 2 });
    expect(await relayer.submit(intent)).toMatchObject({ attempt: 2, status: "mined" });
    await stage.client.mine({ blocks: 1 });
    expect(await relayer.submit(intent)).toMatchObject({ attempt: 2, status: "confirmed" });
    await stage.expectBooksToBalance();
  });
});

describe("a reorg that removes the revert and the next attempt", () => {
  async function collectedAgain(stage: Stage) {
    const { intent, reverted } = await stage.revertedRefund("deep");
    await stage.fund(enough);
    const collected = await stage.relayer.submit(intent);
    return { intent, reverted, collected };
  }

  const repairs: [string, (stage: Stage, operation: RelayOperation) => Promise<unknown>][] = [
    ["a new head", async (stage) => await stage.relayer.follow()],
    ["a restart", async (stage) => await (await stage.restart()).recover()],
    ["a look", async (stage, { operation_id }) => await stage.relayer.advance(operation_id)],
    [
      "a later operation",
      async (stage) => {
        const later = await stage.relayer.submit(await stage.offer("later"));
        await stage.relayer.advance(later.operation_id);
      },
    ],
  ];

  test.each(repairs)(
    "is repaired by %s: the first attempt is cancelled, and the second is collected with the same hash",
    async (_, repair) => {
      const stage = await openStage({ receiptTimeoutMs: 50 });
      const { intent, collected } = await collectedAgain(stage);
      // The revert, the merchant's approval and the collection; the approval that comes back makes the first attempt possible.
      await stage.reorg(3);
      await stage.fund(enough);
      expect(await stage.collected()).toEqual([]);
      await repair(stage, collected);
      await expect.poll(() => stage.collected()).toEqual([collected.hash]);
      await stage.relayer.follow();
      const repaired = await stage.relayer.submit(intent);
      expect(repaired).toMatchObject({ attempt: 2, status: "confirmed", hash: collected.hash });
      expect(outcomes(repaired)).toEqual([
        [1, 1, "original", "replaced"],
        [1, 1, "cancel", "succeeded"],
        [2, 2, "original", "succeeded"],
      ]);
      await stage.expectBooksToBalance();
    },
  );

  test("ends with the first attempt when somebody has its bytes mined: the second reverts and there is no third", async () => {
    const stage = await openStage();
    const { intent, reverted, collected } = await collectedAgain(stage);
    const raw = await rawOf(stage, reverted);
    await stage.reorg(3);
    await stage.fund(enough);
    await stage.client.sendRawTransaction({ serializedTransaction: raw });
    await expect.poll(() => stage.collected()).toEqual([reverted.hash]);

    await stage.relayer.follow();
    await expect.poll(async () => await stage.mined()).toContain(collected.hash);
    await stage.relayer.follow();
    const told = await stage.relayer.submit(intent);
    expect(told).toMatchObject({ attempt: 1, status: "confirmed", hash: reverted.hash });
    expect(outcomes(told)).toEqual([
      [1, 1, "original", "succeeded"],
      [2, 2, "original", "reverted"],
    ]);
    expect(await stage.relayer.submit(intent)).toEqual(told);
    expect(await stage.collected()).toEqual([reverted.hash]);
    await stage.expectBooksToBalance();
  });

  test("leaves the operation under way while the cancellation is not mined", async () => {
    const stage = await openStage({ receiptTimeoutMs: 50 });
    const { intent, collected } = await collectedAgain(stage);
    await stage.reorg(3);
    await stage.fund(enough);
    await stage.client.setAutomine(false);
    await stage.relayer.follow();
    expect(await stage.relayer.submit(intent)).toMatchObject({
      status: "broadcast",
      status_reason: "reorged",
    });
    await stage.expectBooksToBalance();
    await stage.client.setAutomine(true);
    await expect.poll(() => stage.collected()).toEqual([collected.hash]);
    await stage.relayer.follow();
    expect(await stage.relayer.submit(intent)).toMatchObject({ attempt: 2, status: "confirmed" });
    await stage.expectBooksToBalance();
  });

  test("between two looks begins no third attempt while the first one can still be mined", async () => {
    const stage = await openStage({ receiptTimeoutMs: 20 });
    const { intent } = await stage.revertedRefund("between");
    await stage.fund(enough);
    stage.relayer.fault({ point: "after_signed", action: "hold" });
    await stage.relayer.submit(intent);
    await stage.fund(0n);
    const second = await stage.relayer.submit(intent);
    expect(second).toMatchObject({ attempt: 2, status: "reverted" });

    // Once the second revert was seen, the reorg takes both with the merchant's approvals, and blocks are made no more.
    let reorged = false;
    const forward: EIP1193RequestFn = stage.client.request;
    const request: EIP1193RequestFn = async (args) => {
      try {
        return await forward(args);
      } finally {
        if (args.method === "eth_getTransactionReceipt" && !reorged) {
          reorged = true;
          await stage.reorg(4);
          await stage.fund(enough);
          await stage.client.setAutomine(false);
        }
      }
    };
    const relayer = await stage.restart({ request });
    const waiting = await relayer.submit(intent);
    expect(waiting).toMatchObject({ attempt: 1, status: "broadcast", status_reason: "reorged" });
    expect(outcomes(waiting)).toEqual([
      [1, 1, "original", "broadcast"],
      [1, 1, "cancel", "broadcast"],
      [2, 2, "original", "reverted"],
    ]);

    await stage.client.setAutomine(true);
    await expect.poll(() => stage.mined()).toHaveLength(2);
    await relayer.follow();
    await expect.poll(() => stage.collected()).toEqual([second.hash]);
    expect(await relayer.submit(intent)).toMatchObject({
      attempt: 2,
      status: "confirmed",
      hash: second.hash,
    });
    await stage.expectBooksToBalance();
  });

  test("of the revert alone has the same bytes sent again, and they are the only attempt", async () => {
    const stage = await openStage();
    const { intent, reverted } = await stage.revertedRefund("alone");
    await stage.reorg(1);
    await stage.fund(enough);
    const collected = await stage.relayer.submit(intent);
    expect(collected).toMatchObject({ attempt: 1, status: "confirmed", hash: reverted.hash, reorg_count: 1 });
    expect(await stage.collected()).toEqual([reverted.hash]);
    await stage.expectBooksToBalance();
  });
});

test("an offer that reverted is made by the next attempt once the bounds allow it", async () => {
  const stage = await openStage();
  const intent = await stage.offer("bounded", 100_000_000n);
  stage.relayer.fault({ point: "after_signed", action: "hold" });
  await stage.relayer.submit(intent);
  await stage.setBounds({ maxPurchase: 50_000_000n, openBudget: 50_000_000n });
  const reverted = await stage.relayer.submit(intent);
  expect(reverted).toMatchObject({ status: "reverted", error: { revert: { name: "AmountOutOfRange" } } });
  expect(await stage.relayer.submit(intent)).toEqual(reverted);
  await stage.setBounds({ maxPurchase: 100_000_000n, openBudget: 100_000_000n });
  expect(await stage.relayer.submit(intent)).toMatchObject({ attempt: 2, status: "confirmed", nonce: 1 });
  await stage.expectBooksToBalance();
});
