import type { EIP1193RequestFn, Hex } from "viem";
import { expect, test } from "vitest";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { openRelayerKits, program, type RelayerKit } from "../../kit/relayer-kit.ts";

const openKit = openRelayerKits();

/** Starts the relayer again, with a list of the methods that it asks the node for. */
async function restartCounting(kit: RelayerKit) {
  const asked: string[] = [];
  const forward: EIP1193RequestFn = kit.client.request;
  const request: EIP1193RequestFn = async (args) => {
    asked.push(args.method);
    return forward(args);
  };
  return { relayer: await kit.restart({ request }), asked };
}

test.each([1, 5])(
  "a new head shows that a reorg took %i confirmed blocks, and following it repairs them",
  async (depth) => {
    const kit = await openKit();
    const confirmed = [];
    for (let index = 0; index < depth + 1; index += 1)
      confirmed.push(await kit.relayer.submit(await kit.offer(`deep-${index}`)));
    const [kept, ...lost] = confirmed;

    await kit.reorg(depth);
    await kit.relayer.follow();
    const sent = await kit.relayer.list(program, { limit: 10 });
    expect(sent.map(({ reorg_count }) => reorg_count)).toEqual([0, ...lost.map(() => 1)]);
    await expect.poll(() => kit.mined()).toEqual(confirmed.map(({ hash }) => hash));
    await kit.relayer.follow();
    const repaired = await kit.relayer.list(program, { limit: 10 });
    expect(repaired[0]).toEqual(kept);
    expect(repaired.map(({ status, hash }) => [status, hash])).toEqual(
      confirmed.map(({ hash }) => ["confirmed", hash]),
    );
    await kit.expectBooksToBalance();
  },
);

/** Reads the newest block as the node announces it. */
async function readHead(kit: RelayerKit) {
  const { number, hash, parentHash } = await kit.client.getBlock();
  return { number: Number(number), hash, parentHash };
}

test("an announced head that follows the last one costs the node no question while nothing waits for a block", async () => {
  const kit = await openKit();
  await kit.relayer.submit(await kit.offer("first"));
  const { relayer, asked } = await restartCounting(kit);
  await relayer.follow();
  asked.length = 0;
  for (let blocks = 0; blocks < 3; blocks += 1) {
    await kit.client.mine({ blocks: 1 });
    const head = await readHead(kit);
    asked.length = 0;
    await relayer.follow(head);
    expect(asked).toEqual([]);
  }
  await kit.client.mine({ blocks: 2 });
  await relayer.follow(await readHead(kit));
  expect(asked.length).toBeGreaterThan(0);
});

test("an announced head shows that it has replaced the block of a confirmed operation, though it follows the last head", async () => {
  const kit = await openKit();
  await kit.relayer.follow();
  const { operation_id } = await kit.relayer.submit(await kit.offer("replaced"));
  await kit.reorg(1);
  await kit.relayer.follow(await readHead(kit));
  expect(await kit.relayer.read(operation_id)).toMatchObject({ reorg_count: 1 });
});

test("an announced head has the operations looked at that wait for a confirmation", async () => {
  const kit = await openKit({ confirmations: 2 });
  const { operation_id, status } = await kit.relayer.submit(await kit.offer("waiting"));
  expect(status).toBe("mined");
  await kit.relayer.follow();
  await kit.client.mine({ blocks: 1 });
  await kit.relayer.follow(await readHead(kit));
  expect(await kit.relayer.read(operation_id)).toMatchObject({ status: "confirmed" });
});

test("observe notices a reorg and sends nothing", async () => {
  const kit = await openKit();
  const confirmed = await kit.relayer.submit(await kit.offer("seen"));
  await kit.reorg(1);
  await kit.relayer.observe();
  expect(await kit.relayer.list(program, { limit: 10 })).toMatchObject([
    { status: "broadcast", status_reason: "reorged", reorg_count: 1, block_hash: null, cost_wei: null },
  ]);
  expect(await kit.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
  expect(await kit.mined()).toEqual([]);
  await kit.expectBooksToBalance();

  await kit.relayer.follow();
  await expect.poll(() => kit.mined()).toEqual([confirmed.hash]);
});

/** Mines and removes the next block in turns: with the same transactions it has the same hash. */
async function nextBlockOf(kit: RelayerKit) {
  await kit.client.setAutomine(false);
  const { timestamp, baseFeePerGas } = await kit.client.getBlock({ blockTag: "pending" });
  let start = await kit.client.snapshot();
  return {
    remove: async () => {
      await kit.client.revert({ id: start });
      start = await kit.client.snapshot();
    },
    mine: async () => {
      await kit.client.setNextBlockTimestamp({ timestamp });
      await kit.client.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFeePerGas ?? 0n });
      await kit.client.mine({ blocks: 1 });
      return (await kit.client.getBlock()).hash;
    },
  };
}

test("an operation is looked up again when a reorg goes back to the head before its block", {
  tags: "thorough",
}, async () => {
  let whileHeadIsHeld = async () => {};
  let replacement: Hex | null = null;
  const kit: RelayerKit = await openKit({
    receiptTimeoutMs: 0,
    request: async (call) => {
      const answer: unknown = await Reflect.apply(kit.client.request, undefined, [call]);
      if (call.method === "eth_getBlockByNumber" && Array.isArray(call.params) && call.params[0] === "latest")
        await whileHeadIsHeld();
      return answer as never;
    },
  });
  const block = await nextBlockOf(kit);
  const empty = await block.mine();
  await kit.relayer.observe();
  await block.remove();
  const offered = await kit.relayer.submit(await kit.offer("comes-back"));
  await block.mine();
  expect(await kit.relayer.advance(offered.operation_id)).toMatchObject({ status: "confirmed" });

  whileHeadIsHeld = async () => {
    whileHeadIsHeld = async () => {};
    await block.remove();
    replacement = await block.mine();
  };
  await kit.relayer.observe();
  expect(replacement).toBe(empty);
  await kit.relayer.observe();
  expect(await kit.relayer.read(offered.operation_id)).toMatchObject({
    status: "broadcast",
    block_hash: null,
  });
});

test("after a restore, a head that was processed before is processed again", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  const block = await nextBlockOf(kit);
  const trail = kit.relayer.captureTrail();
  const empty = await block.mine();
  await kit.relayer.observe();

  await block.remove();
  kit.relayer.restoreTrail(trail);
  const offered = await kit.relayer.submit(await kit.offer("after-restore"));
  await block.mine();
  expect(await kit.relayer.advance(offered.operation_id)).toMatchObject({ status: "confirmed" });
  await block.remove();
  expect(await block.mine()).toBe(empty);
  await kit.relayer.observe();
  expect(await kit.relayer.read(offered.operation_id)).toMatchObject({
    status: "broadcast",
    block_hash: null,
  });
});

test("a transaction that a reorg has moved to another block is reported with that block, its time and its confirmations", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0, confirmations: 2 });
  await kit.client.setAutomine(false);
  const sent = await kit.relayer.submit(await kit.offer("moved"));
  const snapshot = await kit.client.snapshot();
  await kit.client.mine({ blocks: 2 });
  await kit.relayer.observe();
  const before = await kit.relayer.read(sent.operation_id);
  expect(before?.status).toBe("confirmed");

  await kit.client.revert({ id: snapshot });
  await kit.client.mine({ blocks: 1 });
  await kit.client.request({ method: "eth_sendRawTransaction", params: [await rawOf(kit, sent)] });
  await kit.client.mine({ blocks: 1 });
  const { number, hash, timestamp } = await kit.client.getBlock();
  await kit.relayer.observe();
  const moved = {
    reorg_count: 1,
    hash: sent.hash,
    block_number: Number(number),
    block_hash: hash,
    mined_at: toTimestamp(Number(timestamp)),
  };
  const after = await kit.relayer.read(sent.operation_id);
  expect(after).toMatchObject({ ...moved, status: "mined", confirmations: 1, confirmed_at: null });
  expect(after?.block_number).toBe((before?.block_number ?? 0) + 1);
  await kit.client.mine({ blocks: 1 });
  await kit.relayer.observe();
  const confirmed = { status: "confirmed", confirmed_at: toTimestamp(Number(timestamp) + 1) };
  expect(await kit.relayer.read(sent.operation_id)).toMatchObject({ ...moved, ...confirmed });
  await kit.expectBooksToBalance();
});

async function rawOf(kit: RelayerKit, { operation_id }: { operation_id: string }) {
  const record = await kit.journal.read(operation_id);
  return record?.transactions[0]?.raw ?? "0x";
}

test("confirmations are counted with each head, without a request", async () => {
  const kit = await openKit({ confirmations: 3 });
  const { operation_id } = await kit.relayer.submit(await kit.offer("counted"));
  const seen = [];
  for (let block = 0; block < 3; block += 1) {
    await kit.relayer.follow();
    seen.push(await kit.relayer.read(operation_id));
    await kit.client.mine({ blocks: 1 });
  }
  expect(seen.map((operation) => [operation?.status, operation?.confirmations])).toEqual([
    ["mined", 1],
    ["mined", 2],
    ["confirmed", 3],
  ]);
});

test("a head costs one request if nothing has changed, however many operations there were", async () => {
  const kit = await openKit();
  for (let index = 0; index < 12; index += 1) await kit.relayer.submit(await kit.offer(`many-${index}`));
  const { relayer, asked } = await restartCounting(kit);
  await relayer.follow();
  asked.length = 0;
  await relayer.follow();
  await kit.client.mine({ blocks: 1 });
  await relayer.follow();
  expect(asked).toEqual(["eth_getBlockByNumber", "eth_getBlockByNumber"]);
});

test("an operation that needs attention costs no request at a head once others have followed it", async () => {
  const kit = await openKit();
  await kit.faults.set({ layer: "relayer", point: "broadcast", action: "foreign_nonce" });
  const taken = await kit.relayer.submit(await kit.offer("taken"));
  expect(taken).toMatchObject({ status: "needs_attention", status_reason: "nonce_taken", nonce: 0 });
  for (let index = 0; index < 8; index += 1) await kit.relayer.submit(await kit.offer(`many-${index}`));
  const { relayer, asked } = await restartCounting(kit);
  await relayer.follow();
  asked.length = 0;
  await kit.client.mine({ blocks: 1 });
  await relayer.follow();
  expect(asked).toEqual(["eth_getBlockByNumber"]);
  expect(await relayer.read(taken.operation_id)).toEqual(taken);
});

test("operations of another epoch do not prevent those of this epoch from being followed", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  await kit.client.setAutomine(false);
  const old = await kit.relayer.submit(await kit.offer("old"));
  await kit.client.dropTransaction({ hash: old.hash ?? "0x" });
  const { chainId } = kit.chain.deployment;
  const relayer = await kit.restart({
    chain: { identity: async () => ({ chainId, epoch: `0x${"ab".repeat(32)}` }) },
  });
  const current = await relayer.submit(await kit.offer("current"));
  expect([old, current]).toMatchObject([
    { status: "broadcast", nonce: 0 },
    { status: "broadcast", nonce: 0 },
  ]);
  await kit.client.mine({ blocks: 1 });
  await relayer.follow();
  expect(await relayer.read(current.operation_id)).toMatchObject({ status: "confirmed", hash: current.hash });
  expect(await relayer.read(old.operation_id)).toEqual(old);
});

test("a head is followed in the order of nonces: a fault that holds one operation holds the first", async () => {
  const kit = await openKit();
  const confirmed = [];
  for (const name of ["a", "b", "c"]) confirmed.push(await kit.relayer.submit(await kit.offer(name)));
  await kit.reorg(3);
  await kit.faults.set({ layer: "relayer", point: "broadcast", action: "hold" });
  await kit.relayer.follow();
  expect(kit.faults.list()).toMatchObject([{ hits: 1 }]);
  // Those behind it send it, because they wait for it.
  await expect.poll(() => kit.mined()).toEqual(confirmed.map(({ hash }) => hash));
  await kit.relayer.follow();
  await kit.expectBooksToBalance();
});

test("a held operation continues with the next head, one without a nonce waits for the next request for it", async () => {
  const kit = await openKit();
  await kit.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
  const held = await kit.relayer.submit(await kit.offer("held"));
  await kit.faults.set({ layer: "relayer", point: "simulate", action: "rpc_error" });
  const unclaimed = await kit.relayer.submit(await kit.offer("unclaimed"));
  await kit.relayer.observe();
  expect(await kit.relayer.read(held.operation_id)).toEqual(held);
  await kit.relayer.follow();
  await expect.poll(() => kit.mined()).toEqual([held.hash]);
  expect(await kit.relayer.read(unclaimed.operation_id)).toEqual(unclaimed);
});

test("a node that does not answer, or serves another chain epoch, leaves the journal unchanged", async () => {
  const kit = await openKit();
  const confirmed = await kit.relayer.submit(await kit.offer("left"));
  await kit.reorg(1);
  const { chainId } = kit.chain.deployment;
  const elsewhere = [
    async () => ({ chainId, epoch: `0x${"ab".repeat(32)}` as const }),
    () => Promise.reject(new Error("ECONNREFUSED")),
  ];
  for (const identity of elsewhere) {
    const relayer = await kit.restart({ chain: { identity } });
    await relayer.follow();
    expect(await relayer.read(confirmed.operation_id)).toEqual(confirmed);
  }
});

test("faults that are put back pause mining again, and clearing them ends the pause", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  await kit.faults.set({ layer: "relayer", point: "before_intent", action: "pause_mining" });
  await kit.relayer.submit(await kit.offer("paused"));
  const state = kit.faults.capture();
  await kit.faults.clear();
  expect(await kit.client.getAutomine()).toBe(true);

  await kit.faults.restore(state);
  expect(await kit.client.getAutomine()).toBe(false);
  await kit.faults.restore({ faults: [], mining: null });
  expect(await kit.client.getAutomine()).toBe(true);
});

test("a transaction that was sent again before a later one is reported with its new block and cost", async () => {
  const kit = await openKit();
  const confirmed = [];
  for (const name of ["a", "b", "c"]) confirmed.push(await kit.relayer.submit(await kit.offer(name)));
  await kit.relayer.follow();
  await kit.reorg(3);
  const last = await kit.relayer.advance(confirmed.at(-1)?.operation_id ?? "");
  expect(last).toMatchObject({ status: "confirmed", reorg_count: 1 });
  await kit.relayer.follow();
  const told = await kit.relayer.list(program, { limit: 10 });
  expect(told.map(({ status, reorg_count }) => [status, reorg_count])).toEqual(
    confirmed.map(() => ["confirmed", 1]),
  );
  await kit.expectBooksToBalance();
});

test("a read of an operation in progress returns the chain's state and does not change the journal", async () => {
  const kit = await openKit();
  const { promise: isMined, resolve: mined } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const forward: EIP1193RequestFn = kit.client.request;
  let isHolding = true;
  /** Holds the first receipt that the node answers. */
  const held = async (call: { method: string; params?: unknown }): Promise<unknown> => {
    const answer: unknown = await Reflect.apply(forward, undefined, [call]);
    if (call.method !== "eth_getTransactionReceipt" || answer === null || !isHolding) return answer;
    isHolding = false;
    mined();
    await released;
    return answer;
  };
  const relayer = await kit.restart({ request: held as EIP1193RequestFn });
  const submitted = relayer.submit(await kit.offer("held"));
  await isMined;
  const [journaled] = await relayer.list(program, { limit: 1 });
  expect(journaled).toMatchObject({ status: "broadcast", block_hash: null });
  const read = await relayer.readNow(journaled?.operation_id ?? "");
  expect(await relayer.list(program, { limit: 1 })).toEqual([journaled]);
  release();
  const { mined_at: _mined, confirmed_at: _confirmed, ...confirmed } = await submitted;
  expect(confirmed).toMatchObject({ status: "confirmed" });
  expect(read).toMatchObject(confirmed);
});
