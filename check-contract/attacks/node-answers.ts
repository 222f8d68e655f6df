import { encodeAbiParameters, encodeEventTopics, type Hex, parseAbiParameters } from "viem";
import { z } from "zod";
import { testUsdcAbi } from "../../protocol/abi.generated.ts";
import { usdc } from "../../protocol/values/amount.ts";
import { hexSchema } from "../../relayer/node/node-schemas.ts";
import { attacksOf, harmless, mismatch, refused } from "../attack.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import type { FixtureAnswer } from "../fixture/fixture-service.ts";
import { paymentLog } from "./logs.ts";

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
  return await fixture.reconcileAfter(() =>
    fixture.tampered.change("eth_getTransactionReceipt", (answer) => change(rawReceipt.parse(answer))),
  );
}

/** Whether a log is the registrar's of a payment, which can come after that of a permit. */
const isPayment = ({ data }: Pick<RawLog, "data">) => data.length === 2 + 3 * 64;

function changePayment(receipt: RawReceipt, change: Partial<RawLog>): RawReceipt {
  return { ...receipt, logs: receipt.logs.map((log) => (isPayment(log) ? { ...log, ...change } : log)) };
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

/** Returns whether a request asks for logs by a block's hash, not by a contract's event. */
function isOfBlock(parameters: unknown): boolean {
  return JSON.stringify(parameters).includes("blockHash");
}

/** Reconciles a valid payment whose logs the node changes, in the transaction receipt and in the block alike. */
async function reconcileChangedLogs(
  fixture: ContractFixture,
  change: (logs: readonly RawLog[]) => RawLog[],
): Promise<FixtureAnswer> {
  fixture.tampered.change("eth_getLogs", (answer, parameters) =>
    isOfBlock(parameters) ? change(z.array(rawLog).parse(answer)) : answer,
  );
  return await reconcileChangedReceipt(fixture, (receipt) => ({ ...receipt, logs: change(receipt.logs) }));
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

/** A payment log with another sequence number; other logs stay as they are. */
function renumbered(data: Hex): Hex {
  return isPayment({ data }) ? `0x${data.slice(2, 65)}9${data.slice(66)}` : data;
}

const rawObject = z.looseObject({});

/** Reconciles a valid payment whose transaction the node changes. */
async function reconcileChangedTransaction(
  fixture: ContractFixture,
  change: { [field: string]: unknown },
): Promise<FixtureAnswer> {
  return await fixture.reconcileAfter(() =>
    fixture.tampered.change("eth_getTransactionByHash", (answer) => ({
      ...rawObject.parse(answer),
      ...change,
    })),
  );
}

/** Attacks by a node that gives another transaction receipt or other logs than the chain has. */
export const changedReceipts = attacksOf("transaction receipt and logs", [
  {
    name: "a node that duplicates a log",
    stopped: mismatch("canonical", "log"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => ({
        ...receipt,
        logs: [...receipt.logs, ...receipt.logs],
      })),
  },
  {
    name: "a node that omits a log",
    stopped: mismatch("canonical", "log"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => ({
        ...receipt,
        logs: receipt.logs.filter((log) => !isPayment(log)),
      })),
  },
  {
    name: "a node that reorders logs",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => ({
        ...receipt,
        logs: receipt.logs.toSorted((left, right) => Number(isPayment(left)) - Number(isPayment(right))),
      })),
  },
  {
    name: "a node that changes a field of a log that no check compares",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) =>
        changePayment(receipt, { data: paymentLog(fixture, 10n * usdc).data.replace(/.$/, "1") as Hex }),
      ),
  },
  {
    name: "a node that changes a log's topic",
    stopped: mismatch("canonical", "log"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => {
        const [signature = "0x", , ...rest] = receipt.logs.find(isPayment)?.topics ?? [];
        return changePayment(receipt, { topics: [signature, fixture.second.commitment.hash, ...rest] });
      }),
  },
  {
    name: "a log marked as removed in the transaction receipt",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => changePayment(receipt, { removed: true })),
  },
  {
    name: "a log marked as removed in the transaction receipt and the block",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedLogs(fixture, (logs) => logs.map((log) => ({ ...log, removed: true }))),
  },
  {
    name: "a transaction receipt with a log of another block",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) =>
        changePayment(receipt, { blockHash: fixture.purchase.commitment.hash }),
      ),
  },
  {
    name: "a transaction receipt of another transaction",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => ({
        ...receipt,
        transactionHash: fixture.purchase.commitment.hash,
      })),
  },
  {
    name: "a transaction receipt with another sender",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => ({
        ...receipt,
        from: fixture.address("stranger"),
      })),
  },
  {
    name: "a node that adds a payment log to the transaction receipt and the block",
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
    name: "a node that adds a log of an unrelated contract",
    stopped: mismatch("canonical"),
    run: async (fixture) =>
      await reconcileChangedReceipt(fixture, (receipt) => {
        const log = { address: fixture.address("stranger"), ...paymentLog(fixture, 10n * usdc) };
        return { ...receipt, logs: [...receipt.logs, invent(receipt, log)] };
      }),
  },
  {
    name: "a node that adds a payment to the purchase's logs",
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
    name: "a node that reports a reverted payment as successful, with forged logs in all responses",
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
]);

/** Attacks by a node that gives another transaction or another chain than there is. */
export const changedAnswers = attacksOf("chain", [
  {
    name: "a node that returns another sender: the sender is recovered from the signature",
    stopped: harmless,
    run: async (fixture) => await reconcileChangedTransaction(fixture, { from: fixture.address("stranger") }),
  },
  {
    name: "a node that returns another wallet's signature",
    stopped: mismatch("canonical", "wallet"),
    async run(fixture) {
      const theirs = await fixture.send("stranger", fixture.pay(fixture.purchase));
      const { r, s, yParity } = await fixture.client.getTransaction({ hash: theirs });
      return await reconcileChangedTransaction(fixture, { r, s, yParity: `0x${yParity}`, v: `0x${yParity}` });
    },
  },
  {
    name: "a node that returns other calldata",
    stopped: mismatch("canonical", "wallet", "log"),
    run: async (fixture) =>
      await reconcileChangedTransaction(fixture, { input: fixture.pay(fixture.purchase, 25n * usdc).data }),
  },
  {
    name: "a node that returns the calldata in uppercase: hex is compared without case",
    stopped: harmless,
    async run(fixture) {
      const { data } = fixture.pay(fixture.purchase);
      return await reconcileChangedTransaction(fixture, { input: `0x${data.slice(2).toUpperCase()}` });
    },
  },
  {
    name: "a node that returns another recipient",
    stopped: mismatch("canonical", "wallet", "contract"),
    run: async (fixture) => await reconcileChangedTransaction(fixture, { to: fixture.contracts.token }),
  },
  {
    name: "a node that returns an invalid transaction",
    stopped: mismatch("canonical", "wallet"),
    run: async (fixture) => await reconcileChangedTransaction(fixture, { r: `0x${"00".repeat(32)}` }),
  },
  {
    name: "a node that reports a reverted payment as successful",
    stopped: mismatch("log"),
    async run(fixture) {
      const hash = await fixture.send("buyer", fixture.pay(fixture.purchase, 26n * usdc));
      fixture.tampered.change("eth_getTransactionReceipt", (answer) => ({
        ...rawObject.parse(answer),
        status: "0x1",
      }));
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a node that lags behind the transaction's block",
    stopped: refused(409, "transaction_unconfirmed", "confirmations"),
    async run(fixture) {
      const { number } = await fixture.client.getBlock({ blockTag: "latest" });
      const hash = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      const before: unknown = await fixture.client.request({
        method: "eth_getBlockByNumber",
        params: [`0x${number.toString(16)}`, false],
      });
      fixture.tampered.change("eth_getBlockByNumber", (answer, parameters) =>
        Array.isArray(parameters) && parameters[0] === "latest" ? before : answer,
      );
      return await fixture.reconcile(fixture.purchase, [hash]);
    },
  },
  {
    name: "a node that changes a field of a log that no check compares, in the transaction receipt and the block",
    stopped: refused(503, "rpc_unavailable"),
    run: async (fixture) =>
      await reconcileChangedLogs(fixture, (logs) =>
        logs.map((log) => ({ ...log, data: renumbered(log.data) })),
      ),
  },
  {
    name: "a node whose logs contradict the contract's figures",
    stopped: refused(503, "rpc_unavailable"),
    run: async (fixture) =>
      await fixture.reconcileAfter(() => fixture.tampered.change("eth_getLogs", () => [])),
  },
]);
