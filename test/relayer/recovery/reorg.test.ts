import type { EIP1193RequestFn } from "viem";
import { expect, test } from "vitest";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { EpochMismatchError } from "../../../relayer/relayer.ts";
import { offerReservation, openRelayerKits, program, type RelayerKit } from "../../kit/relayer-kit.ts";

const openKit = openRelayerKits();

test("a reorg sets a confirmed operation back to broadcast, and the same bytes are mined and confirmed again", async () => {
  const kit = await openKit({ confirmations: 2, receiptTimeoutMs: 100 });
  const first = await kit.relayer.submit(await kit.offer("reorged"));
  expect(first).toMatchObject({ status: "mined", confirmations: 1, reserved_wei: "0", confirmed_at: null });
  await kit.client.mine({ blocks: 1 });
  const confirmed = await kit.relayer.advance(first.operation_id);
  expect(confirmed).toMatchObject({ status: "confirmed", confirmed_at: await timeOf(kit) });

  await kit.client.setAutomine(false);
  await kit.reorg(2);
  const back = await kit.relayer.advance(first.operation_id);
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
    confirmed_at: null,
  });
  await kit.expectBooksToBalance();

  await kit.client.mine({ blocks: 1 });
  const minedAt = await timeOf(kit);
  await kit.client.mine({ blocks: 1 });
  const again = await kit.relayer.advance(first.operation_id);
  expect(again).toMatchObject({
    status_reason: null,
    confirmations: 2,
    reorg_count: 1,
    hash: first.hash,
    mined_at: minedAt,
    confirmed_at: await timeOf(kit),
  });
  expect(again.block_hash).not.toBe(first.block_hash);
  await kit.expectExactlyOnce(again);
});

/** The time of the newest block. */
async function timeOf({ client }: RelayerKit): Promise<string> {
  return toTimestamp(Number((await client.getBlock()).timestamp));
}

test.each([1, 5])("a reorg %i blocks deep is seen after the confirmation and repaired", async (depth) => {
  const kit = await openKit();
  const names = Array.from({ length: depth }, (_, index) => `deep-${index}`);
  const confirmed = [];
  for (const name of names) confirmed.push(await kit.relayer.submit(await kit.offer(name)));
  expect(confirmed.map(({ status }) => status)).toEqual(confirmed.map(() => "confirmed"));

  await kit.reorg(depth);
  expect(await kit.mined()).toEqual([]);
  // The newest first: it can only be mined after the ones that it looks behind for.
  const repaired = [];
  for (const { operation_id } of confirmed.toReversed())
    repaired.unshift(await kit.relayer.advance(operation_id));
  expect(repaired.map(({ status, reorg_count, hash }) => [status, reorg_count, hash])).toEqual(
    confirmed.map(({ hash }) => ["confirmed", 1, hash]),
  );
  expect(await kit.mined()).toEqual(confirmed.map(({ hash }) => hash));
  await kit.expectBooksToBalance();
});

test("a new operation finds an earlier operation that a reorg removed", async () => {
  const kit = await openKit({ receiptTimeoutMs: 50 });
  const lost = await kit.relayer.submit(await kit.offer("lost"));
  await kit.reorg(1);
  const next = await kit.relayer.submit(await kit.offer("next"));
  expect(next).toMatchObject({ status: "broadcast", nonce: 1 });
  expect(await kit.relayer.advance(next.operation_id)).toMatchObject({ status: "confirmed" });
  expect(await kit.relayer.advance(lost.operation_id)).toMatchObject({
    status: "confirmed",
    reorg_count: 1,
  });
  expect(await kit.mined()).toEqual([lost.hash, next.hash]);
  await kit.expectBooksToBalance();
});

test("recovery repairs a confirmed operation that a reorg removed while the relayer was stopped", async () => {
  const kit = await openKit();
  const first = await kit.relayer.submit(await kit.offer("first"));
  const second = await kit.relayer.submit(await kit.offer("second"));
  await kit.reorg(2);
  await (await kit.restart()).recover();
  expect(await kit.relayer.list(program, { limit: 10 })).toMatchObject(
    [first, second].map(({ hash }) => ({ status: "confirmed", reorg_count: 1, hash })),
  );
  expect(await kit.mined()).toEqual([first.hash, second.hash]);
  await kit.expectBooksToBalance();
});

test.each(["after_broadcast", "after_mined", "after_confirmed"] as const)(
  "a reorg at %s as a fault ends in one transaction",
  async (point) => {
    const kit = await openKit({ receiptTimeoutMs: 50 });
    await kit.faults.set({ layer: "relayer", point, action: "reorg" });
    const intent = await kit.offer("fault");
    await kit.relayer.submit(intent);
    const settled = await kit.relayer.submit(intent);
    expect(kit.faults.list()).toMatchObject([{ hits: 1 }]);
    await kit.expectExactlyOnce(settled);
  },
);

test("a transaction that a reorg makes revert is reported as reverted, with its cost", async () => {
  const kit = await openKit();
  const bounds = { maxPurchase: 50_000_000n, openBudget: 50_000_000n };
  const confirmed = await kit.relayer.submit(await kit.offer("large", 100_000_000n));
  expect(confirmed.status).toBe("confirmed");
  await kit.reorg(1);
  await kit.setBounds(bounds);
  const reverted = await kit.relayer.advance(confirmed.operation_id);
  expect(reverted).toMatchObject({
    status: "reverted",
    reorg_count: 1,
    error: { revert: { name: "AmountOutOfRange" } },
  });
  expect(await kit.mined()).toEqual([confirmed.hash]);
  await kit.expectBooksToBalance();
});

test("in another chain epoch nothing is sent and nothing is concluded", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  const { deployment } = kit.chain;
  await kit.client.setAutomine(false);
  const waiting = await kit.relayer.submit(await kit.offer("waiting"));
  await kit.client.dropTransaction({ hash: waiting.hash ?? "0x" });

  const epoch = `0x${"ab".repeat(32)}` as const;
  let current = epoch as typeof deployment.epoch;
  const relayer = await kit.restart({
    chain: { identity: async () => ({ chainId: deployment.chainId, epoch: current }) },
  });
  await relayer.recover();
  await expect(relayer.advance(waiting.operation_id)).rejects.toThrow(EpochMismatchError);
  await expect(relayer.advance(waiting.operation_id)).rejects.toMatchObject({
    code: "chain_mismatch",
    expectedEpoch: deployment.epoch,
    actualEpoch: epoch,
  });
  expect(await relayer.read(waiting.operation_id)).toEqual(waiting);
  expect(await kit.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });

  const other = await relayer.submit(await kit.offer("waiting"));
  expect(other.operation_id).not.toBe(waiting.operation_id);
  await kit.client.dropTransaction({ hash: other.hash ?? "0x" });

  current = deployment.epoch;
  await relayer.recover();
  expect(await kit.client.getTxpoolStatus()).toEqual({ pending: 1, queued: 0 });
  await kit.client.mine({ blocks: 1 });
  expect(await relayer.advance(waiting.operation_id)).toMatchObject({
    status: "confirmed",
    hash: waiting.hash,
  });
});

test("a chain that is exchanged after the signature gets no broadcast", async () => {
  const kit = await openKit();
  const { deployment } = kit.chain;
  const other: typeof deployment.epoch = `0x${"ab".repeat(32)}`;
  let signed = false;
  const relayer = await kit.restart({
    chain: {
      identity: async () => ({ chainId: deployment.chainId, epoch: signed ? other : deployment.epoch }),
    },
    signers: [
      {
        ...kit.operator,
        signTransaction: (transaction, options) => {
          signed = true;
          return kit.operator.signTransaction(transaction, options);
        },
      },
    ],
  });
  const intent = await kit.offer("exchanged");
  await expect(relayer.submit(intent)).rejects.toThrow(EpochMismatchError);
  expect(await relayer.list(program, { limit: 10 })).toMatchObject([{ status: "signed", nonce: 0 }]);
  expect(await kit.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
  expect(await kit.mined()).toEqual([]);

  const back = await kit.restart();
  await kit.expectExactlyOnce(await back.submit(intent));
});

test("a confirmed operation stays confirmed if another chain does not know it", async () => {
  const kit = await openKit();
  const { deployment } = kit.chain;
  const confirmed = await kit.relayer.submit(await kit.offer("confirmed"));
  await kit.reorg(1);
  const other: typeof deployment.epoch = `0x${"ab".repeat(32)}`;
  const identity = async () => ({ chainId: deployment.chainId, epoch: other });
  const relayer = await kit.restart({ chain: { identity } });
  await expect(relayer.advance(confirmed.operation_id)).rejects.toThrow(EpochMismatchError);
  expect(await relayer.read(confirmed.operation_id)).toEqual(confirmed);
});

test("a block that a reorg removes while confirmations are counted does not count", async () => {
  const kit = await openKit({ confirmations: 2 });
  await kit.faults.set({ layer: "relayer", point: "after_mined", action: "reorg" });
  const intent = await kit.offer("counted");
  expect(await kit.relayer.submit(intent)).toMatchObject({ status: "mined", confirmations: 0 });
  const again = await kit.relayer.submit(intent);
  expect(again).toMatchObject({ status: "mined", confirmations: 1, reorg_count: 1 });
  await kit.client.mine({ blocks: 1 });
  await kit.expectExactlyOnce(await kit.relayer.advance(again.operation_id));
});

test("a settled operation keeps its status reason while the node does not answer", async () => {
  const kit = await openKit();
  const confirmed = await kit.relayer.submit(await kit.offer("confirmed"));
  const failed = await kit.relayer.submit(await kit.offer("failed", 0n));
  expect(failed).toMatchObject({ status: "failed", error: { revert: { name: "AmountOutOfRange" } } });
  const relayer = await kit.restart({
    chain: { identity: () => Promise.reject(new Error("ECONNREFUSED")) },
  });
  for (const operation of [confirmed, failed])
    expect(await relayer.advance(operation.operation_id)).toEqual(operation);
});

test("a node that does not answer is reported in the operation or, before any effect, as an error", async () => {
  let away: string | null = null;
  const kit = await openKit({ receiptTimeoutMs: 50 });
  const forward: EIP1193RequestFn = kit.client.request;
  const request: EIP1193RequestFn = async (args) => {
    if (args.method === away) throw new Error("connect ECONNREFUSED");
    return forward(args);
  };
  const relayer = await kit.restart({ request });
  away = "eth_sendRawTransaction";
  const intent = await kit.offer("away");
  const unsent = await relayer.submit(intent);
  expect(unsent).toMatchObject({
    status: "signed",
    status_reason: "rpc_unavailable",
    error: { code: "rpc_unavailable", rpc_code: null },
  });
  away = null;
  await kit.expectExactlyOnce(await relayer.submit(intent));

  const gone = await kit.restart({ chain: { identity: () => Promise.reject(new Error("ECONNREFUSED")) } });
  await expect(gone.submit(await kit.offer("gone"))).rejects.toMatchObject({ code: "rpc_unavailable" });
  expect(await gone.list(program, { limit: 10 })).toHaveLength(1);
});
