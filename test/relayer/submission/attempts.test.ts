import type { EIP1193RequestFn } from "viem";
import { describe, expect, test } from "vitest";
import { faultPoints, type RelayOperation } from "../../../relayer/relayer.ts";
import { Crash, openRelayerKits, program, type RelayerKit } from "../../kit/relayer-kit.ts";

const openKit = openRelayerKits();

const enough = 10n ** 12n;

function outcomes({ hashes }: RelayOperation) {
  return hashes.map(({ attempt, nonce, purpose, outcome }) => [attempt, nonce, purpose, outcome]);
}

/** The bytes of an operation's first transaction, as the journal has them. */
async function rawOf(kit: RelayerKit, { operation_id }: RelayOperation) {
  const current = await kit.journal.read(operation_id);
  if (current === undefined) throw new Error(`The journal has lost ${operation_id}.`);
  const [first = current] = await kit.journal.superseded(current);
  return first.transactions[0]?.raw ?? "0x";
}

describe("a refund whose transaction reverted", () => {
  test("is collected by the next attempt of the same operation, with its own nonce and reservation", async () => {
    const kit = await openKit();
    const { intent, reverted } = await kit.revertedRefund("again");
    await kit.fund(enough);
    const collected = await kit.relayer.submit(intent);
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
    expect(await kit.collected()).toEqual([collected.hash]);
    const costs = await Promise.all(
      collected.hashes.map(async ({ hash }) => await kit.client.getTransactionReceipt({ hash })),
    );
    const cost = costs.reduce((wei, { gasUsed, effectiveGasPrice }) => wei + gasUsed * effectiveGasPrice, 0n);
    expect(collected.cost_wei).toBe(cost.toString());
    expect(collected.gas_used).toBe(costs.reduce((gas, { gasUsed }) => gas + gasUsed, 0n).toString());
    await kit.expectBooksToBalance();

    expect(await kit.relayer.submit(intent)).toEqual(collected);
    expect(await kit.relayer.read(collected.operation_id)).toEqual(collected);
    expect((await kit.relayer.list(program, { limit: 10 })).at(-1)).toEqual(collected);
    expect(await (await kit.restart()).read(collected.operation_id)).toEqual(collected);
  });

  test("begins no attempt and costs nothing while the contract would refuse it again", async () => {
    const kit = await openKit();
    const { intent, reverted } = await kit.revertedRefund("unfunded");
    expect(await kit.relayer.submit(intent)).toEqual(reverted);
    await (await kit.restart()).recover();
    expect(await kit.relayer.submit(intent)).toEqual(reverted);
    expect(await kit.collected()).toEqual([]);
    await kit.expectBooksToBalance();
  });

  test("can revert again, and each attempt is reported and paid", async () => {
    const kit = await openKit();
    const { intent } = await kit.revertedRefund("twice");
    await kit.fund(enough);
    await kit.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
    const second = await kit.relayer.submit(intent);
    expect(second).toMatchObject({ attempt: 2, status: "signed" });
    await kit.fund(0n);
    expect(await kit.relayer.submit(intent)).toMatchObject({ attempt: 2, status: "reverted" });
    await kit.fund(enough);
    const collected = await kit.relayer.submit(intent);
    expect(outcomes(collected)).toEqual([
      [1, 1, "original", "reverted"],
      [2, 2, "original", "reverted"],
      [3, 3, "original", "succeeded"],
    ]);
    expect(await kit.collected()).toEqual([collected.hash]);
    await kit.expectBooksToBalance();
  });

  test("begins one further attempt, however many requests ask for it at once", async () => {
    const kit = await openKit();
    const { intent } = await kit.revertedRefund("many");
    await kit.fund(enough);
    const answers = await Promise.all(Array.from({ length: 8 }, () => kit.relayer.submit(intent)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(outcomes(answers[0] ?? (await kit.relayer.submit(intent)))).toHaveLength(2);
    expect(await kit.collected()).toHaveLength(1);
    await kit.expectBooksToBalance();
  });

  test("begins no further attempt that the gas budget does not cover", async () => {
    const kit = await openKit();
    const { intent, reverted } = await kit.revertedRefund("poor");
    await kit.fund(enough);
    const poor = await kit.restart({ gasBudgetWei: BigInt(reverted.cost_wei ?? 0) + 1n });
    await expect(poor.submit(intent)).rejects.toMatchObject({ code: "gas_budget_exceeded" });
    expect(await poor.read(reverted.operation_id)).toEqual(reverted);
    const rich = await kit.restart();
    expect(await rich.submit(intent)).toMatchObject({ attempt: 2, status: "confirmed" });
    await kit.expectBooksToBalance();
  });

  test.each(faultPoints)(
    "is collected once when the process crashes at %s of the next attempt",
    { tags: "thorough" },
    async (point) => {
      const kit = await openKit();
      const { intent } = await kit.revertedRefund("crashed");
      await kit.fund(enough);
      await kit.faults.set({ layer: "relayer", point, action: "crash" });
      await expect(kit.relayer.submit(intent)).rejects.toThrow(new Crash(point));

      const relayer = await kit.restart();
      await relayer.recover();
      const collected = await relayer.submit(intent);
      expect(outcomes(collected)).toEqual([
        [1, 1, "original", "reverted"],
        [2, 2, "original", "succeeded"],
      ]);
      expect(await kit.collected()).toEqual([collected.hash]);
      await kit.expectBooksToBalance();
    },
  );

  test("waits for the confirmations of the revert before the next attempt", async () => {
    const kit = await openKit({ receiptTimeoutMs: 50 });
    const offer = await kit.offer("deep");
    await kit.relayer.submit(offer);
    const intent = await kit.refund("deep", offer.businessKey, 4_000_000n);
    const relayer = await kit.restart({ confirmations: 2 });
    await kit.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
    await relayer.submit(intent);
    await kit.fund(0n);
    expect(await relayer.submit(intent)).toMatchObject({ attempt: 1, status: "mined", confirmations: 1 });
    expect(await relayer.submit(intent)).toMatchObject({ attempt: 1, status: "mined", confirmations: 1 });
    await kit.fund(enough);
    // The merchant's own block has confirmed it.
    const reverted = await relayer.submit(intent);
    expect(reverted).toMatchObject({ attempt: 1, status: "reverted", confirmations: 2 });
    expect(await relayer.submit(intent)).toMatchObject({ attempt: 2, status: "mined" });
    await kit.client.mine({ blocks: 1 });
    expect(await relayer.submit(intent)).toMatchObject({ attempt: 2, status: "confirmed" });
    await kit.expectBooksToBalance();
  });
});

describe("a reorg that removes the revert and the next attempt", () => {
  async function collectedAgain(kit: RelayerKit) {
    const { intent, reverted } = await kit.revertedRefund("deep");
    await kit.fund(enough);
    const collected = await kit.relayer.submit(intent);
    return { intent, reverted, collected };
  }

  const repairs: [string, (kit: RelayerKit, operation: RelayOperation) => Promise<unknown>][] = [
    ["a new head", async (kit) => await kit.relayer.follow()],
    ["a restart", async (kit) => await (await kit.restart()).recover()],
    ["a look", async (kit, { operation_id }) => await kit.relayer.advance(operation_id)],
    [
      "a later operation",
      async (kit) => {
        const later = await kit.relayer.submit(await kit.offer("later"));
        await kit.relayer.advance(later.operation_id);
      },
    ],
  ];

  test.each(repairs)(
    "is repaired by %s: the first attempt is cancelled, and the second is collected with the same hash",
    async (_, repair) => {
      const kit = await openKit({ receiptTimeoutMs: 50 });
      const { intent, collected } = await collectedAgain(kit);
      // The revert, the merchant's approval and the collection; the approval that comes back makes the first attempt possible.
      await kit.reorg(3);
      await kit.fund(enough);
      expect(await kit.collected()).toEqual([]);
      await repair(kit, collected);
      await expect.poll(() => kit.collected()).toEqual([collected.hash]);
      await kit.relayer.follow();
      const repaired = await kit.relayer.submit(intent);
      expect(repaired).toMatchObject({ attempt: 2, status: "confirmed", hash: collected.hash });
      expect(outcomes(repaired)).toEqual([
        [1, 1, "original", "replaced"],
        [1, 1, "cancel", "succeeded"],
        [2, 2, "original", "succeeded"],
      ]);
      await kit.expectBooksToBalance();
    },
  );

  test("ends with the first attempt when its bytes are mined after all: the second reverts and there is no third", {
    tags: "thorough",
  }, async () => {
    const kit = await openKit();
    const { intent, reverted, collected } = await collectedAgain(kit);
    const raw = await rawOf(kit, reverted);
    await kit.reorg(3);
    await kit.fund(enough);
    await kit.client.sendRawTransaction({ serializedTransaction: raw });
    await expect.poll(() => kit.collected()).toEqual([reverted.hash]);

    await kit.relayer.follow();
    await expect.poll(async () => await kit.mined()).toContain(collected.hash);
    await kit.relayer.follow();
    const told = await kit.relayer.submit(intent);
    expect(told).toMatchObject({ attempt: 1, status: "confirmed", hash: reverted.hash });
    expect(outcomes(told)).toEqual([
      [1, 1, "original", "succeeded"],
      [2, 2, "original", "reverted"],
    ]);
    expect(await kit.relayer.submit(intent)).toEqual(told);
    expect(await kit.collected()).toEqual([reverted.hash]);
    await kit.expectBooksToBalance();
  });

  test("leaves the operation unfinished while the cancellation is not mined", async () => {
    const kit = await openKit({ receiptTimeoutMs: 50 });
    const { intent, collected } = await collectedAgain(kit);
    await kit.reorg(3);
    await kit.fund(enough);
    await kit.client.setAutomine(false);
    await kit.relayer.observe();
    // 400,000 gas at 20 gwei for each attempt: both can be mined again.
    const back = { attempt: 2, status: "broadcast", cost_wei: null, reserved_wei: "16000000000000000" };
    expect(await kit.relayer.read(collected.operation_id)).toMatchObject(back);
    await kit.expectBooksToBalance();
    await kit.relayer.follow();
    expect(await kit.relayer.submit(intent)).toMatchObject({
      attempt: 2,
      status: "broadcast",
      status_reason: "reorged",
      hash: collected.hash,
      cost_wei: null,
      // 400,000 gas for each attempt: at 22.5 gwei for the first one with its cancellation, and at 20 gwei for the second.
      reserved_wei: "17000000000000000",
    });
    await kit.expectBooksToBalance();
    await kit.client.setAutomine(true);
    await expect.poll(() => kit.collected()).toEqual([collected.hash]);
    await kit.relayer.follow();
    expect(await kit.relayer.submit(intent)).toMatchObject({
      attempt: 2,
      status: "confirmed",
      reserved_wei: "0",
    });
    await kit.expectBooksToBalance();
  });

  test("between two looks begins no third attempt while the first one can still be mined", async () => {
    const kit = await openKit({ receiptTimeoutMs: 20 });
    const { intent } = await kit.revertedRefund("between");
    await kit.fund(enough);
    await kit.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
    await kit.relayer.submit(intent);
    await kit.fund(0n);
    const second = await kit.relayer.submit(intent);
    expect(second).toMatchObject({ attempt: 2, status: "reverted" });

    // Once the second revert was seen, the reorg takes both with the merchant's approvals, and blocks are made no more.
    let reorged = false;
    const forward: EIP1193RequestFn = kit.client.request;
    const request: EIP1193RequestFn = async (args) => {
      try {
        return await forward(args);
      } finally {
        if (args.method === "eth_getTransactionReceipt" && !reorged) {
          reorged = true;
          await kit.reorg(4);
          await kit.fund(enough);
          await kit.client.setAutomine(false);
        }
      }
    };
    const relayer = await kit.restart({ request });
    const waiting = await relayer.submit(intent);
    expect(waiting).toMatchObject({ attempt: 2, status: "reverted", hash: second.hash });
    expect(await relayer.waitsForEarlier(waiting.operation_id)).toBe(true);
    expect(outcomes(waiting)).toEqual([
      [1, 1, "original", "broadcast"],
      [1, 1, "cancel", "broadcast"],
      [2, 2, "original", "reverted"],
    ]);

    await kit.client.setAutomine(true);
    await expect.poll(() => kit.mined()).toHaveLength(2);
    await relayer.follow();
    await expect.poll(() => kit.collected()).toEqual([second.hash]);
    expect(await relayer.submit(intent)).toMatchObject({
      attempt: 2,
      status: "confirmed",
      hash: second.hash,
    });
    await kit.expectBooksToBalance();
  });

  test("of the revert alone has the same bytes sent again, and they are the only attempt", async () => {
    const kit = await openKit();
    const { intent, reverted } = await kit.revertedRefund("alone");
    await kit.reorg(1);
    await kit.fund(enough);
    const collected = await kit.relayer.submit(intent);
    expect(collected).toMatchObject({ attempt: 1, status: "confirmed", hash: reverted.hash, reorg_count: 1 });
    expect(await kit.collected()).toEqual([reverted.hash]);
    await kit.expectBooksToBalance();
  });
});

test("an offer that reverted is made by the next attempt once the bounds allow it", async () => {
  const kit = await openKit();
  const intent = await kit.offer("bounded", 100_000_000n);
  await kit.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
  await kit.relayer.submit(intent);
  await kit.setBounds({ maxPurchase: 50_000_000n, openBudget: 50_000_000n });
  const reverted = await kit.relayer.submit(intent);
  expect(reverted).toMatchObject({ status: "reverted", error: { revert: { name: "AmountOutOfRange" } } });
  expect(await kit.relayer.submit(intent)).toEqual(reverted);
  await kit.setBounds({ maxPurchase: 100_000_000n, openBudget: 100_000_000n });
  expect(await kit.relayer.submit(intent)).toMatchObject({ attempt: 2, status: "confirmed", nonce: 1 });
  await kit.expectBooksToBalance();
});
