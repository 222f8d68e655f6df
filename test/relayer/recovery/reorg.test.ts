import type { EIP1193RequestFn } from "viem";
import { expect, test } from "vitest";
import { ChainMismatchError } from "../../../relayer/relayer.ts";
import { offerReservation, openStages, program } from "../stage.ts";

const openStage = openStages();

test("a reorg takes a mined operation back to broadcast, and the same bytes are mined again", async () => {
  const stage = await openStage({ confirmations: 2, receiptTimeoutMs: 100 });
  const first = await stage.relayer.submit(await stage.offer("reorged"));
  expect(first).toMatchObject({ status: "mined", confirmations: 1, reserved_wei: "0" });

  await stage.client.setAutomine(false);
  await stage.reorg(1);
  const back = await stage.relayer.advance(first.operation_id);
  expect(back).toMatchObject({
    status: "broadcast",
    status_reason: "reorged",
    hash: first.hash,
    block_number: null,
    block_hash: null,
    confirmations: 0,
    reorg_count: 1,
    gas_used: null,
    cost_wei: null,
    reserved_wei: offerReservation.toString(),
    mined_at: null,
  });
  await stage.expectBooksToBalance();

  await stage.client.mine({ blocks: 2 });
  const again = await stage.relayer.advance(first.operation_id);
  expect(again).toMatchObject({ status_reason: null, confirmations: 2, reorg_count: 1, hash: first.hash });
  expect(again.block_hash).not.toBe(first.block_hash);
  await stage.expectExactlyOnce(again);
});

test.each([1, 2, 3, 4, 5])(
  "a reorg %i blocks deep is seen after the confirmation and repaired",
  async (depth) => {
    const stage = await openStage();
    const names = Array.from({ length: depth }, (_, index) => `deep-${index}`);
    const confirmed = [];
    for (const name of names) confirmed.push(await stage.relayer.submit(await stage.offer(name)));
    expect(confirmed.map(({ status }) => status)).toEqual(confirmed.map(() => "confirmed"));

    await stage.reorg(depth);
    expect(await stage.mined()).toEqual([]);
    // The newest first: it can only be mined after the ones that it looks behind for.
    const repaired = [];
    for (const { operation_id } of confirmed.toReversed())
      repaired.unshift(await stage.relayer.advance(operation_id));
    expect(repaired.map(({ status, reorg_count, hash }) => [status, reorg_count, hash])).toEqual(
      confirmed.map(({ hash }) => ["confirmed", 1, hash]),
    );
    expect(await stage.mined()).toEqual(confirmed.map(({ hash }) => hash));
    await stage.expectBooksToBalance();
  },
);

test("a new operation finds what a reorg took before it", async () => {
  const stage = await openStage({ receiptTimeoutMs: 50 });
  const lost = await stage.relayer.submit(await stage.offer("lost"));
  await stage.reorg(1);
  const next = await stage.relayer.submit(await stage.offer("next"));
  expect(next).toMatchObject({ status: "broadcast", nonce: 1 });
  expect(await stage.relayer.advance(next.operation_id)).toMatchObject({ status: "confirmed" });
  expect(await stage.relayer.advance(lost.operation_id)).toMatchObject({
    status: "confirmed",
    reorg_count: 1,
  });
  expect(await stage.mined()).toEqual([lost.hash, next.hash]);
  await stage.expectBooksToBalance();
});

test("recovery repairs what was confirmed and then reorged while nobody looked", async () => {
  const stage = await openStage();
  const first = await stage.relayer.submit(await stage.offer("first"));
  const second = await stage.relayer.submit(await stage.offer("second"));
  await stage.reorg(2);
  await (await stage.restart()).recover();
  expect(await stage.relayer.list(program, { limit: 10 })).toMatchObject(
    [first, second].map(({ hash }) => ({ status: "confirmed", reorg_count: 1, hash })),
  );
  expect(await stage.mined()).toEqual([first.hash, second.hash]);
  await stage.expectBooksToBalance();
});

test.each(["after_broadcast", "after_mined", "after_confirmed"] as const)(
  "a reorg at %s as a fault ends in one transaction",
  async (point) => {
    const stage = await openStage({ receiptTimeoutMs: 50 });
    stage.relayer.fault({ point, action: "reorg" });
    const intent = await stage.offer("fault");
    await stage.relayer.submit(intent);
    const settled = await stage.relayer.submit(intent);
    expect(stage.relayer.faults()).toMatchObject([{ hits: 1 }]);
    await stage.expectExactlyOnce(settled);
  },
);

test("a transaction that a reorg makes revert is told as reverted, with its cost", async () => {
  const stage = await openStage();
  const bounds = { maxPurchase: 50_000_000n, openBudget: 50_000_000n };
  const confirmed = await stage.relayer.submit(await stage.offer("large", 100_000_000n));
  expect(confirmed.status).toBe("confirmed");
  await stage.reorg(1);
  await stage.setBounds(bounds);
  const reverted = await stage.relayer.advance(confirmed.operation_id);
  expect(reverted).toMatchObject({
    status: "reverted",
    reorg_count: 1,
    error: { revert: { name: "AmountOutOfRange" } },
  });
  expect(await stage.mined()).toEqual([confirmed.hash]);
  await stage.expectBooksToBalance();
});

test("on another life of the chain nothing is sent and nothing is concluded", async () => {
  const stage = await openStage({ receiptTimeoutMs: 0 });
  const { deployment } = stage.chain;
  await stage.client.setAutomine(false);
  const waiting = await stage.relayer.submit(await stage.offer("waiting"));
  await stage.client.dropTransaction({ hash: waiting.hash ?? "0x" });

  const epoch = `0x${"ab".repeat(32)}` as const;
  let current = epoch as typeof deployment.epoch;
  const relayer = await stage.restart({
    chain: { identity: async () => ({ chainId: deployment.chainId, epoch: current }) },
  });
  await relayer.recover();
  await expect(relayer.advance(waiting.operation_id)).rejects.toThrow(ChainMismatchError);
  await expect(relayer.advance(waiting.operation_id)).rejects.toMatchObject({
    code: "chain_mismatch",
    expectedEpoch: deployment.epoch,
    actualEpoch: epoch,
  });
  expect(await relayer.read(waiting.operation_id)).toEqual(waiting);
  expect(await stage.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });

  const other = await relayer.submit(await stage.offer("waiting"));
  expect(other.operation_id).not.toBe(waiting.operation_id);
  await stage.client.dropTransaction({ hash: other.hash ?? "0x" });

  current = deployment.epoch;
  await relayer.recover();
  expect(await stage.client.getTxpoolStatus()).toEqual({ pending: 1, queued: 0 });
  await stage.client.mine({ blocks: 1 });
  expect(await relayer.advance(waiting.operation_id)).toMatchObject({
    status: "confirmed",
    hash: waiting.hash,
  });
});

test("a chain that is exchanged after the signature gets no broadcast", async () => {
  const stage = await openStage();
  const { deployment } = stage.chain;
  const other: typeof deployment.epoch = `0x${"ab".repeat(32)}`;
  let signed = false;
  const relayer = await stage.restart({
    chain: {
      identity: async () => ({ chainId: deployment.chainId, epoch: signed ? other : deployment.epoch }),
    },
    signers: [
      {
        ...stage.registrar,
        signTransaction: (transaction, options) => {
          signed = true;
          return stage.registrar.signTransaction(transaction, options);
        },
      },
    ],
  });
  const intent = await stage.offer("exchanged");
  await expect(relayer.submit(intent)).rejects.toThrow(ChainMismatchError);
  expect(await relayer.list(program, { limit: 10 })).toMatchObject([{ status: "signed", nonce: 0 }]);
  expect(await stage.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
  expect(await stage.mined()).toEqual([]);

  const back = await stage.restart();
  await stage.expectExactlyOnce(await back.submit(intent));
});

test("what is confirmed is not taken back because another chain does not know it", async () => {
  const stage = await openStage();
  const { deployment } = stage.chain;
  const confirmed = await stage.relayer.submit(await stage.offer("confirmed"));
  await stage.reorg(1);
  const other: typeof deployment.epoch = `0x${"ab".repeat(32)}`;
  const identity = async () => ({ chainId: deployment.chainId, epoch: other });
  const relayer = await stage.restart({ chain: { identity } });
  await expect(relayer.advance(confirmed.operation_id)).rejects.toThrow(ChainMismatchError);
  expect(await relayer.read(confirmed.operation_id)).toEqual(confirmed);
});

test("a block that leaves the chain while confirmations are counted does not count", async () => {
  const stage = await openStage({ confirmations: 2 });
  stage.relayer.fault({ point: "after_mined", action: "reorg" });
  const intent = await stage.offer("counted");
  expect(await stage.relayer.submit(intent)).toMatchObject({ status: "mined", confirmations: 0 });
  const again = await stage.relayer.submit(intent);
  expect(again).toMatchObject({ status: "mined", confirmations: 1, reorg_count: 1 });
  await stage.client.mine({ blocks: 1 });
  await stage.expectExactlyOnce(await stage.relayer.advance(again.operation_id));
});

test("what is settled keeps its own words while the node is away", async () => {
  const stage = await openStage();
  const confirmed = await stage.relayer.submit(await stage.offer("confirmed"));
  const failed = await stage.relayer.submit(await stage.offer("failed", 0n));
  expect(failed).toMatchObject({ status: "failed", error: { revert: { name: "AmountOutOfRange" } } });
  const relayer = await stage.restart({
    chain: { identity: () => Promise.reject(new Error("ECONNREFUSED")) },
  });
  for (const operation of [confirmed, failed])
    expect(await relayer.advance(operation.operation_id)).toEqual(operation);
});

test("a node that is away is told in the operation, and before any effect it is an error", async () => {
  let away: string | null = null;
  const stage = await openStage({ receiptTimeoutMs: 50 });
  const forward: EIP1193RequestFn = stage.client.request;
  const request: EIP1193RequestFn = async (args) => {
    if (args.method === away) throw new Error("connect ECONNREFUSED");
    return forward(args);
  };
  const relayer = await stage.restart({ request });
  away = "eth_sendRawTransaction";
  const intent = await stage.offer("away");
  const unsent = await relayer.submit(intent);
  expect(unsent).toMatchObject({
    status: "signed",
    status_reason: "rpc_unavailable",
    error: { code: "rpc_unavailable", rpc_code: null },
  });
  away = null;
  await stage.expectExactlyOnce(await relayer.submit(intent));

  const gone = await stage.restart({ chain: { identity: () => Promise.reject(new Error("ECONNREFUSED")) } });
  await expect(gone.submit(await stage.offer("gone"))).rejects.toMatchObject({ code: "rpc_unavailable" });
  expect(await gone.list(program, { limit: 10 })).toHaveLength(1);
});
