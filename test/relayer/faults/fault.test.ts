import { describe, expect, test } from "vitest";
import { FaultInvalidError, type FaultPoint, faultPoints } from "../../../relayer/relayer.ts";
import type { FaultRequest } from "../../../sandbox/faults/fault-request.ts";
import { offerReservation, openRelayerKits, program } from "../../kit/relayer-kit.ts";
import { holdDisk } from "../../server/store/directory/held-disk.ts";

const openKit = openRelayerKits();

const rpcPoints = ["simulate", "nonce", "broadcast", "receipt"] as const satisfies readonly FaultPoint[];

test.each(rpcPoints)("a lost answer at %s leads to no second transaction", async (point) => {
  const kit = await openKit();
  await kit.faults.set({ layer: "relayer", point, action: "lose_response" });
  const intent = await kit.offer("lost");
  const first = await kit.relayer.submit(intent);
  expect(kit.faults.list()).toMatchObject([{ hits: 1, remaining: 0 }]);
  const second = await kit.relayer.submit(intent);
  expect(second.operation_id).toBe(first.operation_id);
  await kit.expectExactlyOnce(second);
});

test("a lost answer to the broadcast does not count as a failure", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  await kit.client.setAutomine(false);
  await kit.faults.set({ layer: "relayer", point: "broadcast", action: "lose_response" });
  const waiting = await kit.relayer.submit(await kit.offer("lost"));
  expect(waiting).toMatchObject({ status: "broadcast", status_reason: null, error: null });
  await kit.client.mine({ blocks: 1 });
  await kit.expectExactlyOnce(await kit.relayer.advance(waiting.operation_id));
});

test.each(rpcPoints)("a refusal at %s is reported in the operation, which then continues", async (point) => {
  const kit = await openKit();
  await kit.faults.set({ layer: "relayer", point, action: "rpc_error", count: 2 });
  const intent = await kit.offer("refused");
  const first = await kit.relayer.submit(intent);
  expect(first).toMatchObject({
    status_reason: "rpc_refused",
    error: {
      code: "rpc_refused",
      rpc_code: -32603,
      message: expect.stringContaining("Internal error (fault)"),
    },
  });
  const second = await kit.relayer.advance(first.operation_id);
  expect(second.status_reason).toBe("rpc_refused");
  const third = await kit.relayer.submit(intent);
  expect(third).toMatchObject({ status_reason: null, error: null });
  await kit.expectExactlyOnce(third);
});

test.each(faultPoints.slice(1))(
  "held at %s, an operation waits and continues when it is looked at",
  async (point) => {
    const kit = await openKit();
    await kit.faults.set({ layer: "relayer", point, action: "hold" });
    const intent = await kit.offer("held");
    const held = await kit.relayer.submit(intent);
    expect(kit.faults.list()).toMatchObject([{ point, action: "hold", hits: 1 }]);
    expect(await kit.relayer.read(held.operation_id)).toEqual(held);
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
    await kit.expectExactlyOnce(await kit.relayer.submit(intent));
  },
);

test("a transaction that the node accepted before the process recorded it is recorded later", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  await kit.client.setAutomine(false);
  await kit.faults.set({ layer: "relayer", point: "sent", action: "hold" });
  const held = await kit.relayer.submit(await kit.offer("unwritten"));
  expect(held).toMatchObject({ status: "signed", broadcast_at: null, hashes: [{ outcome: "signed" }] });
  expect(await kit.relayer.advance(held.operation_id)).toMatchObject({
    status: "broadcast",
    broadcast_at: expect.stringMatching(/^2026/),
    hashes: [{ hash: held.hash, outcome: "broadcast" }],
  });
});

test("a held operation does not block the operations after it forever", async () => {
  const kit = await openKit({ receiptTimeoutMs: 50 });
  await kit.faults.set({
    layer: "relayer",
    point: "broadcast",
    action: "hold",
    match: { subject_id: "pur_front" },
  });
  const front = await kit.relayer.submit(await kit.offer("front"));
  const behind = await kit.relayer.submit(await kit.offer("behind"));
  expect([front, behind].map(({ status, nonce }) => [status, nonce])).toEqual([
    ["signed", 0],
    ["broadcast", 1],
  ]);
  // Looking at the one behind sends what it waits for.
  expect(await kit.relayer.advance(behind.operation_id)).toMatchObject({ status: "confirmed" });
  const looked = await kit.relayer.advance(front.operation_id);
  expect(looked).toMatchObject({ status: "confirmed", hash: front.hash });
  expect(await kit.mined()).toEqual([front.hash, behind.hash]);
  await kit.expectBooksToBalance();
});

test("a dropped transaction is sent again, byte for byte", async () => {
  const kit = await openKit({ receiptTimeoutMs: 50 });
  await kit.faults.set({ layer: "relayer", point: "broadcast", action: "drop" });
  const dropped = await kit.relayer.submit(await kit.offer("dropped"));
  expect(dropped).toMatchObject({ status: "broadcast", hashes: [{ outcome: "broadcast" }] });
  expect(await kit.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
  const sent = await kit.relayer.advance(dropped.operation_id);
  expect(sent.hash).toBe(dropped.hash);
  await kit.expectExactlyOnce(sent);
});

test("a transaction that the node forgets while it waits is sent again", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  await kit.client.setAutomine(false);
  const waiting = await kit.relayer.submit(await kit.offer("forgotten"));
  await kit.client.dropTransaction({ hash: waiting.hash ?? "0x" });
  expect(await kit.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
  // Later, and still told with the time of its first broadcast.
  await kit.client.mine({ blocks: 1 });
  expect(await kit.relayer.advance(waiting.operation_id)).toEqual(waiting);
  expect(await kit.client.getTxpoolStatus()).toEqual({ pending: 1, queued: 0 });
  await kit.client.mine({ blocks: 1 });
  await kit.expectExactlyOnce(await kit.relayer.advance(waiting.operation_id));
});

test("a transaction that the node's pool keeps for one with a gap before it is sent again, byte for byte", async () => {
  const kit = await openKit({ receiptTimeoutMs: 50 });
  await kit.faults.set({ layer: "relayer", point: "broadcast", action: "hold" });
  await kit.relayer.submit(await kit.offer("front"));
  const behind = await kit.relayer.submit(await kit.offer("behind"));
  expect(behind).toMatchObject({ status: "broadcast", nonce: 1 });
  // The gap is closed in a way that the pool does not hear of, as when the predecessor is mined while this one arrives.
  await kit.client.setNonce({ address: kit.operator.address, nonce: 1 });
  expect(await kit.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 1 });

  const freed = await kit.relayer.advance(behind.operation_id);
  expect(freed).toMatchObject({ status: "confirmed", hash: behind.hash });
  expect(await kit.mined()).toEqual([behind.hash]);
});

test("a transaction that is sent twice is mined once", async () => {
  const kit = await openKit();
  await kit.faults.set({ layer: "relayer", point: "broadcast", action: "duplicate" });
  await kit.expectExactlyOnce(await kit.relayer.submit(await kit.offer("duplicate")));
});

test("a signer that cannot pay keeps its nonce and continues when it can", async () => {
  const kit = await openKit();
  const { address } = kit.operator;
  const balance = await kit.client.getBalance({ address });
  await kit.client.setBalance({ address, value: 1n });
  const poor = await kit.relayer.submit(await kit.offer("poor"));
  const words = (operation: typeof poor) => [operation.status, operation.nonce, operation.status_reason];
  expect(words(poor)).toEqual(["signed", 0, "rpc_refused"]);
  expect(poor.error).toMatchObject({
    rpc_code: -32003,
    message: expect.stringMatching(
      new RegExp(
        String.raw`^The operator ${address} has 0\.000000000000000001 ether, and the transaction may cost 0\.\d+\. Send it ether, and the operation continues at the next block\.$`,
      ),
    ),
  });
  await kit.client.setBalance({ address, value: balance });

  await kit.faults.set({ layer: "relayer", point: "broadcast", action: "insufficient_funds" });
  const again = await kit.relayer.advance(poor.operation_id);
  expect(words(again)).toEqual(words(poor));
  expect(again.error).toMatchObject({
    rpc_code: -32003,
    message: expect.stringContaining("nsufficient funds"),
  });
  const paid = await kit.relayer.advance(poor.operation_id);
  expect(paid.hash).toBe(poor.hash);
  await kit.expectExactlyOnce(paid);
});

describe("foreign use of the signer", () => {
  test("before a nonce is assigned makes the operation need attention, and it can be resumed", async () => {
    const kit = await openKit();
    const first = await kit.relayer.submit(await kit.offer("ours"));
    await kit.faults.set({ layer: "relayer", point: "nonce", action: "foreign_nonce" });
    const intent = await kit.offer("next");
    const stopped = await kit.relayer.submit(intent);
    expect(stopped).toMatchObject({ status: "needs_attention", status_reason: "foreign_nonce", nonce: null });
    expect(await kit.relayer.advance(stopped.operation_id)).toEqual(stopped);
    expect(await kit.relayer.submit(intent)).toEqual(stopped);
    expect(await kit.relayer.submit(await kit.offer("other"))).toMatchObject({
      status: "needs_attention",
    });

    const resumed = await kit.relayer.resume(stopped.operation_id);
    expect(resumed).toMatchObject({ status: "confirmed", nonce: 2 });
    expect(await kit.relayer.submit(await kit.offer("later"))).toMatchObject({ nonce: 3 });
    const mined = await kit.mined();
    expect(mined).toHaveLength(4);
    expect(mined[0]).toBe(first.hash);
    expect(mined[2]).toBe(resumed.hash);
    await expect(kit.relayer.resume(first.operation_id)).rejects.toMatchObject({
      code: "operation_not_resumable",
    });
  });

  test("of an assigned nonce makes the operation need attention, and never leads to a second transaction", async () => {
    const kit = await openKit();
    await kit.faults.set({ layer: "relayer", point: "broadcast", action: "foreign_nonce" });
    const taken = await kit.relayer.submit(await kit.offer("taken"));
    expect(taken).toMatchObject({ status: "needs_attention", status_reason: "nonce_taken", nonce: 0 });
    expect(taken.hashes).toHaveLength(1);
    expect(taken.reserved_wei).toBe(offerReservation.toString());
    expect(await kit.relayer.advance(taken.operation_id)).toEqual(taken);
    expect(await kit.relayer.resume(taken.operation_id)).toEqual(taken);
    await (await kit.restart()).recover();
    expect(await kit.relayer.read(taken.operation_id)).toEqual(taken);
    const mined = await kit.mined();
    expect(mined).toHaveLength(1);
    expect(mined).not.toContain(taken.hash);

    // The nonce that was lost is behind the chain's, so others continue.
    expect(await kit.relayer.submit(await kit.offer("next"))).toMatchObject({
      status: "confirmed",
      nonce: 1,
    });
  });

  test("is written down once: looking at the operation again needs no disk", async () => {
    const kit = await openKit();
    await kit.faults.set({ layer: "relayer", point: "broadcast", action: "foreign_nonce" });
    const intent = await kit.offer("taken");
    const taken = await kit.relayer.submit(intent);
    expect(taken).toMatchObject({ status: "needs_attention", status_reason: "nonce_taken" });
    using disk = await holdDisk();
    const written = disk.next().then(() => "written");
    expect(await Promise.race([kit.relayer.advance(taken.operation_id), written])).toEqual(taken);
    expect(await Promise.race([kit.relayer.submit(intent), written])).toEqual(taken);
    expect(disk.asked()).toBe(0);
  });

  test("that a reorg removes leaves the nonce to its operation, once it is resumed", async () => {
    const kit = await openKit();
    await kit.faults.set({ layer: "relayer", point: "broadcast", action: "foreign_nonce" });
    const taken = await kit.relayer.submit(await kit.offer("taken"));
    await kit.reorg(1);
    expect(await kit.relayer.advance(taken.operation_id)).toEqual(taken);
    const resumed = await kit.relayer.resume(taken.operation_id);
    expect(resumed.hash).toBe(taken.hash);
    await kit.expectExactlyOnce(resumed);
  });
});

describe("a raised fee", () => {
  test("before the broadcast sends only the better paid transaction", async () => {
    const kit = await openKit();
    await kit.faults.set({ layer: "relayer", point: "after_signed", action: "replace" });
    const operation = await kit.relayer.submit(await kit.offer("raised"));
    expect(operation.hashes.map(({ purpose, outcome }) => [purpose, outcome])).toEqual([
      ["original", "replaced"],
      ["bump", "succeeded"],
    ]);
    expect(operation.hash).toBe(operation.hashes[1]?.hash);
    await kit.expectExactlyOnce(operation);
  });

  test("while the first one waits reserves the difference, and one of the two is mined", async () => {
    const kit = await openKit({ receiptTimeoutMs: 0 });
    await kit.client.setAutomine(false);
    await kit.faults.set({ layer: "relayer", point: "after_broadcast", action: "replace" });
    const waiting = await kit.relayer.submit(await kit.offer("raised"));
    expect(waiting.hashes.map(({ purpose, outcome }) => [purpose, outcome])).toEqual([
      ["original", "broadcast"],
      ["bump", "broadcast"],
    ]);
    expect(BigInt(waiting.reserved_wei)).toBe(BigInt(waiting.gas_limit) * BigInt(waiting.max_fee_per_gas));
    await kit.expectBooksToBalance();
    await kit.client.mine({ blocks: 1 });
    await kit.expectExactlyOnce(await kit.relayer.advance(waiting.operation_id));
  });

  test("that the budget does not cover is not made", async () => {
    const kit = await openKit({ gasBudgetWei: offerReservation });
    await kit.faults.set({ layer: "relayer", point: "after_signed", action: "replace" });
    const operation = await kit.relayer.submit(await kit.offer("poor"));
    expect(kit.faults.list()).toMatchObject([{ hits: 1 }]);
    expect(operation.hashes).toMatchObject([{ purpose: "original", outcome: "succeeded" }]);
    await kit.expectExactlyOnce(operation);
  });

  test("is made when it takes exactly what the budget has left, and not when one wei is missing", async () => {
    const raise = async (gasBudgetWei: bigint) => {
      const kit = await openKit({ receiptTimeoutMs: 0, gasBudgetWei });
      await kit.client.setAutomine(false);
      await kit.faults.set({ layer: "relayer", point: "after_broadcast", action: "replace" });
      const { hashes, reserved_wei } = await kit.relayer.submit(await kit.offer("exact"));
      await kit.expectBooksToBalance();
      return { purposes: hashes.map(({ purpose }) => purpose), reserved: BigInt(reserved_wei) };
    };
    const { reserved } = await raise(10n * offerReservation);
    expect(await raise(reserved)).toEqual({ purposes: ["original", "bump"], reserved });
    expect(await raise(reserved - 1n)).toEqual({ purposes: ["original"], reserved: offerReservation });
  });

  test("too late is refused, and the first transaction counts", async () => {
    const kit = await openKit();
    await kit.faults.set({ layer: "relayer", point: "after_broadcast", action: "replace" });
    const operation = await kit.relayer.submit(await kit.offer("late"));
    expect(operation.hashes.map(({ purpose, outcome }) => [purpose, outcome])).toEqual([
      ["original", "succeeded"],
      ["bump", "replaced"],
    ]);
    await kit.expectExactlyOnce(operation);
  });
});

test("paused mining leaves an operation broadcast until the fault is cleared", async () => {
  const kit = await openKit({ receiptTimeoutMs: 20 });
  await kit.faults.set({ layer: "relayer", point: "after_signed", action: "pause_mining" });
  const intent = await kit.offer("paused");
  const waiting = await kit.relayer.submit(intent);
  expect(waiting.status).toBe("broadcast");
  expect(await kit.relayer.advance(waiting.operation_id)).toEqual(waiting);
  await kit.faults.clear();
  expect(kit.faults.list()).toEqual([]);
  expect(await kit.client.getAutomine()).toBe(true);
  await expect.poll(async () => (await kit.relayer.submit(intent)).status).toBe("confirmed");
  await kit.expectExactlyOnce(await kit.relayer.submit(intent));
});

test("clearing a pause also restores interval mining, however often it was paused", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  const interval = () =>
    kit.client.request<{ Method: "anvil_getIntervalMining"; Parameters: []; ReturnType: number | null }>({
      method: "anvil_getIntervalMining",
      params: [],
    });
  await kit.client.setIntervalMining({ interval: 3_600 });
  await kit.faults.set({ layer: "relayer", point: "before_intent", action: "pause_mining", count: 2 });
  await kit.relayer.submit(await kit.offer("a"));
  await kit.relayer.submit(await kit.offer("b"));
  expect([await interval(), await kit.client.getAutomine()]).toEqual([null, false]);
  await kit.faults.clear();
  expect([await interval(), await kit.client.getAutomine()]).toEqual([3_600, false]);
});

test("a fault acts where it matches, as often as its count says, and can be restored from plain data", async () => {
  const kit = await openKit();
  const match = { program, kind: "offer", subject_id: "pur_b" } as const;
  await kit.faults.set({ layer: "relayer", point: "broadcast", action: "drop", match, count: 2 });
  await kit.faults.set({
    layer: "relayer",
    point: "simulate",
    action: "rpc_error",
    match: { program: "prg_other" },
    count: null,
  });
  await kit.faults.set({
    layer: "relayer",
    point: "simulate",
    action: "rpc_error",
    match: { operation_id: "op_another" },
  });
  await kit.faults.set({
    layer: "relayer",
    point: "simulate",
    action: "rpc_error",
    match: { kind: "collect_refund" },
  });
  expect(await kit.relayer.submit(await kit.offer("a"))).toMatchObject({ status: "confirmed" });
  expect(kit.faults.list().map(({ hits, remaining }) => [hits, remaining])).toEqual([
    [0, 2],
    [0, null],
    [0, 1],
    [0, 1],
  ]);
  const saved: ReturnType<typeof kit.faults.capture> = JSON.parse(JSON.stringify(kit.faults.capture()));
  await kit.faults.clear();
  await kit.faults.restore(saved);
  expect(kit.faults.capture()).toEqual(saved);
  await kit.faults.set({ layer: "relayer", point: "receipt", action: "hold" });
  await kit.relayer.submit(await kit.offer("b"));
  expect(kit.faults.list()[0]).toMatchObject({ point: "broadcast", hits: 1, remaining: 1, match });
});

test("a fault that is reported is a copy: what its reader changes acts on nothing", async () => {
  const kit = await openKit();
  const match = { subject_id: "pur_other" };
  const told = await kit.faults.set({ layer: "relayer", point: "broadcast", action: "drop", match });
  const [listed = told] = kit.faults.list();
  const [kept = told] = kit.faults.capture().faults;
  match.subject_id = "pur_one";
  for (const fault of [told, listed, kept]) {
    fault.match["subject_id"] = "pur_one";
    fault.remaining = null;
  }
  expect(await kit.relayer.submit(await kit.offer("one"))).toMatchObject({ status: "confirmed" });
  expect(kit.faults.list()).toEqual([
    {
      layer: "relayer",
      point: "broadcast",
      action: "drop",
      match: { subject_id: "pur_other" },
      remaining: 1,
      hits: 0,
    },
  ]);
});

test.each([
  [
    { point: "simulate", action: "drop" },
    /^The option point is "simulate", where drop does not act\. Use broadcast\.$/,
  ],
  [
    { point: "before_intent", action: "hold" },
    /^The option point is "before_intent", where hold does not act\. Use /,
  ],
  [
    { point: "broadcast", action: "drop", count: 0 },
    /^The option count must be at least 1, or null to act until it is cleared, not 0\.$/,
  ],
  [{ point: "after_mined", action: "reorg", depth: 0 }, /^The option depth must be at least 1, not 0\.$/],
  [
    { point: "broadcast", action: "drop", depth: 3 },
    /^The option depth is for reorg only\. Leave it out for drop\.$/,
  ],
  [
    { point: "broadcast", action: "drop", match: { program: "prg_nope" } },
    /^The option program is "prg_nope", which is not a program of this sandbox\. Use prg_demo or prg_other\.$/,
  ],
  [
    { point: "broadcast", action: "drop", match: { kind: "refund" } },
    /^The option match\.kind must be one of "offer", "collect_refund", not "refund"\.$/,
  ],
  [
    { point: "broadcast", action: "drop", match: { subject: "pur_a" } },
    /^A fault has no option match\.subject; use operation_id, program, kind, subject_id, occurrence\.$/,
  ],
  [{ point: "brodcast", action: "drop" }, /^The option point must be one of "before_intent", /],
  [{ point: "broadcast", action: "dropp" }, /^The option action must be one of "crash", "hold", /],
  [
    { action: "replace" },
    /^The option point is missing, and replace can act at several\. Use after_signed or after_broadcast\.$/,
  ],
  [
    { layer: "relay", action: "replace" },
    /^The option layer must be one of "api", "relayer", "rpc", "chain", "delivery", not "relay"\.$/,
  ],
] as const)("a fault that could have no effect is refused: %o", async (untyped, message) => {
  const kit = await openKit();
  // Values that JavaScript, or a cast, can pass in spite of the declared types.
  const request: FaultRequest = JSON.parse(JSON.stringify({ layer: "relayer", ...untyped }));
  const refused = expect(kit.faults.set(request)).rejects;
  await refused.toThrow(FaultInvalidError);
  await refused.toThrow(message);
  expect(kit.faults.list()).toEqual([]);
});
