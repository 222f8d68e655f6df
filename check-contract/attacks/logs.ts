import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  parseAbiParameters,
} from "viem";
import { z } from "zod";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/amount.ts";
import { lookalikeAbi } from "../adversary-abi.ts";
import { type Attack, harmless, mismatch, refused } from "../attack.ts";
import type { Stage } from "../stage/stage.ts";
import { parseReconciliation, type StageAnswer } from "../stage/staged-service.ts";

const hex = z.custom<Hex>((value) => typeof value === "string" && value.startsWith("0x"));
const rawLog = z.looseObject({
  address: hex,
  topics: z.array(hex),
  data: hex,
  logIndex: hex,
  blockHash: hex,
  transactionHash: hex,
  removed: z.boolean().optional(),
});
const rawReceipt = z.looseObject({
  blockHash: hex,
  blockNumber: hex,
  transactionHash: hex,
  transactionIndex: hex,
  logs: z.array(rawLog),
});
type RawReceipt = z.infer<typeof rawReceipt>;
type RawLog = z.infer<typeof rawLog>;

/** An honest payment of which the node then tells something else. */
async function lieAbout(stage: Stage, change: (receipt: RawReceipt) => RawReceipt): Promise<StageAnswer> {
  const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
  stage.tampered.tell("eth_getTransactionReceipt", (answer) => change(rawReceipt.parse(answer)));
  return await stage.reconcile(stage.purchase, [hash]);
}

function changeFirst(receipt: RawReceipt, change: Partial<RawLog>): RawReceipt {
  return { ...receipt, logs: receipt.logs.map((log, index) => (index === 0 ? { ...log, ...change } : log)) };
}

/** The payment log that the registrar would emit. */
function paymentLog(stage: Stage, amount: bigint, paidTotal = amount): { topics: Hex[]; data: Hex } {
  const args = {
    id: stage.purchase.commitment.hash,
    buyer: stage.address("buyer"),
    merchant: stage.address("merchant"),
  };
  const topics = encodeEventTopics({ abi: purchaseRegistrarAbi, eventName: "PurchasePaid", args });
  const data = encodeAbiParameters(parseAbiParameters("uint32, uint256, uint256"), [2, amount, paidTotal]);
  return { topics: topics.filter((topic) => typeof topic === "string"), data };
}

/** A log that nobody emitted, told of a transaction after those that it has. */
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
function inventPayment(stage: Stage, receipt: RawReceipt, amount: bigint): RawLog[] {
  const { registrar, token } = stage.contracts;
  const args = { from: stage.address("buyer"), to: stage.address("merchant") };
  const topics = encodeEventTopics({ abi: testUsdcAbi, eventName: "Transfer", args });
  const moved = {
    topics: topics.filter((topic) => typeof topic === "string"),
    data: encodeAbiParameters(parseAbiParameters("uint256"), [amount]),
  };
  return [
    invent(receipt, { address: registrar, ...paymentLog(stage, amount) }),
    invent(receipt, { address: token, ...moved }, receipt.logs.length + 1),
  ];
}

/** Whether logs are asked for by a block's hash, not by a contract's event. */
function isOfBlock(parameters: unknown): boolean {
  return JSON.stringify(parameters).includes("blockHash");
}

/** Has the node list more logs. */
function listMore(stage: Stage, more: (listed: "of the block" | "of the event") => readonly RawLog[]): void {
  stage.tampered.tell("eth_getLogs", (answer, parameters) => [
    ...z.array(rawLog).parse(answer),
    ...more(isOfBlock(parameters) ? "of the block" : "of the event"),
  ]);
}

async function receiptOf(stage: Stage, hash: Hex): Promise<RawReceipt> {
  return rawReceipt.parse(
    await stage.client.request({ method: "eth_getTransactionReceipt", params: [hash] }),
  );
}

/** Has a lookalike emit a log, by a transaction of the buyer's. */
async function emitElsewhere(stage: Stage, log: { topics: readonly Hex[]; data: Hex }): Promise<StageAnswer> {
  const lookalike = await stage.deploy("LookalikeRegistrar");
  const data = encodeFunctionData({
    abi: lookalikeAbi,
    functionName: "emitLog",
    args: [log.topics, log.data],
  });
  return await stage.reconcile(stage.purchase, [await stage.succeed("buyer", { to: lookalike, data })]);
}

/** Attacks by what a transaction left behind, or by what a node says it did. */
export const logAttacks: readonly Attack[] = [
  {
    family: "receipt and logs",
    name: "a payment that reverted",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(stage) {
      const hash = await stage.send("buyer", stage.pay(stage.purchase, 26n * usdc));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "a payment that ran out of gas",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(stage) {
      const hash = await stage.send("buyer", { ...stage.pay(stage.purchase), gas: 60_000n });
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "a lookalike that emits the payment's log",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(stage) {
      const lookalike = await stage.deploy("LookalikeRegistrar");
      const payment = {
        id: stage.purchase.commitment.hash,
        buyer: stage.address("buyer"),
        merchant: stage.address("merchant"),
        sequence: 2,
        amount: 25n * usdc,
        paidTotal: 25n * usdc,
      };
      const data = encodeFunctionData({ abi: lookalikeAbi, functionName: "pretendPayment", args: [payment] });
      return await stage.reconcile(stage.purchase, [await stage.succeed("buyer", { to: lookalike, data })]);
    },
  },
  {
    family: "receipt and logs",
    name: "another program's registrar: a payment of another program's purchase",
    stopped: mismatch("calldata", "log"),
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.foreign));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "the payment's topic with other indexing",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(stage) {
      const { topics, data } = paymentLog(stage, 25n * usdc);
      return await emitElsewhere(stage, { topics: topics.slice(0, 2), data });
    },
  },
  {
    family: "receipt and logs",
    name: "the payment's topics with extra data",
    pays: false,
    stopped: mismatch("contract", "calldata", "log"),
    async run(stage) {
      const { topics, data } = paymentLog(stage, 25n * usdc);
      return await emitElsewhere(stage, { topics, data: `${data}00` });
    },
  },
  {
    family: "receipt and logs",
    name: "a node that doubles a log",
    stopped: mismatch("canonical", "log"),
    run: async (stage) =>
      await lieAbout(stage, (receipt) => ({ ...receipt, logs: [...receipt.logs, ...receipt.logs] })),
  },
  {
    family: "receipt and logs",
    name: "a node that leaves out a log",
    stopped: mismatch("canonical", "log"),
    run: async (stage) => await lieAbout(stage, (receipt) => ({ ...receipt, logs: receipt.logs.slice(1) })),
  },
  {
    family: "receipt and logs",
    name: "a node that reorders logs",
    stopped: mismatch("canonical"),
    run: async (stage) =>
      await lieAbout(stage, ({ logs: [first, ...rest], ...receipt }) => ({
        ...receipt,
        logs: first === undefined ? rest : [...rest, first],
      })),
  },
  {
    family: "receipt and logs",
    name: "a node that changes a field of a log that the step leaves free",
    stopped: mismatch("canonical"),
    run: async (stage) =>
      await lieAbout(stage, (receipt) =>
        changeFirst(receipt, { data: paymentLog(stage, 10n * usdc).data.replace(/.$/, "1") as Hex }),
      ),
  },
  {
    family: "receipt and logs",
    name: "a node that changes a log's topic",
    stopped: mismatch("canonical", "log"),
    run: async (stage) =>
      await lieAbout(stage, (receipt) => {
        const [signature = "0x", , ...rest] = receipt.logs[0]?.topics ?? [];
        return changeFirst(receipt, { topics: [signature, stage.second.commitment.hash, ...rest] });
      }),
  },
  {
    family: "receipt and logs",
    name: "a log that was removed",
    stopped: mismatch("canonical"),
    run: async (stage) => await lieAbout(stage, (receipt) => changeFirst(receipt, { removed: true })),
  },
  {
    family: "receipt and logs",
    name: "a log that was removed, as the receipt and the block say alike",
    stopped: mismatch("canonical"),
    async run(stage) {
      const remove = (logs: readonly RawLog[]) => logs.map((log) => ({ ...log, removed: true }));
      stage.tampered.tell("eth_getLogs", (answer, parameters) =>
        isOfBlock(parameters) ? remove(z.array(rawLog).parse(answer)) : answer,
      );
      return await lieAbout(stage, (receipt) => ({ ...receipt, logs: remove(receipt.logs) }));
    },
  },
  {
    family: "receipt and logs",
    name: "a receipt and logs of different blocks",
    stopped: mismatch("canonical"),
    run: async (stage) =>
      await lieAbout(stage, (receipt) => changeFirst(receipt, { blockHash: stage.purchase.commitment.hash })),
  },
  {
    family: "receipt and logs",
    name: "a receipt of another transaction",
    stopped: mismatch("canonical"),
    run: async (stage) =>
      await lieAbout(stage, (receipt) => ({ ...receipt, transactionHash: stage.purchase.commitment.hash })),
  },
  {
    family: "receipt and logs",
    name: "a receipt that names another sender",
    stopped: mismatch("canonical"),
    run: async (stage) =>
      await lieAbout(stage, (receipt) => ({ ...receipt, from: stage.address("stranger") })),
  },
  {
    family: "receipt and logs",
    name: "a node that invents a payment's log in the receipt and in the block alike",
    stopped: mismatch("log"),
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      const honest = await receiptOf(stage, hash);
      const invented = inventPayment(stage, honest, 10n * usdc);
      stage.tampered.tell("eth_getTransactionReceipt", () => ({
        ...honest,
        logs: [...honest.logs, ...invented],
      }));
      listMore(stage, (listed) => (listed === "of the block" ? invented : []));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "a node that invents a log of a contract that the step does not look at",
    stopped: mismatch("canonical"),
    run: async (stage) =>
      await lieAbout(stage, (receipt) => {
        const log = { address: stage.address("stranger"), ...paymentLog(stage, 10n * usdc) };
        return { ...receipt, logs: [...receipt.logs, invent(receipt, log)] };
      }),
  },
  {
    family: "receipt and logs",
    name: "a node that invents a payment among the purchase's logs",
    stopped: refused(503, "rpc_unavailable"),
    async run(stage) {
      const hash = await stage.succeed("buyer", stage.pay(stage.purchase));
      const log = { address: stage.contracts.registrar, ...paymentLog(stage, 5n * usdc, 15n * usdc) };
      const invented = invent(await receiptOf(stage, hash), log);
      listMore(stage, (listed) => (listed === "of the event" ? [invented] : []));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "a node that tells of a reverted payment that it succeeded, with invented logs wherever logs are listed",
    stopped: refused(503, "rpc_unavailable"),
    async run(stage) {
      const hash = await stage.send("buyer", stage.pay(stage.purchase, 26n * usdc));
      const honest = await receiptOf(stage, hash);
      const logs = inventPayment(stage, honest, 26n * usdc);
      stage.tampered.tell("eth_getTransactionReceipt", () => ({ ...honest, status: "0x1", logs }));
      listMore(stage, (listed) => (listed === "of the block" ? logs : logs.slice(0, 1)));
      return await stage.reconcile(stage.purchase, [hash]);
    },
  },
  {
    family: "receipt and logs",
    name: "one transaction with logs of several purchases: each of them is recorded",
    pays: false,
    stopped: harmless,
    async run(stage) {
      const batch = stage.payBatch([
        [stage.purchase, 10n * usdc],
        [stage.second, 5n * usdc],
      ]);
      const hash = await stage.succeed("buyer", batch);
      const answer = await stage.reconcile(stage.purchase, [hash]);
      const { affected_purchases } = parseReconciliation(answer);
      const again = parseReconciliation(await stage.reconcile(stage.second, [hash]));
      if (affected_purchases.length !== 2 || again.applied.length > 0)
        throw new Error("The second purchase was not recorded together with the first.");
      return answer;
    },
  },
  {
    family: "receipt and logs",
    name: "a log that is used twice: the second time nothing is applied",
    stopped: harmless,
    async run(stage) {
      const answer = await stage.reconcile(stage.purchase, [await stage.paid()]);
      const { applied, already_reconciled } = parseReconciliation(answer);
      if (applied.length !== 0 || already_reconciled.length !== 1) throw new Error("The log counted twice.");
      return answer;
    },
  },
  {
    family: "receipt and logs",
    name: "a reverted payment among good ones: none of them is recorded",
    stopped: refused(422, "transaction_reverted", "status", "log"),
    async run(stage) {
      const good = await stage.succeed("buyer", stage.pay(stage.purchase));
      const bad = await stage.send("buyer", stage.pay(stage.purchase, 99n * usdc));
      return await stage.reconcile(stage.purchase, [good, bad]);
    },
  },
];
