import { describe, expect, test } from "vitest";
import { FaultInvalidError, type FaultPoint, faultPoints } from "../../../relayer/relayer.ts";
import { holdDisk } from "../../server/store/held-disk.ts";
import { offerReservation, openStages, program } from "../stage.ts";

const openStage = openStages();

const rpcPoints = ["simulate", "nonce", "broadcast", "receipt"] as const satisfies readonly FaultPoint[];

test.each(rpcPoints)("a lost answer at %s leads to no second transaction", async (point) => {
  const stage = await openStage();
  stage.relayer.fault({ point, action: "lose_response" });
  const intent = await stage.offer("lost");
  const first = await stage.relayer.submit(intent);
  expect(stage.relayer.faults()).toMatchObject([{ hits: 1, remaining: 0 }]);
  const second = await stage.relayer.submit(intent);
  expect(second.operation_id).toBe(first.operation_id);
  await stage.expectExactlyOnce(second);
});

test("a lost answer to the broadcast is not taken for a failure", async () => {
  const stage = await openStage({ receiptTimeoutMs: 0 });
  await stage.client.setAutomine(false);
  stage.relayer.fault({ point: "broadcast", action: "lose_response" });
  const waiting = await stage.relayer.submit(await stage.offer("lost"));
  expect(waiting).toMatchObject({ status: "broadcast", status_reason: null, error: null });
  await stage.client.mine({ blocks: 1 });
  await stage.expectExactlyOnce(await stage.relayer.advance(waiting.operation_id));
});

test.each(rpcPoints)("a refusal at %s is told in the operation, which then goes on", async (point) => {
  const stage = await openStage();
  stage.relayer.fault({ point, action: "rpc_error", count: 2 });
  const intent = await stage.offer("refused");
  const first = await stage.relayer.submit(intent);
  expect(first).toMatchObject({
    status_reason: "rpc_refused",
    error: {
      code: "rpc_refused",
      rpc_code: -32603,
      message: expect.stringContaining("Internal error (fault)"),
    },
  });
  const second = await stage.relayer.advance(first.operation_id);
  expect(second.status_reason).toBe("rpc_refused");
  const third = await stage.relayer.submit(intent);
  expect(third).toMatchObject({ status_reason: null, error: null });
  await stage.expectExactlyOnce(third);
});

test.each(faultPoints.slice(1))(
  "held at %s, an operation waits and goes on when it is looked at",
  async (point) => {
    const stage = await openStage();
    stage.relayer.fault({ point, action: "hold" });
    const intent = await stage.offer("held");
    const held = await stage.relayer.submit(intent);
    expect(stage.relayer.faults()).toMatchObject([{ point, action: "hold", hits: 1 }]);
    expect(await stage.relayer.read(held.operation_id)).toEqual(held);
    expect(held.status).toBe(
      {
        after_intent: "accepted",
        simulate: "accepted",
        nonce: "accepted",
        before_signed: "accepted",
        after_signed: "signed",
        broadcast: "signed",
        sent: "signed",
        after_broadcast: "broadcast",
        receipt: "broadcast",
        before_mined: "broadcast",
        after_mined: "mined",
        before_confirmed: "mined",
        after_confirmed: "confirmed",
        before_intent: "never held here",
      }[point],
    );
    await stage.expectExactlyOnce(await stage.relayer.submit(intent));
  },
);

test("what the node took before the process could write it down is written down later", async () => {
  const stage = await openStage({ receiptTimeoutMs: 0 });
  await stage.client.setAutomine(false);
  stage.relayer.fault({ point: "sent", action: "hold" });
  const held = await stage.relayer.submit(await stage.offer("unwritten"));
  expect(held).toMatchObject({ status: "signed", broadcast_at: null, hashes: [{ outcome: "signed" }] });
  expect(await stage.relayer.advance(held.operation_id)).toMatchObject({
    status: "broadcast",
    broadcast_at: expect.stringMatching(/^2026/),
    hashes: [{ hash: held.hash, outcome: "broadcast" }],
  });
});

test("a held operation does not stop the ones behind it for good", async () => {
  const stage = await openStage({ receiptTimeoutMs: 50 });
  stage.relayer.fault({ point: "broadcast", action: "hold", match: { subject_id: "pur_front" } });
  const front = await stage.relayer.submit(await stage.offer("front"));
  const behind = await stage.relayer.submit(await stage.offer("behind"));
  expect([front, behind].map(({ status, nonce }) => [status, nonce])).toEqual([
    ["signed", 0],
    ["broadcast", 1],
  ]);
  // Looking at the one behind sends what it waits for.
  expect(await stage.relayer.advance(behind.operation_id)).toMatchObject({ status: "confirmed" });
  const looked = await stage.relayer.advance(front.operation_id);
  expect(looked).toMatchObject({ status: "confirmed", hash: front.hash });
  expect(await stage.mined()).toEqual([front.hash, behind.hash]);
  await stage.expectBooksToBalance();
});

test("a dropped transaction is sent again, byte for byte", async () => {
  const stage = await openStage({ receiptTimeoutMs: 50 });
  stage.relayer.fault({ point: "broadcast", action: "drop" });
  const dropped = await stage.relayer.submit(await stage.offer("dropped"));
  expect(dropped).toMatchObject({ status: "broadcast", hashes: [{ outcome: "broadcast" }] });
  expect(await stage.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
  const sent = await stage.relayer.advance(dropped.operation_id);
  expect(sent.hash).toBe(dropped.hash);
  await stage.expectExactlyOnce(sent);
});

test("a transaction that the node forgets while it waits is sent again", async () => {
  const stage = await openStage({ receiptTimeoutMs: 0 });
  await stage.client.setAutomine(false);
  const waiting = await stage.relayer.submit(await stage.offer("forgotten"));
  await stage.client.dropTransaction({ hash: waiting.hash ?? "0x" });
  expect(await stage.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
  // Later, and still told with the time of its first broadcast.
  await stage.client.mine({ blocks: 1 });
  expect(await stage.relayer.advance(waiting.operation_id)).toEqual(waiting);
  expect(await stage.client.getTxpoolStatus()).toEqual({ pending: 1, queued: 0 });
  await stage.client.mine({ blocks: 1 });
  await stage.expectExactlyOnce(await stage.relayer.advance(waiting.operation_id));
});

test("a transaction that the node's pool keeps for one with a gap before it is sent again, byte for byte", async () => {
  const stage = await openStage({ receiptTimeoutMs: 50 });
  stage.relayer.fault({ point: "broadcast", action: "hold" });
  await stage.relayer.submit(await stage.offer("front"));
  const behind = await stage.relayer.submit(await stage.offer("behind"));
  expect(behind).toMatchObject({ status: "broadcast", nonce: 1 });
  // The gap is closed in a way that the pool does not hear of, as when the predecessor is mined while this one arrives.
  await stage.client.setNonce({ address: stage.registrar.address, nonce: 1 });
  expect(await stage.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 1 });

  const freed = await stage.relayer.advance(behind.operation_id);
  expect(freed).toMatchObject({ status: "confirmed", hash: behind.hash });
  expect(await stage.mined()).toEqual([behind.hash]);
});

test("a transaction that is sent twice is mined once", async () => {
  const stage = await openStage();
  stage.relayer.fault({ point: "broadcast", action: "duplicate" });
  await stage.expectExactlyOnce(await stage.relayer.submit(await stage.offer("duplicate")));
});

test("a signer that cannot pay keeps its nonce and goes on when it can", async () => {
  const stage = await openStage();
  const { address } = stage.registrar;
  const balance = await stage.client.getBalance({ address });
  await stage.client.setBalance({ address, value: 1n });
  const poor = await stage.relayer.submit(await stage.offer("poor"));
  const words = (operation: typeof poor) => [operation.status, operation.nonce, operation.status_reason];
  expect(words(poor)).toEqual(["signed", 0, "rpc_refused"]);
  expect(poor.error).toMatchObject({
    rpc_code: -32003,
    message: expect.stringContaining("nsufficient funds"),
  });
  await stage.client.setBalance({ address, value: balance });

  stage.relayer.fault({ point: "broadcast", action: "insufficient_funds" });
  const again = await stage.relayer.advance(poor.operation_id);
  expect(words(again)).toEqual(words(poor));
  expect(again.error).toMatchObject({
    rpc_code: -32003,
    message: expect.stringContaining("nsufficient funds"),
  });
  const paid = await stage.relayer.advance(poor.operation_id);
  expect(paid.hash).toBe(poor.hash);
  await stage.expectExactlyOnce(paid);
});

describe("foreign use of the signer", () => {
  test("before a nonce is claimed needs a person, who can let it go on", async () => {
    const stage = await openStage();
    const first = await stage.relayer.submit(await stage.offer("ours"));
    stage.relayer.fault({ point: "nonce", action: "foreign_nonce" });
    const intent = await stage.offer("next");
    const stopped = await stage.relayer.submit(intent);
    expect(stopped).toMatchObject({ status: "needs_attention", status_reason: "foreign_nonce", nonce: null });
    expect(await stage.relayer.advance(stopped.operation_id)).toEqual(stopped);
    expect(await stage.relayer.submit(intent)).toEqual(stopped);
    expect(await stage.relayer.submit(await stage.offer("other"))).toMatchObject({
      status: "needs_attention",
    });

    const resumed = await stage.relayer.resume(stopped.operation_id);
    expect(resumed).toMatchObject({ status: "confirmed", nonce: 2 });
    expect(await stage.relayer.submit(await stage.offer("later"))).toMatchObject({ nonce: 3 });
    const mined = await stage.mined();
    expect(mined).toHaveLength(4);
    expect(mined[0]).toBe(first.hash);
    expect(mined[2]).toBe(resumed.hash);
    await expect(stage.relayer.resume(first.operation_id)).rejects.toMatchObject({
      code: "operation_not_resumable",
    });
  });

  test("of a nonce that is claimed needs a person, and is never answered by a second transaction", async () => {
    const stage = await openStage();
    stage.relayer.fault({ point: "broadcast", action: "foreign_nonce" });
    const taken = await stage.relayer.submit(await stage.offer("taken"));
    expect(taken).toMatchObject({ status: "needs_attention", status_reason: "nonce_taken", nonce: 0 });
    expect(taken.hashes).toHaveLength(1);
    expect(await stage.relayer.advance(taken.operation_id)).toEqual(taken);
    expect(await stage.relayer.resume(taken.operation_id)).toEqual(taken);
    await (await stage.restart()).recover();
    expect(await stage.relayer.read(taken.operation_id)).toEqual(taken);
    const mined = await stage.mined();
    expect(mined).toHaveLength(1);
    expect(mined).not.toContain(taken.hash);

    // The nonce that was lost is behind the chain's, so others go on.
    expect(await stage.relayer.submit(await stage.offer("next"))).toMatchObject({
      status: "confirmed",
      nonce: 1,
    });
  });

  test("is written down once: looking at the operation again needs no disk", async () => {
    const stage = await openStage();
    stage.relayer.fault({ point: "broadcast", action: "foreign_nonce" });
    const intent = await stage.offer("taken");
    const taken = await stage.relayer.submit(intent);
    expect(taken).toMatchObject({ status: "needs_attention", status_reason: "nonce_taken" });
    using disk = await holdDisk();
    const written = disk.next().then(() => "written");
    expect(await Promise.race([stage.relayer.advance(taken.operation_id), written])).toEqual(taken);
    expect(await Promise.race([stage.relayer.submit(intent), written])).toEqual(taken);
    expect(disk.asked()).toBe(0);
  });

  test("that a reorg takes back leaves the nonce to its operation, once a person says so", async () => {
    const stage = await openStage();
    stage.relayer.fault({ point: "broadcast", action: "foreign_nonce" });
    const taken = await stage.relayer.submit(await stage.offer("taken"));
    await stage.reorg(1);
    expect(await stage.relayer.advance(taken.operation_id)).toEqual(taken);
    const resumed = await stage.relayer.resume(taken.operation_id);
    expect(resumed.hash).toBe(taken.hash);
    await stage.expectExactlyOnce(resumed);
  });
});

describe("a raised fee", () => {
  test("before the broadcast sends only the better paid transaction", async () => {
    const stage = await openStage();
    stage.relayer.fault({ point: "after_signed", action: "replace" });
    const operation = await stage.relayer.submit(await stage.offer("raised"));
    expect(operation.hashes.map(({ purpose, outcome }) => [purpose, outcome])).toEqual([
      ["original", "replaced"],
      ["bump", "succeeded"],
    ]);
    expect(operation.hash).toBe(operation.hashes[1]?.hash);
    await stage.expectExactlyOnce(operation);
  });

  test("while the first one waits reserves the difference, and one of the two is mined", async () => {
    const stage = await openStage({ receiptTimeoutMs: 0 });
    await stage.client.setAutomine(false);
    stage.relayer.fault({ point: "after_broadcast", action: "replace" });
    const waiting = await stage.relayer.submit(await stage.offer("raised"));
    expect(waiting.hashes.map(({ purpose, outcome }) => [purpose, outcome])).toEqual([
      ["original", "broadcast"],
      ["bump", "broadcast"],
    ]);
    expect(BigInt(waiting.reserved_wei)).toBe(BigInt(waiting.gas_limit) * BigInt(waiting.max_fee_per_gas));
    await stage.expectBooksToBalance();
    await stage.client.mine({ blocks: 1 });
    await stage.expectExactlyOnce(await stage.relayer.advance(waiting.operation_id));
  });

  test("that the budget does not cover is not made", async () => {
    const stage = await openStage({ gasBudgetWei: offerReservation });
    stage.relayer.fault({ point: "after_signed", action: "replace" });
    const operation = await stage.relayer.submit(await stage.offer("poor"));
    expect(stage.relayer.faults()).toMatchObject([{ hits: 1 }]);
    expect(operation.hashes).toMatchObject([{ purpose: "original", outcome: "succeeded" }]);
    await stage.expectExactlyOnce(operation);
  });

  test("is made when it takes exactly what the budget has left, and not when one wei is missing", async () => {
    const raise = async (gasBudgetWei: bigint) => {
      const stage = await openStage({ receiptTimeoutMs: 0, gasBudgetWei });
      await stage.client.setAutomine(false);
      stage.relayer.fault({ point: "after_broadcast", action: "replace" });
      const { hashes, reserved_wei } = await stage.relayer.submit(await stage.offer("exact"));
      await stage.expectBooksToBalance();
      return { purposes: hashes.map(({ purpose }) => purpose), reserved: BigInt(reserved_wei) };
    };
    const { reserved } = await raise(10n * offerReservation);
    expect(await raise(reserved)).toEqual({ purposes: ["original", "bump"], reserved });
    expect(await raise(reserved - 1n)).toEqual({ purposes: ["original"], reserved: offerReservation });
  });

  test("too late is refused, and the first transaction counts", async () => {
    const stage = await openStage();
    stage.relayer.fault({ point: "after_broadcast", action: "replace" });
    const operation = await stage.relayer.submit(await stage.offer("late"));
    expect(operation.hashes.map(({ purpose, outcome }) => [purpose, outcome])).toEqual([
      ["original", "succeeded"],
      ["bump", "replaced"],
    ]);
    await stage.expectExactlyOnce(operation);
  });
});

test("paused mining leaves an operation broadcast until the fault is cleared", async () => {
  const stage = await openStage({ receiptTimeoutMs: 20 });
  stage.relayer.fault({ point: "after_signed", action: "pause_mining" });
  const intent = await stage.offer("paused");
  const waiting = await stage.relayer.submit(intent);
  expect(waiting.status).toBe("broadcast");
  expect(await stage.relayer.advance(waiting.operation_id)).toEqual(waiting);
  await stage.relayer.clearFaults();
  expect(stage.relayer.faults()).toEqual([]);
  expect(await stage.client.getAutomine()).toBe(true);
  await expect.poll(async () => (await stage.relayer.submit(intent)).status).toBe("confirmed");
  await stage.expectExactlyOnce(await stage.relayer.submit(intent));
});

test("clearing a pause puts back interval mining too, however often it was paused", async () => {
  const stage = await openStage({ receiptTimeoutMs: 0 });
  const interval = () =>
    stage.client.request<{ Method: "anvil_getIntervalMining"; Parameters: []; ReturnType: number | null }>({
      method: "anvil_getIntervalMining",
      params: [],
    });
  await stage.client.setIntervalMining({ interval: 3_600 });
  stage.relayer.fault({ point: "before_intent", action: "pause_mining", count: 2 });
  await stage.relayer.submit(await stage.offer("a"));
  await stage.relayer.submit(await stage.offer("b"));
  expect([await interval(), await stage.client.getAutomine()]).toEqual([null, false]);
  await stage.relayer.clearFaults();
  expect([await interval(), await stage.client.getAutomine()]).toEqual([3_600, false]);
});

test("a fault acts on what it matches, as often as it says, and can be put back from plain data", async () => {
  const stage = await openStage();
  const match = { program, kind: "offer", subject_id: "pur_b" } as const;
  stage.relayer.fault({ point: "broadcast", action: "drop", match, count: 2 });
  stage.relayer.fault({
    point: "simulate",
    action: "rpc_error",
    match: { program: "prg_other" },
    count: null,
  });
  stage.relayer.fault({ point: "simulate", action: "rpc_error", match: { operation_id: "op_another" } });
  stage.relayer.fault({ point: "simulate", action: "rpc_error", match: { kind: "collect_refund" } });
  expect(await stage.relayer.submit(await stage.offer("a"))).toMatchObject({ status: "confirmed" });
  expect(stage.relayer.faults().map(({ hits, remaining }) => [hits, remaining])).toEqual([
    [0, 2],
    [0, null],
    [0, 1],
    [0, 1],
  ]);
  const saved: ReturnType<typeof stage.relayer.snapshotFaults> = JSON.parse(
    JSON.stringify(stage.relayer.snapshotFaults()),
  );
  await stage.relayer.clearFaults();
  await stage.relayer.restoreFaults(saved);
  expect(stage.relayer.snapshotFaults()).toEqual(saved);
  stage.relayer.fault({ point: "receipt", action: "hold" });
  await stage.relayer.submit(await stage.offer("b"));
  expect(stage.relayer.faults()[0]).toMatchObject({ point: "broadcast", hits: 1, remaining: 1, match });
});

test("a fault that is told is a copy: what its reader changes acts on nothing", async () => {
  const stage = await openStage();
  const match = { subject_id: "pur_other" };
  const told = stage.relayer.fault({ point: "broadcast", action: "drop", match });
  const [listed = told] = stage.relayer.faults();
  const [kept = told] = stage.relayer.snapshotFaults().faults;
  match.subject_id = "pur_one";
  for (const fault of [told, listed, kept]) {
    fault.match.subject_id = "pur_one";
    fault.remaining = null;
  }
  expect(await stage.relayer.submit(await stage.offer("one"))).toMatchObject({ status: "confirmed" });
  expect(stage.relayer.faults()).toEqual([
    {
      point: "broadcast",
      action: "drop",
      match: { subject_id: "pur_other" },
      remaining: 1,
      hits: 0,
      depth: 1,
    },
  ]);
});

test.each([
  [{ point: "simulate", action: "drop" }, /drop does not act at "simulate", but at broadcast/],
  [{ point: "before_intent", action: "hold" }, /hold does not act at "before_intent"/],
  [{ point: "broadcast", action: "drop", count: 0 }, /a positive number of times or null, not 0/],
  [{ point: "after_mined", action: "reorg", depth: 0 }, /a positive number of blocks, not 0/],
] as const)("a fault that could have no effect is refused: %o", async (request, message) => {
  const stage = await openStage();
  expect(() => stage.relayer.fault(request)).toThrow(FaultInvalidError);
  expect(() => stage.relayer.fault(request)).toThrow(message);
  expect(stage.relayer.faults()).toEqual([]);
});
