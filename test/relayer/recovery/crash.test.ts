import type { EIP1193RequestFn } from "viem";
import { describe, expect, test } from "vitest";
import { awaitAutomine } from "../../../relayer/node/automine.ts";
import { toNode } from "../../../relayer/node/node.ts";
import { faultPoints, operationId, type RelayerJournal } from "../../../relayer/relayer.ts";
import { Crash, openRelayerKits, program } from "../../kit/relayer-kit.ts";

const openKit = openRelayerKits();

// A dead process is a relayer that goes no further; the next one knows only what was on disk.
describe.each(faultPoints)("a crash at %s", (point) => {
  test("and the repeated request make one transaction", async () => {
    const kit = await openKit();
    const intent = await kit.offer("crashed");
    await kit.faults.set({ layer: "relayer", point, action: "crash" });
    await expect(kit.relayer.submit(intent)).rejects.toThrow(new Crash(point));

    const relayer = await kit.restart();
    await relayer.recover();
    const operation = await relayer.submit(intent);
    expect(operation).toMatchObject({ sequence: 1, nonce: 0, hashes: [{ purpose: "original" }] });
    await kit.expectExactlyOnce(operation);
    expect(await relayer.list(program, { limit: 10 })).toEqual([operation]);
  });

  test("among others leaves no gap and no second transaction", { tags: "thorough" }, async () => {
    const kit = await openKit({ receiptTimeoutMs: 50 });
    const intents = await Promise.all(["a", "b", "c", "d"].map((name) => kit.offer(name)));
    await kit.faults.set({ layer: "relayer", point, action: "crash", match: { subject_id: "pur_b" } });
    const answers = await Promise.allSettled(intents.map((intent) => kit.relayer.submit(intent)));
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);

    const relayer = await kit.restart({ receiptTimeoutMs: 2_000 });
    await relayer.recover();
    const operations = await Promise.all(intents.map((intent) => relayer.submit(intent)));
    expect(operations.map(({ status }) => status)).toEqual(operations.map(() => "confirmed"));
    const byNonce = operations.toSorted((left, right) => (left.nonce ?? 0) - (right.nonce ?? 0));
    expect(byNonce.map(({ nonce }) => nonce)).toEqual([0, 1, 2, 3]);
    expect(await kit.mined()).toEqual(byNonce.map(({ hash }) => hash));
    await kit.expectBooksToBalance();
  });
});

test.each(faultPoints.filter((point) => point !== "before_intent"))(
  "a crash at %s is made good by recovery alone",
  async (point) => {
    const kit = await openKit();
    const intent = await kit.offer("crashed");
    await kit.faults.set({ layer: "relayer", point, action: "crash" });
    await expect(kit.relayer.submit(intent)).rejects.toThrow(Crash);

    const relayer = await kit.restart();
    await relayer.recover();
    const operation = await relayer.read(operationId(kit.chain.deployment.epoch, intent));
    if (!operation) throw new Error("The journal has lost the operation.");
    await kit.expectExactlyOnce(operation);
  },
);

test("recovery can crash at any point and continues at the next start", async () => {
  const kit = await openKit();
  const intent = await kit.offer("twice");
  await kit.faults.set({ layer: "relayer", point: "after_signed", action: "crash" });
  await expect(kit.relayer.submit(intent)).rejects.toThrow(Crash);

  for (const point of ["broadcast", "sent", "before_mined", "after_mined"] as const) {
    const relayer = await kit.restart();
    await kit.faults.set({ layer: "relayer", point, action: "crash" });
    await expect(relayer.recover()).rejects.toThrow(new Crash(point));
  }
  const relayer = await kit.restart();
  await relayer.recover();
  await kit.expectExactlyOnce(await relayer.submit(intent));
});

test("recovery sends the stored bytes and signs nothing", async () => {
  const kit = await openKit();
  const intent = await kit.offer("stored");
  await kit.faults.set({ layer: "relayer", point: "after_signed", action: "crash" });
  await expect(kit.relayer.submit(intent)).rejects.toThrow(Crash);
  const stored = await kit.journal.read(operationId(kit.chain.deployment.epoch, intent));

  const neverSigns = {
    ...kit.operator,
    signTransaction: () => Promise.reject(new Error("A claimed nonce is never signed for again.")),
  };
  const relayer = await kit.restart({
    signers: [neverSigns],
    fees: async () => ({ maxFeePerGas: 30n * 10n ** 9n, maxPriorityFeePerGas: 2n * 10n ** 9n }),
  });
  await relayer.recover();
  const operation = await relayer.submit(intent);
  expect(operation.hash).toBe(stored?.hash);
  await kit.expectExactlyOnce(operation);
});

test("recovery resumes operations without a nonce last, so that they are simulated after the effects of the others", async () => {
  const kit = await openKit();
  await kit.relayer.submit(await kit.offer("first"));
  await kit.setBounds({ maxPurchase: 100_000_000n, openBudget: 175_000_000n });
  await kit.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
  const signed = await kit.relayer.submit(await kit.offer("signed", 100_000_000n));
  await kit.faults.set({ layer: "relayer", point: "after_intent", action: "hold" });
  const accepted = await kit.relayer.submit(await kit.offer("accepted", 100_000_000n));
  expect([signed, accepted].map(({ status, nonce }) => [status, nonce])).toEqual([
    ["signed", 1],
    ["accepted", null],
  ]);

  // A node that answers once it has mined.
  const forward: EIP1193RequestFn = kit.client.request;
  const request: EIP1193RequestFn = async (args) => {
    try {
      return await forward(args);
    } finally {
      if (args.method === "eth_sendRawTransaction") await awaitAutomine(toNode(forward));
    }
  };
  const relayer = await kit.restart({ request });
  await relayer.recover();
  expect(await relayer.read(signed.operation_id)).toMatchObject({ status: "confirmed", nonce: 1 });
  expect(await relayer.read(accepted.operation_id)).toMatchObject({
    status: "failed",
    status_reason: "simulation_reverted",
    nonce: null,
    error: { revert: { name: "BudgetExceeded", args: { requested: "100000000", available: "50000000" } } },
  });
  await kit.expectBooksToBalance();
});

test("if the disk refuses an assigned nonce, nothing is sent and the next operation gets the nonce", async () => {
  let refuses = true;
  const wrapJournal = (journal: RelayerJournal): RelayerJournal => ({
    ...journal,
    ahead: () => ({
      ...journal.ahead(),
      write: async (step) => {
        if (refuses && step.operation.status === "signed") throw new Error("The disk is full.");
        await journal.write(step);
      },
    }),
  });
  const kit = await openKit({ wrapJournal });
  const intent = await kit.offer("refused");
  await expect(kit.relayer.submit(intent)).rejects.toThrow("The disk is full.");
  expect(await kit.mined()).toEqual([]);
  refuses = false;
  const operation = await kit.relayer.submit(intent);
  expect(operation.nonce).toBe(0);
  await kit.expectExactlyOnce(operation);
});
