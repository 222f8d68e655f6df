import { afterAll, beforeAll, expect, test } from "vitest";
import { ContractFixture } from "../../check-contract/fixture/contract-fixture.ts";
import { type CheckName, checkBinding } from "../../protocol/binding/check-binding.ts";
import type { ExpectedTransaction } from "../../protocol/binding/expected-transaction.ts";
import type { ObservedTransaction } from "../../protocol/binding/observed-transaction.ts";
import { recomputeEnvelope } from "../../protocol/binding/recompute-envelope.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { canonicalJson } from "../../protocol/values/canonical-json.ts";
import { toJson } from "../../protocol/values/json.ts";
import {
  type Expectation,
  expectClaim,
  expectEnrollment,
  expectPaymentApproval,
  expectPayments,
  expectRegistration,
} from "../../server/binding/expectations.ts";
import { openChainReader } from "../../server/chain/open-chain-reader.ts";
import type { PurchaseRecord } from "../../server/store/records.ts";
import { Dice, mutate, otherBytes, placesOf } from "./mutate.ts";

/** A transaction that is accepted, as it was observed, and what was expected of it. */
interface Accepted {
  step: string;
  observed: ObservedTransaction;
  expected: ExpectedTransaction;
}

let fixture: ContractFixture;
let accepted: Accepted[];

beforeAll(async () => {
  fixture = await ContractFixture.open();
  accepted = await acceptEveryStep();
});
afterAll(async () => await fixture.close());

async function recordOf(id: string): Promise<PurchaseRecord> {
  const stored = await fixture.sandbox.store.get("purchases", id);
  if (stored === undefined) throw new Error(`There is no purchase ${id}.`);
  return stored.value;
}

/** Reads the purchases of the fixture, and its merchant, who is enrolled. */
async function readRecords() {
  const [first, second, draft] = await Promise.all(
    [fixture.purchase, fixture.second, fixture.draft].map(async ({ id }) => await recordOf(id)),
  );
  if (!first || !second || !draft) throw new Error("The fixture has three purchases.");
  const merchant = (await fixture.sandbox.store.get("merchants", fixture.merchant.id))?.value;
  const enrolled = merchant?.enrollment;
  if (!merchant || !enrolled) throw new Error("The fixture has an enrolled merchant.");
  return { first, second, draft, merchant, enrolled };
}

/** One accepted transaction of every kind, on a real chain. */
async function acceptEveryStep(): Promise<Accepted[]> {
  const { chain } = fixture.sandbox;
  const reader = openChainReader(chain.client.request, chain.deployment);
  const services = { deployment: chain.deployment, settings: { confirmations: 1, blockLagSeconds: 0 } };
  const observe = async (step: string, hash: `0x${string}`, expectation: Expectation): Promise<Accepted> => {
    const observed = await reader.observe(hash);
    return { step, observed, expected: { ...expectation, walletCode: "none", usedBy: null } };
  };
  const { first, second, draft, merchant, enrolled } = await readRecords();
  const payment = (purchase: PurchaseRecord, amount: bigint) => ({
    id: purchase.commitment_hash,
    amount,
    purchase,
  });
  const pay = fixture.pay(fixture.purchase);
  const batch = fixture.payBatch([
    [fixture.purchase, 5n * usdc],
    [fixture.second, 7n * usdc],
  ]);
  const permitted = fixture.payWithPermit(fixture.purchase, 3n * usdc);
  const approve = fixture.approve(30n * usdc);
  const registration = await fixture.registration(fixture.draft);
  const claim = fixture.claim(fixture.purchase);
  const paid = await fixture.succeed("buyer", pay);
  return [
    await observe(
      "enroll",
      enrolled.transaction_hash,
      expectEnrollment(merchant, merchant.funding.hash, services),
    ),
    await observe("pay", paid, expectPayments(pay, [payment(first, 10n * usdc)], first, services, false)),
    await observe(
      "payBatch",
      await fixture.succeed("buyer", batch),
      expectPayments(batch, [payment(first, 5n * usdc), payment(second, 7n * usdc)], first, services, false),
    ),
    await observe(
      "payWithPermit",
      await fixture.succeed("buyer", permitted),
      expectPayments(permitted, [payment(first, 3n * usdc)], first, services, true),
    ),
    await observe(
      "approve",
      await fixture.succeed("buyer", approve),
      expectPaymentApproval(first, 30n * usdc, services),
    ),
    await observe(
      "register",
      await fixture.succeed("merchant", registration),
      expectRegistration(draft, true, services),
    ),
    await observe(
      "claim",
      await fixture.succeed("beneficiary", claim.call),
      expectClaim(first, claim.hash, true, services),
    ),
  ];
}

/** Fields that the check compares with a range or not at all: the head, the block's time, viem's name of the type. */
const ranged = ["head", "type", "timestamp"];

function mutantsOf({ observed }: Accepted, count: number, dice: Dice): ObservedTransaction[] {
  const places = placesOf(observed).filter((path) => !ranged.some((name) => path.includes(name)));
  return Array.from({ length: count }, () => mutate(observed, dice.pick(places), dice));
}

function acceptedMutants(one: Accepted, mutants: readonly ObservedTransaction[]): unknown[] {
  const original = canonicalJson(toJson(one.observed));
  return mutants.filter(
    (mutant) => checkBinding(mutant, one.expected).accepted && canonicalJson(toJson(mutant)) !== original,
  );
}

test("the unchanged transactions are accepted", () => {
  expect(
    accepted.map(({ step, observed, expected }) => [
      step,
      checkBinding(observed, expected).checks.filter(({ ok }) => !ok),
    ]),
  ).toEqual(
    ["enroll", "pay", "payBatch", "payWithPermit", "approve", "register", "claim"].map((step) => [step, []]),
  );
});

type Fact = [
  check: CheckName,
  wrong: (one: { observed: ObservedTransaction; expected: ExpectedTransaction }) => Partial<Accepted>,
];

const later = 10_000_000_000;
const stranger = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";
const otherHash = `0x${"ee".repeat(32)}` as const;

test.each<Fact>([
  [
    "chain",
    ({ expected }) => ({ expected: { ...expected, chain: { ...expected.chain, epoch: otherHash } } }),
  ],
  ["chain", ({ expected }) => ({ expected: { ...expected, chain: { ...expected.chain, chainId: 1 } } })],
  ["confirmations", ({ expected }) => ({ expected: { ...expected, confirmations: 1_000 } })],
  ["canonical", ({ observed }) => ({ observed: { ...observed, hash: otherHash } })],
  ["wallet", ({ expected }) => ({ expected: { ...expected, wallet: stranger } })],
  ["wallet", ({ expected }) => ({ expected: { ...expected, walletCode: "contract" } })],
  ["contract", ({ expected }) => ({ expected: { ...expected, codeHash: otherHash } })],
  ["contract", ({ observed }) => ({ observed: { ...observed, codeHash: null } })],
  ["purchase", ({ expected }) => ({ expected: { ...expected, purchase: { expected: "a", actual: "b" } } })],
  ["purchase", ({ expected }) => ({ expected: { ...expected, purchase: { expected: "a", actual: null } } })],
  ["log", ({ expected }) => ({ expected: { ...expected, logs: [] } })],
  ["log", ({ expected }) => ({ expected: { ...expected, logs: [...expected.logs, ...expected.logs] } })],
  ["unused", ({ expected }) => ({ expected: { ...expected, usedBy: "claim of pur_1" } })],
  ["timely", ({ expected }) => ({ expected: { ...expected, timely: { from: later, to: null } } })],
  ["timely", ({ expected }) => ({ expected: { ...expected, timely: { from: null, to: 1 } } })],
])("%s alone fails when only its fact is wrong", (name, wrong) => {
  for (const one of accepted) {
    const { observed, expected } = { ...one, ...wrong(one) };
    const failed = checkBinding(observed, expected).checks.filter(({ ok }) => !ok);
    expect(
      failed.map((check) => check.name),
      one.step,
    ).toEqual([name]);
  }
});

test("a log that a reorg removed is refused, even if receipt and block agree on it", () => {
  for (const { step, observed, expected } of accepted) {
    const { receipt, block } = observed;
    if (receipt === null || block === null) throw new Error("An accepted transaction has a receipt.");
    const [first, ...more] = receipt.logs;
    if (first === undefined) throw new Error("Every step emits a log.");
    const logs = [{ ...first, removed: true }, ...more];
    const removed = { ...observed, receipt: { ...receipt, logs }, block: { ...block, logs } };
    const failed = checkBinding(removed, expected).checks.filter(({ ok }) => !ok);
    expect(failed, step).toMatchObject([
      { name: "canonical", actual: { contradictions: ["a log was removed"] } },
    ]);
  }
});

test("the boundary seconds are in time, and the seconds beyond are not", () => {
  const [one] = accepted;
  const at = one?.observed.block?.timestamp;
  if (one === undefined || at === undefined) throw new Error("An accepted transaction is in a block.");
  const accepts = (from: number | null, to: number | null) =>
    checkBinding(one.observed, { ...one.expected, timely: { from, to } }).accepted;
  expect([accepts(at, at), accepts(at + 1, null), accepts(null, at - 1)]).toEqual([true, false, false]);
});

test("none of 14,000 mutants of what a node answers is accepted", { tags: "thorough" }, () => {
  const dice = new Dice(5);
  let judged = 0;
  for (const one of accepted) {
    const mutants = mutantsOf(one, 2_000, dice);
    judged += mutants.length;
    expect(acceptedMutants(one, mutants), one.step).toEqual([]);
  }
  expect(judged).toBe(14_000);
});

test("no calldata with one byte changed, added or left out is accepted", { tags: "thorough" }, () => {
  const dice = new Dice(6);
  for (const one of accepted) {
    const { observed } = one;
    const { envelope } = observed;
    if (envelope === null) throw new Error("An accepted transaction has an envelope.");
    const length = (envelope.input.length - 2) / 2;
    const flipped = Array.from({ length }, (_, index) => {
      const byte = Number.parseInt(envelope.input.slice(2 + index * 2, 4 + index * 2), 16);
      const changed = (byte ^ (1 << dice.roll(8))).toString(16).padStart(2, "0");
      const input = envelope.input.slice(0, 2 + index * 2) + changed + envelope.input.slice(4 + index * 2);
      return `0x${input.slice(2)}` as const;
    });
    const others = Array.from({ length: 200 }, () => otherBytes(envelope.input, dice));
    const mutants = [...flipped, ...others]
      .filter((input) => input !== envelope.input)
      .map((input) => ({ ...observed, envelope: { ...envelope, input } }));
    expect(acceptedMutants(one, mutants), one.step).toEqual([]);
  }
});

test("no log that is changed in receipt and block alike is accepted in a field that the step binds", () => {
  const dice = new Dice(7);
  for (const one of accepted) {
    const { receipt, block } = one.observed;
    if (receipt === null || block === null) throw new Error("An accepted transaction has a receipt.");
    const mutants = Array.from({ length: 400 }, () => {
      const at = dice.roll(receipt.logs.length);
      const log = receipt.logs[at];
      if (log === undefined) throw new Error("Every step emits a log.");
      const changed = { topics: log.topics.map((topic) => otherBytes(topic, dice)) };
      const logs = receipt.logs.map((entry, index) => (index === at ? { ...log, ...changed } : entry));
      return { ...one.observed, receipt: { ...receipt, logs }, block: { ...block, logs } };
    });
    expect(acceptedMutants(one, mutants), one.step).toEqual([]);
  }
});

test("no transaction with one signed field changed keeps its hash and its sender", async () => {
  const dice = new Dice(8);
  const { client } = fixture.sandbox.chain;
  for (const { step, observed } of accepted) {
    const transaction = await client.getTransaction({ hash: observed.hash });
    if (transaction.type !== "eip1559") throw new Error("The fixture sends EIP-1559 transactions.");
    const signed = [
      "nonce",
      "gas",
      "value",
      "input",
      "to",
      "maxFeePerGas",
      "maxPriorityFeePerGas",
      "r",
      "s",
      "chainId",
    ];
    for (const name of signed) {
      const envelope = await recomputeEnvelope(mutate(transaction, [name], dice));
      expect(envelope.hash, `${step}: ${name}`).not.toBe(observed.hash);
    }
    const flipped = { ...transaction, yParity: 1 - transaction.yParity };
    expect((await recomputeEnvelope(flipped)).sender, step).not.toBe(observed.envelope?.sender);
    expect(await recomputeEnvelope(transaction), step).toEqual(observed.envelope);
  }
});
