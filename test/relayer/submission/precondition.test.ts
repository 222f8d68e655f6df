import { describe, expect, test } from "vitest";
import type { Precondition, RelayIntent, RelayOperation } from "../../../relayer/relayer.ts";
import { catchUp } from "../../../sandbox/service/catch-up.ts";
import {
  Crash,
  offerReservation,
  openRelayerKits,
  type RelayerKit,
  type RelayerKitOptions,
} from "../../kit/relayer-kit.ts";

const openKit = openRelayerKits();

const gone = "what it was sent for is gone";

/** A relayer whose offers have a precondition that the test can break. */
async function openGuarded(options: RelayerKitOptions = {}) {
  const guard = {
    whyNot: null as string | null,
    refused: null as string | null,
    fails: false,
    asked: 0,
    /** The number of times that it holds. */
    lasts: Number.POSITIVE_INFINITY,
  };
  const offer: Precondition = async ({ operation_id }) => {
    guard.asked += 1;
    if (guard.fails) throw new Error("the store is away");
    return guard.refused === operation_id || guard.asked > guard.lasts ? gone : guard.whyNot;
  };
  const kit = await openKit({ preconditions: { offer }, ...options });
  return { kit, guard };
}

function outcomes({ hashes }: RelayOperation) {
  return hashes.map(({ attempt, nonce, purpose, outcome }) => [attempt, nonce, purpose, outcome]);
}

/** An offer that is signed and held before it is sent. */
async function heldOffer(kit: RelayerKit): Promise<{ intent: RelayIntent; signed: RelayOperation }> {
  const intent = await kit.offer("guarded");
  await kit.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
  const signed = await kit.relayer.submit(intent);
  expect(signed).toMatchObject({ status: "signed", nonce: 0 });
  return { intent, signed };
}

const withdrawn = {
  attempt: 2,
  status: "failed",
  status_reason: "precondition_failed",
  error: { code: "precondition_failed", message: gone, rpc_code: null, revert: null },
  nonce: null,
  reserved_wei: "0",
};

describe("an operation whose precondition no longer holds", () => {
  test("claims no nonce", async () => {
    const { kit, guard } = await openGuarded();
    guard.whyNot = gone;
    expect(await kit.relayer.submit(await kit.offer("guarded"))).toMatchObject({
      ...withdrawn,
      attempt: 1,
      hashes: [],
    });
    expect(await kit.mined()).toEqual([]);
    await kit.expectBooksToBalance();
  });

  test.each([
    ["the next request", (kit: RelayerKit, intent: RelayIntent) => kit.relayer.submit(intent)],
    ["the next head", async (kit: RelayerKit) => await catchUp(kit.relayer, kit.client)],
    ["a restart", async (kit: RelayerKit) => await (await kit.restart()).recover()],
  ] as const)("is cancelled by %s when it is signed and was not sent", async (_, look) => {
    const { kit, guard } = await openGuarded();
    const { intent, signed } = await heldOffer(kit);
    guard.whyNot = gone;
    await look(kit, intent);
    await catchUp(kit.relayer, kit.client);
    const shown = await kit.relayer.read(signed.operation_id);
    expect(shown).toMatchObject({ operation_id: signed.operation_id, ...withdrawn });
    expect(shown && outcomes(shown)).toEqual([
      [1, 0, "original", "replaced"],
      [1, 0, "cancel", "succeeded"],
    ]);
    expect((await kit.mined())[0]).toBe(shown?.hashes[1]?.hash);
    await kit.expectBooksToBalance();
  });

  test("is not sent when it held before the nonce was claimed, and not any more before the broadcast", async () => {
    const { kit, guard } = await openGuarded();
    guard.lasts = 1;
    const shown = await kit.relayer.submit(await kit.offer("guarded"));
    await catchUp(kit.relayer, kit.client);
    expect(await kit.relayer.read(shown.operation_id)).toMatchObject(withdrawn);
    expect(await kit.mined()).toHaveLength(1);
    expect((await kit.mined())[0]).toBe((await kit.relayer.read(shown.operation_id))?.hashes[1]?.hash);
  });

  test("is cancelled by the operation with the next nonce, which it would hold up", {
    tags: "thorough",
  }, async () => {
    const { kit, guard } = await openGuarded();
    const { signed } = await heldOffer(kit);
    await kit.faults.set({ layer: "relayer", point: "broadcast", action: "drop" });
    const { operation_id } = await kit.relayer.submit(await kit.offer("next"));
    guard.refused = signed.operation_id;
    expect(await kit.relayer.advance(operation_id)).toMatchObject({ status: "confirmed", nonce: 1 });
    await catchUp(kit.relayer, kit.client);
    expect(await kit.relayer.read(signed.operation_id)).toMatchObject(withdrawn);
    expect(await kit.mined()).toHaveLength(2);
    await kit.expectBooksToBalance();
  });

  test("is cancelled while the node has it and has not mined it, and has failed while its cancellation is not confirmed", async () => {
    const { kit, guard } = await openGuarded({ receiptTimeoutMs: 50, confirmations: 2 });
    await kit.client.setAutomine(false);
    const intent = await kit.offer("guarded");
    const waiting = await kit.relayer.submit(intent);
    expect(waiting).toMatchObject({ status: "broadcast" });
    guard.whyNot = gone;
    await kit.relayer.follow();
    const cancelling = await kit.relayer.submit(intent);
    // 500,000 gas at 22.5 gwei: the call or the cancellation can be mined.
    expect(cancelling).toMatchObject({ ...withdrawn, hash: null, reserved_wei: "11250000000000000" });
    await kit.expectBooksToBalance();
    expect(outcomes(cancelling)).toEqual([
      [1, 0, "original", "broadcast"],
      [1, 0, "cancel", "broadcast"],
    ]);
    await kit.client.mine({ blocks: 1 });
    await kit.relayer.follow();
    const counting = await kit.relayer.submit(intent);
    expect(counting).toMatchObject({ ...withdrawn, hash: null });
    expect(await kit.relayer.waitsForEarlier(counting.operation_id)).toBe(true);
    await kit.client.mine({ blocks: 1 });
    const shown = await kit.relayer.submit(intent);
    expect(shown).toMatchObject(withdrawn);
    expect(await kit.relayer.waitsForEarlier(shown.operation_id)).toBe(false);
    expect(await kit.mined()).toEqual([shown.hashes[1]?.hash]);
    await kit.expectBooksToBalance();
  });

  test("keeps its reservation until its nonce is filled, also while the node does not answer", async () => {
    const { kit, guard } = await openGuarded();
    const { signed } = await heldOffer(kit);
    const { chainId, epoch } = kit.chain.deployment;
    const { asked } = guard;
    guard.whyNot = gone;
    const identity = async () => {
      if (guard.asked > asked) throw new Error("connect ECONNREFUSED");
      return { chainId, epoch };
    };
    const relayer = await kit.restart({ chain: { identity } });
    const reserved_wei = offerReservation.toString();
    expect(await relayer.advance(signed.operation_id)).toMatchObject({ ...withdrawn, reserved_wei });
    await kit.expectBooksToBalance();
    await kit.restart();
    await kit.relayer.recover();
    expect(await kit.relayer.read(signed.operation_id)).toMatchObject(withdrawn);
    await kit.expectBooksToBalance();
  });

  test("is not sent again when a reorg has removed it, and its nonce is filled for later transactions", async () => {
    const { kit, guard } = await openGuarded();
    const intent = await kit.offer("guarded");
    const confirmed = await kit.relayer.submit(intent);
    await kit.reorg(1);
    guard.whyNot = gone;
    await catchUp(kit.relayer, kit.client);
    const shown = await kit.relayer.submit(intent);
    expect(shown).toMatchObject({ ...withdrawn, reorg_count: 1 });
    expect(outcomes(shown)).toEqual([
      [1, 0, "original", "replaced"],
      [1, 0, "cancel", "succeeded"],
    ]);
    expect(await kit.mined()).not.toContain(confirmed.hash);
    guard.whyNot = null;
    expect(await kit.relayer.submit(await kit.offer("next"))).toMatchObject({
      status: "confirmed",
      nonce: 1,
    });
    await kit.expectBooksToBalance();
  });

  test("begins its next attempt once the precondition holds again, and takes effect once", async () => {
    const { kit, guard } = await openGuarded();
    const { intent } = await heldOffer(kit);
    guard.whyNot = gone;
    await kit.relayer.submit(intent);
    guard.whyNot = null;
    const made = await kit.relayer.submit(intent);
    expect(made).toMatchObject({ attempt: 2, status: "confirmed", nonce: 1, error: null });
    expect(await kit.mined()).toEqual([made.hashes[1]?.hash, made.hash]);
    expect(await kit.relayer.submit(intent)).toEqual(made);
    await kit.expectBooksToBalance();
  });

  test("takes effect once and begins no further attempt when its own transaction was mined before the cancellation", async () => {
    const { kit, guard } = await openGuarded();
    const { intent, signed } = await heldOffer(kit);
    const raw = (await kit.journal.read(signed.operation_id))?.transactions[0]?.raw ?? "0x";
    await kit.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
    guard.whyNot = gone;
    await kit.relayer.submit(intent);
    await kit.client.sendRawTransaction({ serializedTransaction: raw });
    await catchUp(kit.relayer, kit.client);
    const shown = await kit.relayer.submit(intent);
    expect(shown).toMatchObject({ attempt: 1, status: "confirmed", hash: signed.hash });
    expect(await kit.mined()).toEqual([signed.hash]);
    guard.whyNot = null;
    expect(await kit.relayer.submit(intent)).toEqual(shown);
    await kit.expectBooksToBalance();
  });

  test.each([
    "after_signed",
    "broadcast",
    "sent",
    "after_broadcast",
    "before_mined",
    "after_confirmed",
  ] as const)(
    "is cancelled once when the process crashes at %s of the cancellation",
    { tags: "thorough" },
    async (point) => {
      const { kit, guard } = await openGuarded();
      const { intent } = await heldOffer(kit);
      guard.whyNot = gone;
      await kit.faults.set({ layer: "relayer", point, action: "crash" });
      await expect(kit.relayer.submit(intent)).rejects.toThrow(new Crash(point));
      const relayer = await kit.restart();
      await relayer.recover();
      expect(await relayer.submit(intent)).toMatchObject(withdrawn);
      expect(await kit.mined()).toHaveLength(1);
      guard.whyNot = null;
      expect(await relayer.submit(intent)).toMatchObject({ attempt: 2, status: "confirmed", nonce: 1 });
      await kit.expectBooksToBalance();
    },
  );
});

test("nothing is sent while the precondition cannot be read, and it is sent once it can", async () => {
  const { kit, guard } = await openGuarded();
  const { intent } = await heldOffer(kit);
  guard.fails = true;
  expect(await kit.relayer.submit(intent)).toMatchObject({
    attempt: 1,
    status: "signed",
    status_reason: "rpc_unavailable",
  });
  expect(await kit.mined()).toEqual([]);
  guard.fails = false;
  await kit.expectExactlyOnce(await kit.relayer.submit(intent));
});

test("a raised fee is a broadcast too, before which the precondition is asked", {
  tags: "thorough",
}, async () => {
  const { kit, guard } = await openGuarded();
  await kit.client.setAutomine(false);
  await kit.faults.set({ layer: "relayer", point: "after_broadcast", action: "pause_mining" });
  await kit.faults.set({ layer: "relayer", point: "after_broadcast", action: "replace" });
  await kit.relayer.submit(await kit.offer("guarded"));
  expect(guard.asked).toBe(3);
});

test("the precondition is checked before the nonce is assigned and before the broadcast, but not once the transaction is mined", async () => {
  const { kit, guard } = await openGuarded();
  const { operation_id } = await kit.relayer.submit(await kit.offer("guarded"));
  const { asked } = guard;
  expect(asked).toBe(2);
  await catchUp(kit.relayer, kit.client);
  await kit.relayer.advance(operation_id);
  expect(guard.asked).toBe(asked);
});
