import type { EIP1193RequestFn } from "viem";
import { expect, test } from "vitest";
import { openStages, program, type Stage } from "../stage.ts";

const openStage = openStages();

test.each([1, 2, 3, 4, 5])(
  "a new head shows that a reorg took %i confirmed blocks, and following it repairs them",
  async (depth) => {
    const stage = await openStage();
    const confirmed = [];
    for (let index = 0; index < depth + 1; index += 1)
      confirmed.push(await stage.relayer.submit(await stage.offer(`deep-${index}`)));
    const [stands, ...lost] = confirmed;

    await stage.reorg(depth);
    await stage.relayer.follow();
    const sent = await stage.relayer.list(program, { limit: 10 });
    expect(sent.map(({ reorg_count }) => reorg_count)).toEqual([0, ...lost.map(() => 1)]);
    await expect.poll(() => stage.mined()).toEqual(confirmed.map(({ hash }) => hash));
    await stage.relayer.follow();
    const repaired = await stage.relayer.list(program, { limit: 10 });
    expect(repaired[0]).toEqual(stands);
    expect(repaired.map(({ status, hash }) => [status, hash])).toEqual(
      confirmed.map(({ hash }) => ["confirmed", hash]),
    );
    await stage.expectBooksToBalance();
  },
);

test("who only observes sees a reorg and sends nothing", async () => {
  const stage = await openStage();
  const confirmed = await stage.relayer.submit(await stage.offer("seen"));
  await stage.reorg(1);
  await stage.relayer.observe();
  expect(await stage.relayer.list(program, { limit: 10 })).toMatchObject([
    { status: "broadcast", status_reason: "reorged", reorg_count: 1, block_hash: null, cost_wei: null },
  ]);
  expect(await stage.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
  expect(await stage.mined()).toEqual([]);
  await stage.expectBooksToBalance();

  await stage.relayer.follow();
  await expect.poll(() => stage.mined()).toEqual([confirmed.hash]);
});

test("what a reorg has mined again in another block is told with that block", async () => {
  const stage = await openStage({ receiptTimeoutMs: 0 });
  await stage.client.setAutomine(false);
  const sent = await stage.relayer.submit(await stage.offer("moved"));
  const snapshot = await stage.client.snapshot();
  await stage.client.mine({ blocks: 1 });
  await stage.relayer.observe();
  const before = await stage.relayer.read(sent.operation_id);
  expect(before?.status).toBe("confirmed");

  await stage.client.revert({ id: snapshot });
  await stage.client.mine({ blocks: 1 });
  await stage.client.request({ method: "eth_sendRawTransaction", params: [await rawOf(stage, sent)] });
  await stage.client.mine({ blocks: 1 });
  await stage.relayer.observe();
  const after = await stage.relayer.read(sent.operation_id);
  expect(after).toMatchObject({ status: "confirmed", reorg_count: 1, hash: sent.hash });
  expect(after?.block_number).toBe((before?.block_number ?? 0) + 1);
  await stage.expectBooksToBalance();
});

async function rawOf(stage: Stage, { operation_id }: { operation_id: string }) {
  const record = await stage.journal.read(operation_id);
  return record?.transactions[0]?.raw ?? "0x";
}

test("confirmations are counted with each head, without a request", async () => {
  const stage = await openStage({ confirmations: 3 });
  const { operation_id } = await stage.relayer.submit(await stage.offer("counted"));
  const seen = [];
  for (let block = 0; block < 3; block += 1) {
    await stage.relayer.follow();
    seen.push(await stage.relayer.read(operation_id));
    await stage.client.mine({ blocks: 1 });
  }
  expect(seen.map((operation) => [operation?.status, operation?.confirmations])).toEqual([
    ["mined", 1],
    ["mined", 2],
    ["confirmed", 3],
  ]);
});

test("what stands costs a head one question, however many operations there were", async () => {
  const stage = await openStage();
  for (let index = 0; index < 12; index += 1) await stage.relayer.submit(await stage.offer(`many-${index}`));
  const asked: string[] = [];
  const forward: EIP1193RequestFn = stage.client.request;
  const request: EIP1193RequestFn = async (args) => {
    asked.push(args.method);
    return forward(args);
  };
  const relayer = await stage.restart({ request });
  await relayer.follow();
  asked.length = 0;
  await relayer.follow();
  await stage.client.mine({ blocks: 1 });
  await relayer.follow();
  expect(asked).toEqual(["eth_getBlockByNumber", "eth_getBlockByNumber"]);
});

test("an operation that waits for a person costs a head nothing once others have followed it", async () => {
  const stage = await openStage();
  stage.relayer.fault({ point: "broadcast", action: "foreign_nonce" });
  const taken = await stage.relayer.submit(await stage.offer("taken"));
  expect(taken).toMatchObject({ status: "needs_attention", status_reason: "nonce_taken", nonce: 0 });
  for (let index = 0; index < 8; index += 1) await stage.relayer.submit(await stage.offer(`many-${index}`));
  const asked: string[] = [];
  const forward: EIP1193RequestFn = stage.client.request;
  const request: EIP1193RequestFn = async (args) => {
    asked.push(args.method);
    return forward(args);
  };
  const relayer = await stage.restart({ request });
  await relayer.follow();
  asked.length = 0;
  await stage.client.mine({ blocks: 1 });
  await relayer.follow();
  expect(asked).toEqual(["eth_getBlockByNumber"]);
  expect(await relayer.read(taken.operation_id)).toEqual(taken);
});

test("what belongs to another epoch does not keep the operations of this one from being followed", async () => {
  const stage = await openStage({ receiptTimeoutMs: 0 });
  await stage.client.setAutomine(false);
  const old = await stage.relayer.submit(await stage.offer("old"));
  await stage.client.dropTransaction({ hash: old.hash ?? "0x" });
  const { chainId } = stage.chain.deployment;
  const relayer = await stage.restart({
    chain: { identity: async () => ({ chainId, epoch: `0x${"ab".repeat(32)}` }) },
  });
  const current = await relayer.submit(await stage.offer("current"));
  expect([old, current]).toMatchObject([
    { status: "broadcast", nonce: 0 },
    { status: "broadcast", nonce: 0 },
  ]);
  await stage.client.mine({ blocks: 1 });
  await relayer.follow();
  expect(await relayer.read(current.operation_id)).toMatchObject({ status: "confirmed", hash: current.hash });
  expect(await relayer.read(old.operation_id)).toEqual(old);
});

test("a head is followed in the order of nonces: a fault that holds one operation holds the first", async () => {
  const stage = await openStage();
  const confirmed = [];
  for (const name of ["a", "b", "c"]) confirmed.push(await stage.relayer.submit(await stage.offer(name)));
  await stage.reorg(3);
  stage.relayer.fault({ point: "broadcast", action: "hold" });
  await stage.relayer.follow();
  expect(stage.relayer.faults()).toMatchObject([{ hits: 1 }]);
  // Those behind it send it, because they wait for it.
  await expect.poll(() => stage.mined()).toEqual(confirmed.map(({ hash }) => hash));
  await stage.relayer.follow();
  await stage.expectBooksToBalance();
});

test("a held operation goes on with the next head, one without a nonce waits for whoever wants it", async () => {
  const stage = await openStage();
  stage.relayer.fault({ point: "after_signed", action: "hold" });
  const held = await stage.relayer.submit(await stage.offer("held"));
  stage.relayer.fault({ point: "simulate", action: "rpc_error" });
  const unclaimed = await stage.relayer.submit(await stage.offer("unclaimed"));
  await stage.relayer.observe();
  expect(await stage.relayer.read(held.operation_id)).toEqual(held);
  await stage.relayer.follow();
  await expect.poll(() => stage.mined()).toEqual([held.hash]);
  expect(await stage.relayer.read(unclaimed.operation_id)).toEqual(unclaimed);
});

test("a node that is away, or on another life of the chain, leaves the journal as it is", async () => {
  const stage = await openStage();
  const confirmed = await stage.relayer.submit(await stage.offer("left"));
  await stage.reorg(1);
  const { chainId } = stage.chain.deployment;
  const elsewhere = [
    async () => ({ chainId, epoch: `0x${"ab".repeat(32)}` as const }),
    () => Promise.reject(new Error("ECONNREFUSED")),
  ];
  for (const identity of elsewhere) {
    const relayer = await stage.restart({ chain: { identity } });
    await relayer.follow();
    expect(await relayer.read(confirmed.operation_id)).toEqual(confirmed);
  }
});

test("faults that are put back pause mining again, and clearing them ends the pause", async () => {
  const stage = await openStage({ receiptTimeoutMs: 0 });
  stage.relayer.fault({ point: "before_intent", action: "pause_mining" });
  await stage.relayer.submit(await stage.offer("paused"));
  const state = stage.relayer.snapshotFaults();
  await stage.relayer.clearFaults();
  expect(await stage.client.getAutomine()).toBe(true);

  await stage.relayer.restoreFaults(state);
  expect(await stage.client.getAutomine()).toBe(false);
  await stage.relayer.restoreFaults({ faults: [], mining: null });
  expect(await stage.client.getAutomine()).toBe(true);
});

test("what a request has sent again for the sake of a later one is told with its new block and cost", async () => {
  const stage = await openStage();
  const confirmed = [];
  for (const name of ["a", "b", "c"]) confirmed.push(await stage.relayer.submit(await stage.offer(name)));
  await stage.relayer.follow();
  await stage.reorg(3);
  const last = await stage.relayer.advance(confirmed.at(-1)?.operation_id ?? "");
  expect(last).toMatchObject({ status: "confirmed", reorg_count: 1 });
  await stage.relayer.follow();
  const told = await stage.relayer.list(program, { limit: 10 });
  expect(told.map(({ status, reorg_count }) => [status, reorg_count])).toEqual(
    confirmed.map(() => ["confirmed", 1]),
  );
  await stage.expectBooksToBalance();
});
