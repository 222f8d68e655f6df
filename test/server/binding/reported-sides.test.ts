import { encodeFunctionData, getAddress, type Hex, keccak256, toHex } from "viem";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { contractWalletAbi } from "../../../check-contract/adversary-abi.ts";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";
import type { FixtureAnswer } from "../../../check-contract/fixture/fixture-service.ts";
import { contractWalletReason } from "../../../protocol/binding/check-binding.ts";
import { usdc } from "../../../protocol/values/amount.ts";
import { explanationSchema } from "../../../sandbox/explain/explanation.ts";
import { problemSchema } from "../../../server/schemas/problem.ts";

const object = z.looseObject({});
const receiptShape = z.looseObject({ logs: z.array(object), blockNumber: z.string(), blockHash: z.string() });
type Receipt = z.infer<typeof receiptShape>;
type Block = z.infer<typeof object>;

const otherHash = `0x${"ee".repeat(32)}`;
let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterEach(async () => await fixture.reset());
afterAll(async () => await fixture.close());

/** The part of a valid payment that the node changes: its receipt, its block, or the logs of its block. */
interface Lies {
  receipt?: (receipt: Receipt) => object;
  block?: (block: Block) => object;
  logs?: (logs: object[]) => object[];
}

/** Reconciles a valid payment whose answers the node changes. */
async function lieAboutPayment(lies: Lies): Promise<{ answer: FixtureAnswer; hash: Hex; blockHash: Hex }> {
  const { receipt = (one) => one, block = (one) => one, logs = (all) => all } = lies;
  const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
  const { blockNumber, blockHash } = await fixture.receipt(hash);
  const number = toHex(blockNumber);
  const original = object.parse(
    await fixture.client.request({ method: "eth_getBlockByNumber", params: [number, false] }),
  );
  fixture.tampered.change("eth_getTransactionReceipt", (answer) => receipt(receiptShape.parse(answer)));
  const asked = new Set<unknown>();
  fixture.tampered.change("eth_getBlockByNumber", (answer, parameters) => {
    const [at] = z.array(z.unknown()).parse(parameters);
    if (at !== number && at !== toHex(blockNumber - 1n)) return answer;
    // First a block of the transaction is asked for; then whether the head, which is the same block, is still there.
    if (asked.has(at)) return answer;
    asked.add(at);
    return block(original);
  });
  fixture.tampered.change("eth_getLogs", (answer, parameters) =>
    JSON.stringify(parameters).includes("blockHash") ? logs(z.array(object).parse(answer)) : answer,
  );
  return { answer: await fixture.reconcile(fixture.purchase, [hash]), hash, blockHash };
}

/** The checks of a refused transaction that failed, by their names. */
function failedChecks({ body }: FixtureAnswer) {
  const { binding } = problemSchema.parse(body);
  return new Map((binding?.checks ?? []).filter(({ ok }) => !ok).map((check) => [check.name, check]));
}

async function contradictionsOf(lies: Lies) {
  const { answer, hash, blockHash } = await lieAboutPayment(lies);
  expect(answer).toMatchObject({ status: 422, code: "binding_mismatch", wrote: false });
  const check = failedChecks(answer).get("canonical");
  expect(check).toMatchObject({ expected: { transaction_hash: hash, block_hash: blockHash } });
  return { ...z.looseObject({ contradictions: z.array(z.string()) }).parse(check?.actual), hash, blockHash };
}

const inAll = (change: object) => (logs: object[]) => logs.map((log) => ({ ...log, ...change }));

test.each<[string, Lies, string[]]>([
  [
    "a receipt of another hash",
    { receipt: (receipt) => ({ ...receipt, transactionHash: otherHash }) },
    ["transaction, transaction receipt and logs are of different hashes"],
  ],
  [
    "a receipt of another block",
    { receipt: (receipt) => ({ ...receipt, blockHash: otherHash }) },
    ["transaction, transaction receipt and logs are of different blocks"],
  ],
  [
    "a receipt of another height",
    { receipt: (receipt) => ({ ...receipt, blockNumber: toHex(Number(receipt.blockNumber) - 1) }) },
    ["the transaction receipt names another height"],
  ],
  [
    "a block that does not list the transaction",
    { block: (block) => ({ ...block, transactions: [otherHash] }) },
    ["the block does not list the transaction"],
  ],
  [
    "a receipt of another sender",
    { receipt: (receipt) => ({ ...receipt, from: `0x${"01".repeat(20)}` }) },
    ["the transaction receipt names another sender or recipient"],
  ],
  [
    "a receipt of another recipient",
    { receipt: (receipt) => ({ ...receipt, to: `0x${"01".repeat(20)}` }) },
    ["the transaction receipt names another sender or recipient"],
  ],
  [
    "a receipt without a recipient",
    { receipt: (receipt) => ({ ...receipt, to: null }) },
    ["the transaction receipt names another sender or recipient"],
  ],
  [
    "removed logs",
    {
      receipt: (receipt) => ({ ...receipt, logs: inAll({ removed: true })(receipt.logs) }),
      logs: inAll({ removed: true }),
    },
    ["a log was removed"],
  ],
  [
    "logs of the block that the receipt lacks",
    { logs: (logs) => [...logs, ...logs] },
    ["the logs of the transaction receipt are not those of the block"],
  ],
  [
    "logs of another transaction in the receipt",
    {
      receipt: (receipt) => ({
        ...receipt,
        logs: [...receipt.logs, { ...receipt.logs[0], transactionHash: otherHash }],
      }),
    },
    [
      "transaction, transaction receipt and logs are of different hashes",
      "the logs of the transaction receipt are not those of the block",
    ],
  ],
])("a node that tells %s contradicts itself in exactly that", async (_, lies, contradictions) => {
  expect((await contradictionsOf(lies)).contradictions).toEqual(contradictions);
});

test("a contradiction shows the hash and the block that differ", async () => {
  const { hash: _, ...other } = await contradictionsOf({
    receipt: (receipt) => ({ ...receipt, transactionHash: otherHash, blockHash: otherHash }),
  });
  expect(other).toMatchObject({ transaction_hash: otherHash, block_hash: otherHash });
});

test("a transaction that the node always returns without a block is reported as pending, though it has a receipt", async () => {
  const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
  const pending = (answer: unknown) => ({ ...object.parse(answer), blockHash: null, blockNumber: null });
  fixture.tampered.change("eth_getTransactionByHash", pending);
  fixture.tampered.change("eth_getTransactionByBlockHashAndIndex", pending);
  const answer = await fixture.reconcile(fixture.purchase, [hash]);
  expect(answer).toMatchObject({ code: "binding_mismatch", failed: ["mined", "canonical"] });
  expect(failedChecks(answer).get("mined")).toMatchObject({ expected: "mined", actual: "pending" });
  expect(failedChecks(answer).get("canonical")?.actual).toMatchObject({
    contradictions: ["transaction, transaction receipt and logs are of different blocks"],
  });
});

test("logs of other transactions in the same block are no contradiction", async () => {
  await fixture.client.setAutomine(false);
  const hashes: Hex[] = [
    await fixture.submit("buyer", fixture.pay(fixture.purchase)),
    await fixture.submit("buyer", fixture.pay(fixture.second)),
  ];
  await fixture.client.mine({ blocks: 1 });
  expect(await fixture.reconcile(fixture.purchase, hashes.slice(0, 1))).toMatchObject({
    status: 200,
    code: null,
  });
  expect(await fixture.reconcile(fixture.second, hashes.slice(1))).toMatchObject({ status: 200, code: null });
});

/** Reconciles a transaction that is no accepted payment of the first purchase. */
async function refuse(hash: Hex): Promise<FixtureAnswer> {
  const answer = await fixture.reconcile(fixture.purchase, [hash]);
  expect(answer).toMatchObject({ status: 422, wrote: false });
  return answer;
}

/** The first byte in which two byte strings differ, a missing one included. */
function firstDifference(left: Hex, right: Hex): number {
  const [one, other] = [left, right].map((bytes) => Buffer.from(bytes.slice(2), "hex"));
  let index = 0;
  while (one?.[index] !== undefined && one[index] === other?.[index]) index += 1;
  return index;
}

test("calldata is reported with the first byte that differs, a byte too many included", async () => {
  const expected = fixture.pay(fixture.purchase, 10n * usdc).data;
  const trailing: Hex = `${expected}00`;
  const { registrar: to } = fixture.contracts;
  const more = failedChecks(await refuse(await fixture.send("buyer", { to, data: trailing }))).get(
    "calldata",
  );
  expect(more).toMatchObject({ expected, actual: { data: trailing, first_difference: 68 } });
  const other = fixture.pay(fixture.second, 10n * usdc).data;
  const paid = failedChecks(await refuse(await fixture.succeed("buyer", fixture.pay(fixture.second)))).get(
    "calldata",
  );
  expect(paid).toMatchObject({
    expected,
    actual: { data: other, first_difference: firstDifference(expected, other) },
  });
  const { data } = fixture.approve(usdc, fixture.address("stranger"));
  const approved = failedChecks(
    await refuse(await fixture.succeed("buyer", { to: fixture.contracts.token, data })),
  ).get("calldata");
  expect(approved).toMatchObject({ actual: { data, first_difference: 0 } });
});

/** Calldata that is not canonical: with one byte changed, or cut off at a byte. */
const unreadable: readonly (readonly [
  what: string,
  of: "pay" | "payWithPermit" | "payBatch",
  change: (data: Buffer) => Buffer,
  first: number,
])[] = [
  [
    "a payment under a permit with a dirty high byte of v",
    "payWithPermit",
    (data) => data.fill(1, 105, 106),
    105,
  ],
  [
    "a payment under a permit with a dirty low byte of v's padding",
    "payWithPermit",
    (data) => data.fill(1, 110, 111),
    110,
  ],
  ["a payment under a permit without its last byte", "payWithPermit", (data) => data.subarray(0, -1), 195],
  [
    "a payment under a permit without the last two words",
    "payWithPermit",
    (data) => data.subarray(0, 132),
    132,
  ],
  ["a batch without its last byte", "payBatch", (data) => data.subarray(0, -1), 259],
  ["a payment without its last byte", "pay", (data) => data.subarray(0, -1), 67],
];

test.each(unreadable)(
  "%s is reported with its own function and the byte that is wrong",
  async (_what, of, change, first) => {
    const { purchase, second } = fixture;
    // The lowest byte of each is zero, and what is cut off is read as zeros.
    const call = {
      pay: () => fixture.pay(purchase, 256n),
      payWithPermit: () => fixture.payWithPermit(purchase, 256n),
      payBatch: () =>
        fixture.payBatch([
          [purchase, 256n],
          [second, 256n],
        ]),
    }[of]();
    const whole = Buffer.from(call.data.slice(2), "hex");
    const data: Hex = `0x${change(Buffer.from(whole)).toString("hex")}`;
    const hash = await fixture.send("buyer", { to: call.to, data });
    const failed = failedChecks(await refuse(hash));
    expect([...failed.keys()]).toEqual(["status", "calldata", "log"]);
    const known = whole.subarray(0, (data.length - 2) / 2).toString("hex");
    const expected = data.length < call.data.length ? `0x${known.padEnd(whole.length * 2, "0")}` : call.data;
    expect(failed.get("calldata")).toMatchObject({ expected, actual: { data, first_difference: first } });

    const missing = whole.length - (data.length - 2) / 2;
    const bytes = missing === 1 ? "1 byte" : `${missing} bytes`;
    const response = await fetch(`${fixture.sandbox.description.urls.control}/explain/${hash}`);
    const explanation = explanationSchema.parse(await response.json());
    expect(explanation).toMatchObject({
      accepted: false,
      step: "payment",
      subject: expect.stringContaining(purchase.id),
      cause:
        missing === 0
          ? `It calls ${of} with the right arguments, but their encoding is not the canonical one.`
          : `The call of ${of} has the right arguments, but ${bytes} too few: it ends at byte ${whole.length - missing}.`,
      call: { function: of, expected_function: of, canonical: false },
    });
    const differing = explanation.call?.words.find((word) => word.differing.length > 0);
    expect((differing?.offset ?? 0) + (differing?.differing[0] ?? 0)).toBe(first);
  },
);

test("a payment under a permit of another purchase is reported even if the same permit's payment of this one is there", async () => {
  const permit = fixture.permit(fixture.second, 10n * usdc);
  const sent = fixture.payWithPermit(fixture.second, 10n * usdc, permit).data;
  const hash = await fixture.succeed("buyer", fixture.payWithPermit(fixture.second, 10n * usdc, permit));
  const failed = failedChecks(await refuse(hash));
  const expected = fixture.payWithPermit(fixture.purchase, 10n * usdc, permit).data;
  expect([...failed.keys()]).toEqual(["calldata", "log"]);
  expect(failed.get("calldata")).toMatchObject({
    expected,
    actual: { data: sent, first_difference: firstDifference(expected, sent) },
  });
  const fields = { owner: fixture.address("buyer"), spender: fixture.contracts.registrar, value: "10000000" };
  expect(failed.get("log")).toMatchObject({
    expected: [
      { event: "PurchasePaid", fields: { id: fixture.purchase.commitment.hash } },
      { address: fixture.contracts.token, event: "Approval", fields, optional: true },
      { event: "Transfer" },
    ],
    actual: [
      { event: "PurchasePaid", fields: { id: fixture.second.commitment.hash } },
      { event: "Approval", fields },
      { event: "Transfer" },
    ],
  });
});

test("a payment under a permit of another amount is reported with that amount, permit and transfer", async () => {
  const permit = fixture.permit(fixture.purchase, 10n * usdc);
  const call = fixture.payWithPermit(fixture.purchase, 10n * usdc, permit);
  const transaction_hash = await fixture.succeed("buyer", call);
  const body = { action: "pay", transaction_hash, amount: "10000001" };
  const failed = failedChecks(await fixture.submitToWallet(fixture.purchase, body));
  const expected = fixture.payWithPermit(fixture.purchase, 10_000_001n, permit).data;
  expect(failed.get("calldata")).toMatchObject({
    expected,
    actual: { data: call.data, first_difference: 67 },
  });
  expect(failed.get("log")).toMatchObject({
    expected: [
      { fields: { amount: "10000001" } },
      { fields: { value: "10000001" } },
      { fields: { value: "10000001" } },
    ],
  });
});

test("an approval of another amount is reported with the byte of the amount that differs", async () => {
  const hash = await fixture.succeed("buyer", fixture.approve(26n * usdc));
  const answer = await fixture.submitToWallet(fixture.purchase, {
    action: "approve",
    transaction_hash: hash,
    amount: (25n * usdc).toString(),
  });
  expect(failedChecks(answer).get("calldata")).toMatchObject({
    expected: fixture.approve(25n * usdc).data,
    actual: { data: fixture.approve(26n * usdc).data, first_difference: 65 },
  });
  expect(failedChecks(answer).get("log")).toMatchObject({
    expected: [{ event: "Approval", fields: { value: "25000000" } }],
    actual: [{ event: "Approval", fields: { value: "26000000" } }],
  });
});

test("another sender is reported with its address", async () => {
  const [buyer, stranger] = [fixture.address("buyer"), fixture.address("stranger")];
  const sent = await refuse(await fixture.send("stranger", fixture.pay(fixture.purchase)));
  expect(failedChecks(sent).get("wallet")).toMatchObject({ expected: buyer, actual: stranger });
  expect(failedChecks(sent).get("status")).toMatchObject({ expected: "success", actual: "reverted" });
});

test("a bound wallet that is a contract is reported as one, no matter who sent for it", async () => {
  const wallet = await fixture.deploy("ContractWallet");
  const purchase = await fixture.createPurchase({ buyer: wallet.toLowerCase() });
  await fixture.activate(purchase);
  const { to, data } = fixture.pay(purchase);
  const forward = encodeFunctionData({ abi: contractWalletAbi, functionName: "forward", args: [to, data] });
  const hash = await fixture.send("buyer", { to: wallet, data: forward });
  expect(failedChecks(await fixture.reconcile(purchase, [hash])).get("wallet")).toMatchObject({
    actual: {
      address: fixture.address("buyer"),
      reason: contractWalletReason,
    },
  });
});

test("a recipient is reported with the hash of its code, or without one", async () => {
  const { registrar, token } = fixture.contracts;
  const { data } = fixture.pay(fixture.purchase);
  const codeHash = async (address: Hex) => keccak256((await fixture.client.getCode({ address })) ?? "0x");
  const expected = { address: registrar, code_hash: await codeHash(registrar) };
  const { to, data: approval } = fixture.approve(usdc);
  expect(
    failedChecks(await refuse(await fixture.succeed("buyer", { to, data: approval }))).get("contract"),
  ).toMatchObject({ expected, actual: { address: token, code_hash: await codeHash(token) } });
  const stranger = await refuse(await fixture.succeed("buyer", { to: fixture.address("stranger"), data }));
  expect(failedChecks(stranger).get("contract")).toMatchObject({
    expected,
    actual: { address: fixture.address("stranger"), code_hash: null },
  });
});

test("a recipient of the bound code at another address is refused as another contract", async () => {
  const { token } = fixture.contracts;
  const twin: Hex = `0x${"7e".repeat(20)}`;
  const code = await fixture.client.getCode({ address: token });
  if (code === undefined) throw new Error("The token has code.");
  await fixture.client.setCode({ address: twin, bytecode: code });
  const hash = await fixture.succeed("buyer", { ...fixture.approve(25n * usdc), to: twin });
  const amount = (25n * usdc).toString();
  const submitted = { action: "approve", transaction_hash: hash, amount };
  const answer = await fixture.submitToWallet(fixture.purchase, submitted);
  expect(answer).toMatchObject({
    status: 422,
    code: "binding_mismatch",
    failed: ["contract", "log"],
    wrote: false,
  });
  expect(failedChecks(answer).get("contract")).toMatchObject({
    expected: { address: token, code_hash: keccak256(code) },
    actual: { address: getAddress(twin), code_hash: keccak256(code) },
  });
});

test.each([
  ["is accepted while neither has other code yet", true, { status: 200, failed: [] }],
  ["is refused while both have other code", false, { status: 422, failed: ["wallet", "contract"] }],
])("a payment whose sender and recipient have other code in another block %s", async (_, isLater, judged) => {
  const { client } = fixture;
  const { registrar } = fixture.contracts;
  const [buyer, code] = [fixture.address("buyer"), (await client.getCode({ address: registrar })) ?? "0x"];
  const setCodes = async (senderCode: Hex, recipientCode: Hex) => {
    await client.setCode({ address: buyer, bytecode: senderCode });
    await client.setCode({ address: registrar, bytecode: recipientCode });
  };
  if (!isLater) await setCodes("0x00", `${code}00`);
  const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
  // The node keeps the state of a block when it makes the next one.
  await client.mine({ blocks: 1 });
  await (isLater ? setCodes("0x00", `${code}00`) : setCodes("0x", code));
  await client.mine({ blocks: 1 });
  expect(await fixture.reconcile(fixture.purchase, [hash])).toMatchObject(judged);
});

test("ETH that is sent along is reported in wei", async () => {
  const hash = await fixture.send("buyer", { ...fixture.pay(fixture.purchase), value: 10n ** 18n });
  expect(failedChecks(await refuse(hash)).get("value")).toMatchObject({
    expected: "0",
    actual: "1000000000000000000",
  });
});

test("a batch is reported with each purchase that is on chain for this buyer and program, and null for others", async () => {
  const batch = fixture.payBatch([
    [fixture.purchase, usdc],
    [fixture.foreign, usdc],
  ]);
  const ids = [fixture.purchase, fixture.foreign].map(({ commitment }) => commitment.hash);
  expect(failedChecks(await refuse(await fixture.succeed("buyer", batch))).get("purchase")).toMatchObject({
    expected: ids,
    actual: [ids[0], null],
  });
});

test("logs are reported as the events that they are, and as their bytes when they are none that is expected", async () => {
  const paid = failedChecks(await refuse(await fixture.succeed("buyer", fixture.pay(fixture.second)))).get(
    "log",
  );
  const [id, other] = [fixture.purchase, fixture.second].map(({ commitment }) => commitment.hash);
  expect(paid).toMatchObject({
    expected: [
      { address: fixture.contracts.registrar, event: "PurchasePaid", fields: { id, amount: "10000000" } },
      { address: fixture.contracts.token, event: "Transfer", fields: { value: "10000000" } },
    ],
    actual: [
      {
        address: fixture.contracts.registrar,
        event: "PurchasePaid",
        fields: { id: other, amount: "10000000", paidTotal: "10000000" },
      },
      { address: fixture.contracts.token, event: "Transfer", fields: { value: "10000000" } },
    ],
  });
  const approval = await fixture.succeed("buyer", fixture.approve(usdc));
  const [emitted] = (await fixture.receipt(approval)).logs;
  expect(failedChecks(await refuse(approval)).get("log")?.actual).toEqual([
    { address: fixture.contracts.token, topics: emitted?.topics, data: emitted?.data },
  ]);
});

test("a log too many is reported as the event that it is", async () => {
  const double = (logs: object[]) => [...logs, ...logs];
  const { answer } = await lieAboutPayment({
    receipt: (receipt) => ({ ...receipt, logs: double(receipt.logs) }),
    logs: double,
  });
  expect(answer.failed).toEqual(["log"]);
  const events = z.array(z.object({ event: z.string() })).parse(failedChecks(answer).get("log")?.actual);
  expect(events.map(({ event }) => event)).toEqual(["PurchasePaid", "Transfer", "PurchasePaid", "Transfer"]);
});

test("a time is reported with both ends of its window", async () => {
  const { pay_deadline } = fixture.purchase.deadlines;
  await fixture.client.setNextBlockTimestamp({ timestamp: BigInt(pay_deadline + 7) });
  const amount = 25n * usdc;
  const hash = await fixture.succeed("buyer", fixture.approve(amount));
  const submitted = { action: "approve", transaction_hash: hash, amount: amount.toString() };
  const answer = await fixture.submitToWallet(fixture.purchase, submitted);
  const from = Date.parse(fixture.purchase.created_at) / 1_000;
  expect(answer).toMatchObject({ status: 409, code: "deadline_passed", failed: ["timely"] });
  expect(failedChecks(answer).get("timely")).toMatchObject({
    expected: { from, to: pay_deadline },
    actual: pay_deadline + 7,
  });
});

test("a hash that is used is reported with what it serves", async () => {
  const hash = await fixture.succeed("merchant", await fixture.registration(fixture.draft));
  fixture.expectAccepted(await fixture.register(fixture.draft, hash));
  expect(failedChecks(await refuse(hash)).get("unused")).toMatchObject({
    expected: null,
    actual: `registration of ${fixture.draft.id}`,
  });
});

test("a refusal names every failed check in the order of the report", async () => {
  const hash = await fixture.send("stranger", { ...fixture.pay(fixture.purchase), value: 1n });
  const { detail } = problemSchema.parse((await refuse(hash)).body);
  expect(detail).toBe(
    "The transaction is not the one this step is bound to; failed: status, wallet, value, log.",
  );
});
