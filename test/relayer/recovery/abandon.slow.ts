import { describe, expect, test } from "vitest";
import { faultPoints, type RelayIntent, type RelayOperation } from "../../../relayer/relayer.ts";
import { Crash, offerReservation, openRelayerKits, program, type RelayerKit } from "../../kit/relayer-kit.ts";

const openKit = openRelayerKits();

/** An offer whose nonce another program has used. */
async function takenOffer(kit: RelayerKit): Promise<{ intent: RelayIntent; taken: RelayOperation }> {
  const intent = await kit.offer("taken");
  await kit.faults.set({ layer: "relayer", point: "broadcast", action: "foreign_nonce" });
  const taken = await kit.relayer.submit(intent);
  expect(taken).toMatchObject({
    status: "needs_attention",
    status_reason: "nonce_taken",
    nonce: 0,
    attempt: 1,
  });
  return { intent, taken };
}

/** The bytes of the first transaction that was ever signed for an operation. */
async function firstRaw(kit: RelayerKit, { operation_id }: RelayOperation) {
  const current = await kit.journal.read(operation_id);
  if (current === undefined) throw new Error(`The journal has lost ${operation_id}.`);
  const [first = current] = await kit.journal.superseded(current);
  return first.transactions[0]?.raw ?? "0x";
}

function outcomes({ hashes }: RelayOperation) {
  return hashes.map(({ attempt, nonce, purpose, outcome }) => [attempt, nonce, purpose, outcome]);
}

test("an operation whose nonce was taken can be abandoned: its reservation is released, and the next request takes a new nonce", async () => {
  const kit = await openKit();
  const { intent, taken } = await takenOffer(kit);
  expect((await kit.relayer.budget(program)).reserved_wei).toBe(offerReservation.toString());

  const abandoned = await kit.relayer.abandon(taken.operation_id);
  expect(abandoned).toMatchObject({
    operation_id: taken.operation_id,
    sequence: 1,
    attempt: 2,
    status: "failed",
    status_reason: "abandoned",
    nonce: null,
    hash: null,
    reserved_wei: "0",
    cost_wei: null,
  });
  expect(outcomes(abandoned)).toEqual([[1, 0, "original", taken.hashes[0]?.outcome]]);
  expect((await kit.relayer.budget(program)).reserved_wei).toBe("0");
  await kit.expectBooksToBalance(1);

  // It was given up: nothing begins again by itself.
  const relayer = await kit.restart();
  await relayer.recover();
  await relayer.follow();
  expect(await relayer.read(taken.operation_id)).toEqual(abandoned);
  expect(await kit.mined()).toHaveLength(1);

  const made = await relayer.submit(intent);
  expect(made).toMatchObject({ operation_id: taken.operation_id, attempt: 2, status: "confirmed", nonce: 1 });
  expect(made.hashes.map(({ attempt, nonce }) => [attempt, nonce])).toEqual([
    [1, 0],
    [2, 1],
  ]);
  expect(await kit.mined()).toEqual([expect.any(String), made.hash]);
  expect(await relayer.submit(intent)).toEqual(made);
  await kit.expectBooksToBalance(1);
});

test("operations after an abandoned one get the nonces above the taken one", async () => {
  const kit = await openKit();
  const { intent, taken } = await takenOffer(kit);
  await kit.relayer.abandon(taken.operation_id);
  expect(await kit.relayer.submit(await kit.offer("later"))).toMatchObject({
    status: "confirmed",
    nonce: 1,
  });
  expect(await kit.relayer.submit(intent)).toMatchObject({ status: "confirmed", nonce: 2 });
  await kit.expectBooksToBalance(1);
});

test("a nonce that is taken a second time is abandoned a second time", async () => {
  const kit = await openKit();
  const { intent, taken } = await takenOffer(kit);
  await kit.relayer.abandon(taken.operation_id);
  await kit.faults.set({ layer: "relayer", point: "broadcast", action: "foreign_nonce" });
  const again = await kit.relayer.submit(intent);
  expect(again).toMatchObject({
    status: "needs_attention",
    status_reason: "nonce_taken",
    nonce: 1,
    attempt: 2,
  });
  await kit.relayer.abandon(taken.operation_id);
  expect(await kit.relayer.submit(intent)).toMatchObject({ status: "confirmed", nonce: 2, attempt: 3 });
  await kit.expectBooksToBalance(2);
});

test.each(faultPoints)(
  "the attempt after an abandoned one that crashes at %s takes effect once",
  async (point) => {
    const kit = await openKit();
    const { intent, taken } = await takenOffer(kit);
    await kit.relayer.abandon(taken.operation_id);
    await kit.faults.set({ layer: "relayer", point, action: "crash" });
    await expect(kit.relayer.submit(intent)).rejects.toThrow(new Crash(point));
    const relayer = await kit.restart();
    await relayer.recover();
    const made = await relayer.submit(intent);
    expect(made).toMatchObject({ attempt: 2, status: "confirmed", nonce: 1 });
    expect(made.hashes).toHaveLength(2);
    expect(await kit.mined()).toHaveLength(2);
    await kit.expectBooksToBalance(1);
  },
);

describe("abandoning is refused", () => {
  test("for an operation that does not need attention, or is unknown", async () => {
    const kit = await openKit();
    const { operation_id } = await kit.relayer.submit(await kit.offer("confirmed"));
    await expect(kit.relayer.abandon(operation_id)).rejects.toMatchObject({
      code: "operation_not_resumable",
    });
    await expect(kit.relayer.abandon("op_none")).rejects.toMatchObject({ code: "operation_unknown" });
    const { taken } = await takenOfferAt(kit, 1);
    await kit.relayer.abandon(taken.operation_id);
    await expect(kit.relayer.abandon(taken.operation_id)).rejects.toMatchObject({
      code: "operation_not_resumable",
    });
    for (const key of [`${taken.operation_id}/1`])
      for (const act of [kit.relayer.abandon, kit.relayer.resume, kit.relayer.advance])
        await expect(act(key)).rejects.toMatchObject({ code: "operation_unknown" });
  });

  test("before a nonce is claimed", async () => {
    const kit = await openKit();
    await kit.relayer.submit(await kit.offer("first"));
    await kit.faults.set({ layer: "relayer", point: "nonce", action: "foreign_nonce" });
    const stopped = await kit.relayer.submit(await kit.offer("unclaimed"));
    expect(stopped).toMatchObject({ status_reason: "foreign_nonce", nonce: null });
    await expect(kit.relayer.abandon(stopped.operation_id)).rejects.toMatchObject({
      code: "operation_not_abandonable",
      message: `${stopped.operation_id} has no nonce. Resume it without abandoning it.`,
    });
    expect(await kit.relayer.read(stopped.operation_id)).toEqual(stopped);
  });

  test("while a reorg has freed the nonce, so that the original can be mined", async () => {
    const kit = await openKit();
    const { taken } = await takenOffer(kit);
    await kit.reorg(1);
    await expect(kit.relayer.abandon(taken.operation_id)).rejects.toMatchObject({
      code: "operation_not_abandonable",
      message: expect.stringContaining("has not used nonce 0"),
    });
    const resumed = await kit.relayer.resume(taken.operation_id);
    expect(resumed).toMatchObject({ attempt: 1, hash: taken.hash });
    await kit.expectExactlyOnce(resumed);
  });

  test("once the original was mined after all", async () => {
    const kit = await openKit();
    const { intent, taken } = await takenOffer(kit);
    await kit.reorg(1);
    await kit.client.sendRawTransaction({ serializedTransaction: await firstRaw(kit, taken) });
    await expect.poll(() => kit.mined()).toEqual([taken.hash]);
    await expect(kit.relayer.abandon(taken.operation_id)).rejects.toMatchObject({
      code: "operation_not_abandonable",
      message: expect.stringContaining(`${taken.hash} of ${taken.operation_id} is mined`),
    });
    const told = await kit.relayer.submit(intent);
    expect(told).toMatchObject({ attempt: 1, hash: taken.hash });
    await kit.expectExactlyOnce(told);
  });

  test("once it was mined under the hash of a raised fee", async () => {
    const kit = await openKit();
    await kit.faults.set({ layer: "relayer", point: "after_signed", action: "replace" });
    const { intent, taken } = await takenOffer(kit);
    expect(taken.hashes.map(({ purpose }) => purpose)).toEqual(["original", "bump"]);
    await kit.reorg(1);
    const record = await kit.journal.read(taken.operation_id);
    await kit.client.sendRawTransaction({ serializedTransaction: record?.transactions[1]?.raw ?? "0x" });
    await expect.poll(() => kit.mined()).toHaveLength(1);
    await expect(kit.relayer.abandon(taken.operation_id)).rejects.toMatchObject({
      code: "operation_not_abandonable",
      message: expect.stringContaining(`${taken.hashes[1]?.hash} of`),
    });
    await kit.expectExactlyOnce(await kit.relayer.submit(intent));
  });

  test("before the transaction that took the nonce has the required confirmations", async () => {
    const kit = await openKit({ confirmations: 3 });
    const { taken } = await takenOffer(kit);
    for (let blocks = 1; blocks < 3; blocks += 1) {
      await expect(kit.relayer.abandon(taken.operation_id)).rejects.toMatchObject({
        code: "operation_not_abandonable",
        message: expect.stringContaining("has fewer than 3 confirmations"),
      });
      await kit.client.mine({ blocks: 1 });
    }
    expect(await kit.relayer.abandon(taken.operation_id)).toMatchObject({ status_reason: "abandoned" });
  });

  test("while the node does not answer, or serves another chain", async () => {
    const kit = await openKit();
    const { taken } = await takenOffer(kit);
    await kit.faults.set({ layer: "relayer", point: "receipt", action: "rpc_error" });
    await expect(kit.relayer.abandon(taken.operation_id)).rejects.toMatchObject({ code: "rpc_refused" });
    const { chainId } = kit.chain.deployment;
    const elsewhere = await kit.restart({
      chain: { identity: async () => ({ chainId, epoch: `0x${"ab".repeat(32)}` }) },
    });
    await expect(elsewhere.abandon(taken.operation_id)).rejects.toMatchObject({ code: "chain_mismatch" });
    expect(await elsewhere.read(taken.operation_id)).toEqual(taken);
  });
});

async function takenOfferAt(kit: RelayerKit, nonce: number): Promise<{ taken: RelayOperation }> {
  await kit.faults.set({ layer: "relayer", point: "broadcast", action: "foreign_nonce" });
  const taken = await kit.relayer.submit(await kit.offer(`taken-at-${nonce}`));
  expect(taken).toMatchObject({ status_reason: "nonce_taken", nonce });
  return { taken };
}

describe("a reorg that frees the nonce of an abandoned attempt", () => {
  test("has it filled with a cancellation, never with the call, and the operation stays abandoned meanwhile", async () => {
    const kit = await openKit({ receiptTimeoutMs: 50 });
    const { intent, taken } = await takenOffer(kit);
    const abandoned = await kit.relayer.abandon(taken.operation_id);
    await kit.client.setAutomine(false);
    await kit.reorg(1);
    await kit.relayer.follow();
    const { status, status_reason, attempt, hash, nonce } = abandoned;
    const waiting = await kit.relayer.submit(intent);
    // 500,000 gas at 22.5 gwei: the call or the cancellation can be mined.
    const reserved_wei = "11250000000000000";
    expect(waiting).toMatchObject({ status, status_reason, attempt, hash, nonce, reserved_wei });
    expect(outcomes(waiting)).toEqual([
      [1, 0, "original", "signed"],
      [1, 0, "cancel", "broadcast"],
    ]);
    expect(await kit.relayer.waitsForEarlier(taken.operation_id)).toBe(true);
    await kit.client.setAutomine(true);
    await expect.poll(() => kit.mined()).toHaveLength(1);
    await kit.relayer.follow();
    const cancelled = await kit.relayer.read(taken.operation_id);
    expect(cancelled).toMatchObject({
      attempt: 2,
      status: "failed",
      status_reason: "abandoned",
      reserved_wei: "0",
    });
    expect(cancelled?.hashes.map(({ purpose, outcome }) => [purpose, outcome])).toEqual([
      ["original", "replaced"],
      ["cancel", "succeeded"],
    ]);
    expect(BigInt(cancelled?.cost_wei ?? 0)).toBeGreaterThan(0n);
    await kit.expectBooksToBalance();

    const made = await kit.relayer.submit(intent);
    expect(made).toMatchObject({ attempt: 2, status: "confirmed", nonce: 1 });
    await kit.expectBooksToBalance();
  });

  test.each(["follow", "advance", "recover"] as const)(
    "and takes the next attempt too is repaired by %s with the next attempt's own hash",
    async (repair) => {
      const kit = await openKit();
      const { intent, taken } = await takenOffer(kit);
      await kit.relayer.abandon(taken.operation_id);
      const made = await kit.relayer.submit(intent);
      await kit.reorg(2);
      expect(await kit.mined()).toEqual([]);
      if (repair === "follow") await kit.relayer.follow();
      else if (repair === "advance") await kit.relayer.advance(taken.operation_id);
      else await (await kit.restart()).recover();
      await expect.poll(() => kit.mined()).toHaveLength(2);
      await kit.relayer.follow();
      const repaired = await kit.relayer.submit(intent);
      expect(repaired).toMatchObject({ attempt: 2, status: "confirmed", hash: made.hash });
      expect(outcomes(repaired)).toEqual([
        [1, 0, "original", "replaced"],
        [1, 0, "cancel", "succeeded"],
        [2, 1, "original", "succeeded"],
      ]);
      await kit.expectBooksToBalance();
    },
  );

  test("and has the original mined ends with that one: no further attempt is made", async () => {
    const kit = await openKit();
    const { intent, taken } = await takenOffer(kit);
    const raw = await firstRaw(kit, taken);
    await kit.relayer.abandon(taken.operation_id);
    await kit.reorg(1);
    await kit.client.sendRawTransaction({ serializedTransaction: raw });
    await expect.poll(() => kit.mined()).toEqual([taken.hash]);
    const told = await kit.relayer.submit(intent);
    expect(told).toMatchObject({ attempt: 1, status: "confirmed", hash: taken.hash });
    expect(await kit.relayer.submit(intent)).toEqual(told);
    await kit.expectExactlyOnce(told);
  });

  test.each(["receipt", "after_signed", "broadcast", "sent", "after_broadcast"] as const)(
    "is repaired after a restart when the process crashes at %s of the cancellation",
    async (point) => {
      const kit = await openKit();
      const { intent, taken } = await takenOffer(kit);
      await kit.relayer.abandon(taken.operation_id);
      await kit.reorg(1);
      await kit.faults.set({ layer: "relayer", point, action: "crash" });
      await expect(kit.relayer.follow()).rejects.toThrow(new Crash(point));
      const relayer = await kit.restart();
      await relayer.recover();
      const made = await relayer.submit(intent);
      expect(made).toMatchObject({ attempt: 2, status: "confirmed", nonce: 1 });
      expect(made.hashes.map(({ purpose }) => purpose)).toEqual(["original", "cancel", "original"]);
      expect(await kit.mined()).toHaveLength(2);
      await kit.expectBooksToBalance();
    },
  );
});
