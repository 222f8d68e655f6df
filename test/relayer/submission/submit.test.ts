import { setImmediate } from "node:timers/promises";
import { type EIP1193RequestFn, parseTransaction } from "viem";
import { expect, test } from "vitest";
import { z } from "zod";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { GasBudgetExceededError, type RelayerJournal, SignerUnknownError } from "../../../relayer/relayer.ts";
import { offerReservation, openRelayerKits, program } from "../../kit/relayer-kit.ts";

const openKit = openRelayerKits();

test("an intent becomes one confirmed transaction, with all of its fields", async () => {
  const kit = await openKit();
  const intent = await kit.offer("one");
  const operation = await kit.relayer.submit(intent);

  await kit.expectExactlyOnce(operation);
  const receipt = await kit.client.getTransactionReceipt({ hash: operation.hash ?? "0x" });
  expect(operation).toMatchObject({
    operation_id: expect.stringMatching(/^op_[a-z2-7]{20}$/),
    program,
    kind: "offer",
    subject: { type: "purchase", id: "pur_one" },
    sequence: 1,
    status_reason: null,
    nonce: 0,
    from: kit.operator.address,
    to: kit.chain.deployment.registrar.address,
    calldata: intent.call.data,
    decoded: { function: "offer", args: intent.call.args },
    hashes: [{ hash: operation.hash, purpose: "original", outcome: "succeeded" }],
    gas_used: receipt.gasUsed.toString(),
    cost_wei: (receipt.gasUsed * receipt.effectiveGasPrice).toString(),
    reserved_wei: "0",
    block_number: Number(receipt.blockNumber),
    block_hash: receipt.blockHash,
    confirmations: 1,
    reorg_count: 0,
    error: null,
  });
  for (const time of ["created_at", "signed_at", "broadcast_at", "mined_at", "confirmed_at"] as const)
    expect(operation[time]).toMatch(/^2026-01-01T00:\d\d:\d\dZ$/);
  expect(Object.keys(operation)).not.toContain("transactions");
  expect(await kit.relayer.read(operation.operation_id)).toEqual(operation);
});

test("a refund is collected by the same relayer", async () => {
  const kit = await openKit();
  const offer = await kit.offer("returned");
  await kit.relayer.submit(offer);
  const { beneficiary } = kit.chain.accounts.wallets;
  const before = await kit.tokens(beneficiary);
  const refund = await kit.refund("returned", offer.businessKey, 7_000_000n);
  expect(await kit.relayer.submit(refund)).toMatchObject({
    status: "confirmed",
    sequence: 2,
    kind: "collect_refund",
    decoded: { function: "collectRefund", args: { award: "7000000" } },
  });
  expect(await kit.tokens(beneficiary)).toBe(before + 7_000_000n);
  await kit.expectBooksToBalance();
});

test("one intent submitted many times, at once and later, stays one operation with one transaction", async () => {
  const kit = await openKit();
  const intent = await kit.offer("again");
  const answers = await Promise.all(Array.from({ length: 5 }, () => kit.relayer.submit(intent)));
  const later = await kit.relayer.submit(intent);
  for (const answer of answers) expect(answer).toEqual(later);
  await kit.expectExactlyOnce(later);
});

// A journal that answers at once would hide what is not done one after the other.
const journals: [string, (journal: RelayerJournal) => RelayerJournal][] = [
  ["the embedded journal", (journal) => journal],
  [
    "a journal that is far away",
    (journal) => ({
      ...journal,
      read: async (id) => setImmediate(await journal.read(id)),
      ahead: () => {
        const ahead = journal.ahead();
        return {
          ...ahead,
          budget: async (program) => setImmediate(await ahead.budget(program)),
          lastNonce: async (signer, epoch) => setImmediate(await ahead.lastNonce(signer, epoch)),
        };
      },
    }),
  ],
];

test.each(journals)("32 intents at once use 32 nonces without a gap, with %s", async (_, wrapJournal) => {
  const kit = await openKit({ wrapJournal });
  const intents = await Promise.all(Array.from({ length: 32 }, (_, index) => kit.offer(`many-${index}`)));
  const operations = await Promise.all(intents.map((intent) => kit.relayer.submit(intent)));

  const numbers = Array.from({ length: 32 }, (_, index) => index);
  expect(operations.map(({ status }) => status)).toEqual(numbers.map(() => "confirmed"));
  expect(operations.map(({ nonce }) => nonce).sort((a, b) => (a ?? -1) - (b ?? -1))).toEqual(numbers);
  expect(operations.map(({ sequence }) => sequence).sort((a, b) => a - b)).toEqual(numbers.map((n) => n + 1));
  const byNonce = operations.toSorted((left, right) => (left.nonce ?? 0) - (right.nonce ?? 0));
  expect(await kit.mined()).toEqual(byNonce.map(({ hash }) => hash));
  await kit.expectBooksToBalance();
});

test("transactions are sent in the order of their nonces, however long each takes to be ready", async () => {
  const sent: (number | undefined)[] = [];
  const kit = await openKit();
  const { chainId, epoch } = kit.chain.deployment;
  const forward: EIP1193RequestFn = kit.client.request;
  const request: EIP1193RequestFn = async (args) => {
    if (args.method === "eth_sendRawTransaction") sent.push(nonceOf(args.params));
    return forward(args);
  };
  let asked = 0;
  const identity = async () => {
    asked += 1;
    for (let turn = (asked * 7) % 20; turn > 0; turn -= 1) await setImmediate();
    return { chainId, epoch };
  };
  const relayer = await kit.restart({ request, chain: { identity } });
  const intents = await Promise.all(Array.from({ length: 16 }, (_, index) => kit.offer(`order-${index}`)));
  await Promise.all(intents.map((intent) => relayer.submit(intent)));
  // Transactions that Anvil has stranded are sent again.
  expect([...new Set(sent)]).toEqual(Array.from({ length: 16 }, (_, index) => index));
});

function nonceOf(params: unknown): number | undefined {
  const [raw] = z.tuple([z.templateLiteral(["0x", z.string()])]).parse(params);
  return parseTransaction(raw).nonce ?? 0;
}

test("many intents at once are mined together when blocks are not made per transaction", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  await kit.client.setAutomine(false);
  const intents = await Promise.all(Array.from({ length: 8 }, (_, index) => kit.offer(`block-${index}`)));
  const sent = await Promise.all(intents.map((intent) => kit.relayer.submit(intent)));
  expect(sent.map(({ status }) => status)).toEqual(sent.map(() => "broadcast"));
  expect(await kit.client.getTxpoolStatus()).toEqual({ pending: 8, queued: 0 });
  await kit.client.mine({ blocks: 1 });
  const mined = await Promise.all(sent.map(({ operation_id }) => kit.relayer.advance(operation_id)));
  expect(new Set(mined.map(({ status, block_number }) => `${status} ${block_number}`)).size).toBe(1);
  expect(mined[0]?.status).toBe("confirmed");
  await kit.expectBooksToBalance();
});

test.each([0, 100, 1_000])(
  "a transaction that is not mined is waited for during the %i ms of the receipt timeout",
  async (receiptTimeoutMs) => {
    let waited = 0;
    const wait = async (milliseconds: number) => {
      waited += milliseconds;
    };
    const kit = await openKit({ receiptTimeoutMs, wait });
    await kit.client.setAutomine(false);
    expect(await kit.relayer.submit(await kit.offer("waited-for"))).toMatchObject({ status: "broadcast" });
    expect(waited).toBeGreaterThanOrEqual(receiptTimeoutMs);
    // The last pause before and after the relayer frees a stranded transaction can be longer than what is left.
    expect(waited).toBeLessThan(receiptTimeoutMs + 50);
  },
);

test("a call that the contract refuses fails without a nonce, and can be repeated once the contract allows it", async () => {
  const kit = await openKit();
  const intent = await kit.offer("too-large", 200_000_000_000n);
  const refused = await kit.relayer.submit(intent);
  expect(refused).toMatchObject({
    status: "failed",
    status_reason: "simulation_reverted",
    nonce: null,
    hash: null,
    hashes: [],
    reserved_wei: "0",
    error: {
      code: "simulation_reverted",
      rpc_code: 3,
      revert: {
        name: "AmountOutOfRange",
        args: { value: "amount", actual: "200000000000", min: "1", max: "100000000000" },
      },
    },
  });
  expect(await kit.mined()).toEqual([]);
  await kit.expectBooksToBalance();

  await kit.setBounds({ maxPurchase: 300_000_000_000n, openBudget: 300_000_000_000n });
  const accepted = await kit.relayer.submit(intent);
  expect(accepted).toMatchObject({
    operation_id: refused.operation_id,
    sequence: 1,
    created_at: refused.created_at,
    error: null,
    nonce: 0,
  });
  expect(accepted.signed_at).not.toBe(refused.created_at);
  await kit.expectExactlyOnce(accepted);
  expect(await kit.relayer.submit(await kit.offer("next"))).toMatchObject({ sequence: 2, nonce: 1 });
});

test.each([
  ["with an error that no contract here has", "0x63deadbeef5f526004601cfd", "0xdeadbeef"],
  ["without any data", "0x5f5ffd", null],
] as const)(
  "a call that reverts %s fails and is named by its selector, if it has one",
  async (_, code, name) => {
    const kit = await openKit();
    const intent = await kit.offer("elsewhere");
    const { address } = kit.chain.accounts.wallets.stranger;
    await kit.client.setCode({ address, bytecode: code });
    const refused = await kit.relayer.submit({ ...intent, call: { ...intent.call, to: address } });
    await kit.client.setCode({ address, bytecode: "0x" });
    expect(refused).toMatchObject({ status: "failed", status_reason: "simulation_reverted", nonce: null });
    expect(refused.error).toMatchObject({
      code: "simulation_reverted",
      rpc_code: 3,
      revert: name === null ? null : { name, args: {}, data: name },
    });
  },
);

test("a transaction that reverts on chain is paid, explained, and never sent again", async () => {
  const kit = await openKit({ receiptTimeoutMs: 0 });
  await kit.setBounds({ maxPurchase: 100_000_000n, openBudget: 150_000_000n });
  await kit.client.setAutomine(false);
  const first = await kit.relayer.submit(await kit.offer("first", 100_000_000n));
  const second = await kit.offer("second", 100_000_000n);
  const sent = await kit.relayer.submit(second);
  expect(sent.status).toBe("broadcast");
  await kit.client.mine({ blocks: 1 });
  await kit.client.setAutomine(true);

  expect(await kit.relayer.advance(first.operation_id)).toMatchObject({ status: "confirmed" });
  const reverted = await kit.relayer.advance(sent.operation_id);
  expect(reverted).toMatchObject({
    status: "reverted",
    status_reason: "transaction_reverted",
    hashes: [{ outcome: "reverted" }],
    reserved_wei: "0",
    error: {
      code: "transaction_reverted",
      revert: { name: "BudgetExceeded", args: { requested: "100000000", available: "50000000" } },
    },
  });
  expect(BigInt(reverted.cost_wei ?? 0)).toBeGreaterThan(0n);
  expect(await kit.relayer.submit(second)).toEqual(reverted);
  expect(await kit.mined()).toHaveLength(2);
  await kit.expectBooksToBalance();
});

test("an operation that the gas budget does not cover is refused before any effect, and operations in progress count", async () => {
  const kit = await openKit({ gasBudgetWei: offerReservation + offerReservation / 2n });
  await kit.faults.set({ layer: "relayer", point: "after_intent", action: "hold" });
  const held = await kit.relayer.submit(await kit.offer("held"));
  expect(held).toMatchObject({ status: "accepted", reserved_wei: offerReservation.toString() });

  const refused = kit.relayer.submit(await kit.offer("refused"));
  await expect(refused).rejects.toThrow(GasBudgetExceededError);
  await expect(refused).rejects.toMatchObject({
    code: "gas_budget_exceeded",
    program,
    requiredWei: offerReservation,
    availableWei: offerReservation / 2n,
  });
  expect(await kit.relayer.list(program, { limit: 10 })).toEqual([held]);
  await kit.expectBooksToBalance();

  expect(await kit.relayer.advance(held.operation_id)).toMatchObject({ status: "confirmed" });
  expect(await kit.relayer.submit(await kit.offer("refused"))).toMatchObject({
    status: "confirmed",
    sequence: 2,
  });
  await kit.expectBooksToBalance();
});

test("two operations that are submitted at once cannot both use the last of the budget", async () => {
  const kit = await openKit({ gasBudgetWei: offerReservation });
  const intents = await Promise.all([kit.offer("left"), kit.offer("right")]);
  const answers = await Promise.allSettled(intents.map((intent) => kit.relayer.submit(intent)));
  expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await kit.mined()).toHaveLength(1);
  await kit.expectBooksToBalance();
});

test("an intent of an unknown signer is refused before any effect", async () => {
  const kit = await openKit();
  const { stranger } = kit.chain.accounts.wallets;
  const intent = { ...(await kit.offer("stranger")), signer: stranger.address };
  await expect(kit.relayer.submit(intent)).rejects.toThrow(SignerUnknownError);
  expect(await kit.relayer.list(program, { limit: 10 })).toEqual([]);
});

test("confirmations are counted up to the number that is required", async () => {
  const kit = await openKit({ confirmations: 3 });
  const intent = await kit.offer("confirmed");
  const seen = [await kit.relayer.submit(intent)];
  for (let block = 0; block < 3; block += 1) {
    await kit.client.mine({ blocks: 1 });
    seen.push(await kit.relayer.advance(seen[0]?.operation_id ?? ""));
  }
  expect(seen.map(({ status, confirmations }) => [status, confirmations])).toEqual([
    ["mined", 1],
    ["mined", 2],
    ["confirmed", 3],
    ["confirmed", 3],
  ]);
  expect(seen[1]?.confirmed_at).toBeNull();
  expect(seen[3]).toEqual(seen[2]);
  expect(await kit.relayer.submit(intent)).toEqual(seen[3]);
  await kit.expectExactlyOnce(seen[3] ?? (await kit.relayer.submit(intent)));
});

test("each step of an operation has the time at which it was made", async () => {
  const kit = await openKit({ confirmations: 2, receiptTimeoutMs: 0 });
  const intent = await kit.offer("timed");
  const hold = async (point: "after_intent" | "after_signed") => {
    await kit.faults.set({ layer: "relayer", point, action: "hold" });
    const time = toTimestamp(await kit.chain.clock.now());
    await kit.relayer.submit(intent);
    await kit.chain.clock.travel(10);
    return time;
  };
  const [created_at, signed_at] = [await hold("after_intent"), await hold("after_signed")];
  await kit.client.setAutomine(false);
  const broadcast_at = toTimestamp(await kit.chain.clock.now());
  const { operation_id } = await kit.relayer.submit(intent);
  const mined_at = toTimestamp(await kit.chain.clock.travel(10));
  const confirmed_at = toTimestamp(await kit.chain.clock.travel(10));
  expect(await kit.relayer.advance(operation_id)).toMatchObject({
    status: "confirmed",
    created_at,
    signed_at,
    broadcast_at,
    mined_at,
    confirmed_at,
  });
  expect(new Set([created_at, signed_at, broadcast_at, mined_at, confirmed_at]).size).toBe(5);
});

test("a confirmation has the time of the block that completed it, however late it is noticed", async () => {
  const kit = await openKit({ confirmations: 3 });
  const mined = await kit.relayer.submit(await kit.offer("late"));
  await kit.client.mine({ blocks: 5 });
  const confirmed = await kit.relayer.advance(mined.operation_id);
  const third = await kit.client.getBlock({ blockNumber: BigInt(mined.block_number ?? 0) + 2n });
  expect(confirmed).toMatchObject({
    status: "confirmed",
    confirmations: 3,
    mined_at: mined.mined_at,
    confirmed_at: toTimestamp(Number(third.timestamp)),
  });
});

test("equal sandboxes with equal steps have equal operations, byte for byte", {
  tags: "thorough",
}, async () => {
  const run = async () => {
    const kit = await openKit({ seed: "alike" });
    for (const name of ["a", "b"]) await kit.relayer.submit(await kit.offer(name));
    return kit.relayer.list(program, { limit: 10 });
  };
  expect(await run()).toEqual(await run());
});

test("operations are listed by sequence, page by page and by status", async () => {
  const kit = await openKit();
  for (const name of ["a", "b", "c"]) await kit.relayer.submit(await kit.offer(name));
  await kit.relayer.submit(await kit.offer("d", 0n));
  const all = await kit.relayer.list(program, { limit: 10 });
  expect(all.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  const after = all[0]?.operation_id ?? "";
  expect(await kit.relayer.list(program, { limit: 2, after })).toEqual(all.slice(1, 3));
  expect(await kit.relayer.list(program, { limit: 10, status: "failed" })).toEqual(all.slice(3));
  expect(await kit.relayer.list("prg_other", { limit: 10 })).toEqual([]);
});
