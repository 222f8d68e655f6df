import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  parseAbiParameters,
} from "viem";
import { z } from "zod";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hexSchema } from "../../relayer/node/node-schemas.ts";
import { lookalikeAbi } from "../adversary-abi.ts";
import { type Attack, harmless, mismatch, refused } from "../attack.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { type FixtureAnswer, parseReconciliation } from "../fixture/fixture-service.ts";

const rawLog = z.looseObject({
  address: hexSchema,
  topics: z.array(hexSchema),
  data: hexSchema,
  logIndex: hexSchema,
  blockHash: hexSchema,
  transactionHash: hexSchema,
  removed: z.boolean().optional(),
});
const rawReceipt = z.looseObject({
  blockHash: hexSchema,
  blockNumber: hexSchema,
  transactionHash: hexSchema,
  transactionIndex: hexSchema,
  logs: z.array(rawLog),
});
type RawReceipt = z.infer<typeof rawReceipt>;
type RawLog = z.infer<typeof rawLog>;

/** Reconciles a valid payment whose transaction receipt the node changes. */
async function reconcileChangedReceipt(
  fixture: ContractFixture,
  change: (receipt: RawReceipt) => RawReceipt,
): Promise<FixtureAnswer> {
  const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
  fixture.tampered.change("eth_getTransactionReceipt", (answer) => change(rawReceipt.parse(answer)));
  return await fixture.reconcile(fixture.purchase, [hash]);
}

function changeFirst(receipt: RawReceipt, change: Partial<RawLog>): RawReceipt {
  return { ...receipt, logs: receipt.logs.map((log, index) => (index === 0 ? { ...log, ...change } : log)) };
}

/** The payment log that the registrar would emit. */
function paymentLog(
  fixture: ContractFixture,
  amount: bigint,
  paidTotal = amount,
): { topics: Hex[]; data: Hex } {
  const args = {
    id: fixture.purchase.commitment.hash,
    buyer: fixture.address("buyer"),
    merchant: fixture.address("merchant"),
  };
  const topics = encodeEventTopics({ abi: purchaseRegistrarAbi, eventName: "PurchasePaid", args });
  const data = encodeAbiParameters(parseAbiParameters("uint32, uint256, uint256"), [2, amount, paidTotal]);
  return { topics: topics.filter((topic) => typeof topic === "string"), data };
}

/** A log that no contract emitted, after those that a transaction has. */
function invent(
  receipt: RawReceipt,
  log: { address: Hex; topics: Hex[]; data: Hex },
  index = receipt.logs.length,
): RawLog {
  const { blockHash, blockNumber, transactionHash, transactionIndex } = receipt;
  const place = { blockHash, blockNumber, transactionHash, transactionIndex };
  return { ...log, ...place, logIndex: `0x${index.toString(16)}`, removed: false };
}

/** A payment's log of the registrar and its log of the token, neither of which was emitted. */
function inventPayment(fixture: ContractFixture, receipt: RawReceipt, amount: bigint): RawLog[] {
  const { registrar, token } = fixture.contracts;
  const args = { from: fixture.address("buyer"), to: fixture.address("merchant") };
  const topics = encodeEventTopics({ abi: testUsdcAbi, eventName: "Transfer", args });
  const moved = {
    topics: topics.filter((topic) => typeof topic === "string"),
    data: encodeAbiParameters(parseAbiParameters("uint256"), [amount]),
  };
  return [
    invent(receipt, { address: registrar, ...paymentLog(fixture, amount) }),
    invent(receipt, { address: token, ...moved }, receipt.logs.length + 1),
  ];
}

/** Whether logs are asked for by a block's hash, not by a contract's event. */
function isOfBlock(parameters: unknown): boolean {
  return JSON.stringify(parameters).includes("blockHash");
}

/** Has the node list more logs. */
function listMore(
  fixture: ContractFixture,
  more: (listed: "of the block" | "of the event") => readonly RawLog[],
): void {
  fixture.tampered.change("eth_getLogs", (answer, parameters) => [
    ...z.array(rawLog).parse(answer),
    ...more(isOfBlock(parameters) ? "of the block" : "of the event"),
  ]);
}

async function receiptOf(fixture: ContractFixture, hash: Hex): Promise<RawReceipt> {
  return rawReceipt.parse(
    await fixture.client.request({ method: "eth_getTransactionReceipt", params: [hash] }),
  );
}

/** Has a lookalike emit a log, by a transaction of the buyer's. */
async function emitElsewhere(
  fixture: ContractFixture,
  log: { topics: readonly Hex[]; data: Hex },
): Promise<FixtureAnswer> {
  const lookalike = await fixture.deploy("LookalikeRegistrar");
  const data = encodeFunctionData({
    abi: lookalikeAbi,
    functionName: "emitLog",
    args: [log.topics, log.data],
  });
  return await fixture.reconcile(fixture.purchase, [await fixture.succeed("buyer", { to: lookalike, data })]);
}

/** Attacks by what a transaction left behind, or by what a node says it did. */
export const logAttacks: readonly Attack[] = [
  {
    family: "receipt and logs",
    name: "a payment that reverted",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const hash = await fixture.send("buyer", fixture.pay(fixture.purchase, 26n * usdc));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "a payment that ran out of gas",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const hash = await fixture.send("buyer", { ...fixture.pay(fixture.purchase), gas: 60_000n });
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "a lookalike that emits the payment's log",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(fixture) {
      const lookalike = await fixture.deploy("LookalikeRegistrar");
      const payment = {
        id: fixture.purchase.commitment.hash,
        buyer: fixture.address("buyer"),
        merchant: fixture.address("merchant"),
        sequence: 2,
        amount: 25n * usdc,
        paidTotal: 25n * usdc,
      };
      const data = encodeFunctionData({ abi: lookalikeAbi, functionName: "pretendPayment", args: [payment] });
      return await fixture.reconcile(fixture.purchase, [
        await fixture.succeed("buyer", { to: lookalike, data }),
      ]);
    },
  },
  {
    family: "receipt and logs",
    name: "another program's registrar: a payment of another program's purchase",
    stopped: mismatch("calldata", "log"),
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.foreign));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "the payment's topic with other indexing",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(fixture) {
      const { topics, data } = paymentLog(fixture, 25n * usdc);
      return await emitElsewhere(fixture, { topics: topics.slice(0, 2), data });
    },
  },
  {
    family: "receipt and logs",
    name: "the payment's topics with extra data",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(fixture) {
      const { topics, data } = paymentLog(fixture, 25n * usdc);
      return await emitElsewhere(fixture, { topics, data: `${data}00` });
    },
  },
  {
    family: "receipt and logs",
    name: "a node that doubles a log",
    stopped: mismatch("canonical", "log"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => ({
        ...receipt,
        logs: [...receipt.logs, ...receipt.logs],
      })),
  },
  {
    family: "receipt and logs",
    name: "a node that leaves out a log",
    stopped: mismatch("canonical", "log"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => ({ ...receipt, logs: receipt.logs.slice(1) })),
  },
  {
    family: "receipt and logs",
    name: "a node that reorders logs",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, ({ logs: [first, ...rest], ...receipt }) => ({
        ...receipt,
        logs: first === undefined ? rest : [...rest, first],
      })),
  },
  {
    family: "receipt and logs",
    name: "a node that changes a field of a log that the step leaves free",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) =>
        changeFirst(receipt, { data: paymentLog(fixture, 10n * usdc).data.replace(/.$/, "1") as Hex }),
      ),
  },
  {
    family: "receipt and logs",
    name: "a node that changes a log's topic",
    stopped: mismatch("canonical", "log"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => {
        const [signature = "0x", , ...rest] = receipt.logs[0]?.topics ?? [];
        return changeFirst(receipt, { topics: [signature, fixture.second.commitment.hash, ...rest] });
      }),
  },
  {
    family: "receipt and logs",
    name: "a log that was removed",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => changeFirst(receipt, { removed: true })),
  },
  {
    family: "receipt and logs",
    name: "a log that was removed, as the receipt and the block say alike",
    stopped: mismatch("canonical"),
    async run(fixture) {
      const remove = (logs: readonly RawLog[]) => logs.map((log) => ({ ...log, removed: true }));
      fixture.tampered.change("eth_getLogs", (answer, parameters) =>
        isOfBlock(parameters) ? remove(z.array(rawLog).parse(answer)) : answer,
      );
      return await reconcileChangedReceipt(fixture, (receipt) => ({
        ...receipt,
        logs: remove(receipt.logs),
      }));
    },
  },
  {
    family: "receipt and logs",
    name: "a receipt and logs of different blocks",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) =>
        changeFirst(receipt, { blockHash: fixture.purchase.commitment.hash }),
      ),
  },
  {
    family: "receipt and logs",
    name: "a receipt of another transaction",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => ({
        ...receipt,
        transactionHash: fixture.purchase.commitment.hash,
      })),
  },
  {
    family: "receipt and logs",
    name: "a receipt that names another sender",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => ({
        ...receipt,
        from: fixture.address("stranger"),
      })),
  },
  {
    family: "receipt and logs",
    name: "a node that invents a payment's log in the receipt and in the block alike",
    stopped: mismatch("log"),
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const original = await receiptOf(fixture, hash);
      const invented = inventPayment(fixture, original, 10n * usdc);
      fixture.tampered.change("eth_getTransactionReceipt", () => ({
        ...original,
        logs: [...original.logs, ...invented],
      }));
      listMore(fixture, (listed) => (listed === "of the block" ? invented : []));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "a node that invents a log of a contract that the step does not look at",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => {
        const log = { address: fixture.address("stranger"), ...paymentLog(fixture, 10n * usdc) };
        return { ...receipt, logs: [...receipt.logs, invent(receipt, log)] };
      }),
  },
  {
    family: "receipt and logs",
    name: "a node that invents a payment among the purchase's logs",
    stopped: refused(503, "rpc_unavailable"),
    async run(fixture) {
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const log = { address: fixture.contracts.registrar, ...paymentLog(fixture, 5n * usdc, 15n * usdc) };
      const invented = invent(await receiptOf(fixture, hash), log);
      listMore(fixture, (listed) => (listed === "of the event" ? [invented] : []));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "a node that tells of a reverted payment that it succeeded, with invented logs wherever logs are listed",
    stopped: refused(503, "rpc_unavailable"),
    async run(fixture) {
      const hash = await fixture.send("buyer", fixture.pay(fixture.purchase, 26n * usdc));
      const original = await receiptOf(fixture, hash);
      const logs = inventPayment(fixture, original, 26n * usdc);
      fixture.tampered.change("eth_getTransactionReceipt", () => ({ ...original, status: "0x1", logs }));
      listMore(fixture, (listed) => (listed === "of the block" ? logs : logs.slice(0, 1)));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "one transaction with logs of several purchases: each of them is recorded",
    pays: false,
    stopped: harmless,
    async run(fixture) {
      const batch = fixture.payBatch([
        [fixture.purchase, 10n * usdc],
        [fixture.second, 5n * usdc],
      ]);
      const hash = await fixture.succeed("buyer", batch);
      const answer = await fixture.reconcile(fixture.purchase, [hash]);
      const { affected_purchases } = parseReconciliation(answer);
      const again = parseReconciliation(await fixture.reconcile(fixture.second, [hash]));
      if (affected_purchases.length !== 2 || again.applied.length > 0)
        throw new Error("The second purchase was not recorded together with the first.");
      return answer;
    },
  },
  {
    family: "receipt and logs",
    name: "a log that is used twice: the second time nothing is applied",
    stopped: harmless,
    async run(fixture) {
      const answer = await fixture.reconcile(fixture.purchase, [await fixture.paid()]);
      const { applied, already_reconciled } = parseReconciliation(answer);
      if (applied.length !== 0 || already_reconciled.length !== 1) throw new Error("The log counted twice.");
      return answer;
    },
  },
  {
    family: "receipt and logs",
    name: "a reverted payment among good ones: none of them is recorded",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(fixture) {
      const good = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const bad = await fixture.send("buyer", fixture.pay(fixture.purchase, 99n * usdc));
      return await fixture.reconcile(fixture.purchase, [good, bad]);
    },
  },
];
