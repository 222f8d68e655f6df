import { type EIP1193RequestFn, encodeFunctionData, type Hex, numberToHex } from "viem";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { TamperedNode } from "../../../check-contract/fixture/tampered-node.ts";
import { testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import type { ChainNode } from "../../../sandbox/chain/start-chain.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { type Answer, problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

/** Between service and chain: holds one answer of the node while the chain changes. */
const tampered = new TamperedNode();
let kit: TestKit;
let merchant: Schema<"Merchant">;
let purchase: Schema<"Purchase">;
let payment: Hex;
/** Before the blocks that a test replaces. */
let beforePayment: Snapshot;

resetBeforeEach(async () => {
  const adaptChain = async (chain: ChainNode) => tampered.adapt(chain);
  kit = await TestKit.open({ seed: "moved-chain", adaptChain });
  merchant = await kit.fundedMerchant();
  purchase = await kit.activePurchase(merchant);
  return kit;
});

beforeEach(async () => {
  beforePayment = await kit.sandbox.snapshot();
  payment = await kit.pay(purchase);
});
afterEach(() => tampered.clear());

async function reconcile(...hashes: Hex[]): Promise<Answer> {
  const body = { transaction_hashes: hashes.length === 0 ? [payment] : hashes };
  return await kit.post(kit.path(`/purchases/${purchase.id}/reconcile`), body);
}

async function reconciled(...hashes: Hex[]): Promise<Schema<"Reconciliation">> {
  const answer = await reconcile(...hashes);
  expect(answer.status, answer.text).toBe(200);
  return JSON.parse(answer.text);
}

async function failedChecks(): Promise<string[]> {
  const answer = await reconcile();
  expect(answer.status, answer.text).toBe(422);
  return (problem(answer).binding?.checks ?? []).filter(({ ok }) => !ok).map(({ name }) => name);
}

async function codeAt(address: Hex): Promise<Hex> {
  return (await kit.sandbox.chain.client.getCode({ address })) ?? "0x";
}

test("a request sees a contract's code that a cheat has replaced since the last request, without a block", async () => {
  const { client, deployment } = kit.sandbox.chain;
  const { address } = deployment.registrar;
  const original = await codeAt(address);
  expect((await reconciled()).applied).toHaveLength(1);
  // One byte more, which no call reaches.
  await client.setCode({ address, bytecode: `${original}00` });
  expect(await failedChecks()).toEqual(["contract"]);
  await client.setCode({ address, bytecode: original });
  expect((await reconciled()).already_reconciled).toHaveLength(1);
});

test("a request sees a wallet's code that a cheat has set since the last request, without a block", async () => {
  const { client } = kit.sandbox.chain;
  expect((await reconciled()).applied).toHaveLength(1);
  await client.setCode({ address: purchase.buyer, bytecode: "0x00" });
  expect(await failedChecks()).toEqual(["wallet"]);
  await client.setCode({ address: purchase.buyer, bytecode: "0x" });
  expect((await reconciled()).already_reconciled).toHaveLength(1);
});

test("a request sees storage that a cheat has set since the last request, without a block", async () => {
  const { client, deployment } = kit.sandbox.chain;
  expect((await reconciled()).purchase.figures.approved).toBe("0");
  const { token, registrar } = deployment;
  await client.request<{ Method: string; Parameters: Hex[]; ReturnType: null }>({
    method: "anvil_setERC20Allowance",
    params: [purchase.buyer, registrar.address, token.address, numberToHex(7n)],
  });
  expect((await reconciled()).purchase.figures.approved).toBe("7");
});

test("a request sees that a reorg has put a transaction into another block since the last request", async () => {
  const first = await reconciled();
  const raw = await kit.rawTransaction(payment);
  await kit.reorg(1);
  expect(problem(await reconcile()).code).toBe("transaction_not_found");
  await kit.sandbox.chain.client.mine({ blocks: 1 });
  await kit.sandbox.chain.client.sendRawTransaction({ serializedTransaction: raw });
  await kit.wallet("buyer").receipt(payment);
  const again = await reconciled();
  expect(again.applied).toHaveLength(1);
  expect(again.reverted).toEqual(first.applied);
  expect(again.applied[0]?.block_hash).not.toBe(first.applied[0]?.block_hash);
});

test("a request sees that a restore has taken a transaction, and sees the one that has its height now", async () => {
  const [first] = (await reconciled()).applied;
  await beforePayment.restore();
  await kit.renew();
  const nothing = { applied: [], reverted: [], purchase: { figures: { approved: "0", paid: "0" } } };
  expect(await kit.reconcile(purchase)).toMatchObject(nothing);
  expect(problem(await reconcile()).code).toBe("transaction_not_found");
  await kit.act("buyer", "purchase", purchase.id, "approve", { amount: "7" });
  const other = await kit.act("buyer", "purchase", purchase.id, "pay", { amount: "7" });
  const { applied, reverted } = await reconciled(other);
  expect(reverted).toEqual([]);
  expect(applied).toMatchObject([
    { amount: "7", transaction_hash: other, block_number: first?.block_number },
  ]);
  expect(applied[0]?.block_hash).not.toBe(first?.block_hash);
});

test("a read sees that a restore has taken a transaction since the last request", async () => {
  expect((await kit.readPurchase(purchase)).figures.paid).toBe(purchase.amount);
  await beforePayment.restore();
  await kit.renew();
  expect((await kit.readPurchase(purchase)).figures).toMatchObject({ approved: "0", paid: "0" });
});

test("a request sees that a restore has taken a revocation since the last request", async () => {
  await kit.sandbox.wallets.merchant.revokeFunding(merchant);
  await expect(kit.createPurchase(merchant)).rejects.toThrow("revoked its enrollment");
  await beforePayment.restore();
  await kit.renew();
  expect(await kit.createPurchase(merchant)).toMatchObject({ status: "created" });
});

test("a request whose first reads were made before a block sees the block, also where the time of blocks is that of the wall clock", async () => {
  const asked = Promise.withResolvers<void>();
  const hold = Promise.withResolvers<void>();
  let holds = false;
  const adaptChain = async (chain: ChainNode) => {
    const { request } = chain.client;
    const held = async (call: { method: string; params?: unknown }) => {
      if (holds && call.method === "eth_getBlockByNumber") {
        asked.resolve();
        await hold.promise;
      }
      return await Reflect.apply(request, undefined, [call]);
    };
    return { ...chain, client: { ...chain.client, request: held as EIP1193RequestFn as typeof request } };
  };
  await using live = await TestKit.open({ mode: "live", seed: "moved", adaptChain });
  const active = await live.activePurchase();
  const { buyer } = live.sandbox.wallets;
  await buyer.approve(active);
  holds = true;
  const reconciling = live.reconcile(active);
  await asked.promise;
  await buyer.pay(active);
  hold.resolve();
  expect((await reconciling).applied).toHaveLength(1);
});

test("a read returns no figure of a block that the node makes meanwhile", async () => {
  const { client, deployment } = kit.sandbox.chain;
  const token = { address: deployment.token.address, abi: testUsdcAbi, functionName: "allowance" } as const;
  const args = [purchase.buyer, deployment.registrar.address] as const;
  const isAllowance = new Set([encodeFunctionData({ ...token, args })]);
  tampered.change("eth_call", async (answer, parameters) => {
    const [call] = z.tuple([z.object({ data: hexSchema }), z.unknown()]).parse(parameters);
    if (!isAllowance.delete(call.data)) return answer;
    // Anvil reads a call at the newest block from the state of the next one, if it has executed that and not yet added it.
    await kit.act("buyer", "purchase", purchase.id, "approve", { amount: "7" });
    return numberToHex(await client.readContract({ ...token, args }), { size: 32 });
  });
  await beforePayment.restore();
  await kit.renew();
  const { approved, as_of } = (await kit.readPurchase(purchase)).figures;
  expect(isAllowance).toEqual(new Set());
  const blockHash = as_of.block_hash as Hex;
  expect(approved).toBe((await client.readContract({ ...token, args, blockHash })).toString());
});

test("a read is of the newest block, also if another one was expected to be that", async () => {
  const { client } = kit.sandbox.chain;
  await beforePayment.restore();
  await kit.renew();
  let isMined = false;
  tampered.change("eth_getBlockByNumber", async (answer, parameters) => {
    if (isMined || !JSON.stringify(parameters).includes("latest")) return answer;
    isMined = true;
    await kit.act("buyer", "purchase", purchase.id, "approve", { amount: "7" });
    return await client.request({ method: "eth_getBlockByNumber", params: ["latest", false] });
  });
  const { figures } = await kit.readPurchase(purchase);
  const { hash } = await client.getBlock();
  expect(figures).toMatchObject({ approved: "7", as_of: { block_hash: hash } });
});

test("a read during which a reorg takes its block is of a block that is on the chain", async () => {
  let isGone = false;
  tampered.change("eth_getLogs", async (answer) => {
    if (!isGone) {
      isGone = true;
      await kit.reorg(1);
    }
    return answer;
  });
  const { figures } = await kit.readPurchase(purchase);
  const { hash } = await kit.sandbox.chain.client.getBlock();
  expect(figures).toMatchObject({ paid: "0", as_of: { block_hash: hash } });
});

test("a transaction that a reorg puts into another block while a request learns the newest one is seen in its new block", async () => {
  const { client } = kit.sandbox.chain;
  const raw = await kit.rawTransaction(payment);
  const isAsked = Promise.withResolvers<void>();
  tampered.change("eth_getTransactionReceipt", (answer) => {
    isAsked.resolve();
    return answer;
  });
  let isMoved = false;
  tampered.change("eth_getBlockByNumber", async (answer, parameters) => {
    if (isMoved || !JSON.stringify(parameters).includes("latest")) return answer;
    isMoved = true;
    await isAsked.promise;
    await kit.reorg(1);
    await client.sendRawTransaction({ serializedTransaction: raw });
    await kit.wallet("buyer").receipt(payment);
    return await client.request({ method: "eth_getBlockByNumber", params: ["latest", false] });
  });
  const { hash } = await client.getBlock();
  const [applied] = (await reconciled()).applied;
  expect(applied?.transaction_hash).toBe(payment);
  expect(applied?.block_hash).not.toBe(hash);
});

test("a transaction that is mined between two answers of the node is accepted: first it is not there, then its receipt is", async () => {
  let isMissing = true;
  tampered.change("eth_getTransactionByHash", (answer) => {
    if (!isMissing) return answer;
    isMissing = false;
    return null;
  });
  expect((await reconciled()).applied).toMatchObject([{ transaction_hash: payment }]);
  expect(isMissing).toBe(false);
});

/** Has the node answer one question for the newest block as it would have before that block. */
function readHeadEarly(): () => boolean {
  const { client } = kit.sandbox.chain;
  let isEarly = true;
  tampered.change("eth_getBlockByNumber", async (answer, parameters) => {
    if (!isEarly || !JSON.stringify(parameters).includes("latest")) return answer;
    isEarly = false;
    const number = (await client.getBlockNumber()) - 1n;
    return await client.request({ method: "eth_getBlockByNumber", params: [numberToHex(number), false] });
  });
  return () => isEarly;
}

test("a payment whose block comes after the newest one was read is accepted", async () => {
  const isEarly = readHeadEarly();
  expect((await reconciled()).applied).toMatchObject([{ transaction_hash: payment }]);
  expect(isEarly()).toBe(false);
});

test("a registration whose block comes after the newest one was read is accepted", async () => {
  const { id } = await kit.createPurchase(merchant);
  const transaction_hash = await kit.act("merchant", "purchase", id, "register");
  const isEarly = readHeadEarly();
  const registered = await kit.post(kit.path(`/purchases/${id}/registration`), { transaction_hash });
  expect(registered.status, registered.text).toBe(200);
  expect(isEarly()).toBe(false);
});

test("a transaction whose receipt the node has, and whose block it does not have, is not confirmed yet", async () => {
  const { client } = kit.sandbox.chain;
  const block = numberToHex(await client.getBlockNumber());
  await client.mine({ blocks: 1 });
  tampered.change("eth_getBlockByNumber", async (answer, parameters) =>
    JSON.stringify(parameters).includes(block) ? null : answer,
  );
  const answer = await reconcile();
  expect(answer.status, answer.text).toBe(409);
  expect(problem(answer)).toMatchObject({ code: "transaction_unconfirmed", retryable: true });
  tampered.clear();
  expect((await reconciled()).applied).toMatchObject([{ transaction_hash: payment }]);
});

test("a registration whose block comes after the newest one of a node that lags behind is not confirmed yet", async () => {
  const { client } = kit.sandbox.chain;
  const { id } = await kit.createPurchase(merchant);
  const before = numberToHex(await client.getBlockNumber());
  const transaction_hash = await kit.act("merchant", "purchase", id, "register");
  const early = await client.request({ method: "eth_getBlockByNumber", params: [before, false] });
  tampered.change("eth_getBlockByNumber", async (answer, parameters) =>
    JSON.stringify(parameters).includes("latest") ? early : answer,
  );
  const register = async () =>
    await kit.post(kit.path(`/purchases/${id}/registration`), { transaction_hash });
  const answer = await register();
  expect(answer.status, answer.text).toBe(409);
  expect(problem(answer)).toMatchObject({ code: "transaction_unconfirmed", confirmations: 0 });
  tampered.clear();
  expect((await register()).status).toBe(200);
});

test("an offer whose block comes after the newest one of a node that lags behind is answered as not confirmed", async () => {
  const { client } = kit.sandbox.chain;
  const { id, commitment } = await kit.createPurchase(merchant);
  const before = await client.request({ method: "eth_getBlockByNumber", params: ["latest", false] });
  tampered.change("eth_getBlockByNumber", async (answer, parameters) =>
    JSON.stringify(parameters).includes("latest") ? before : answer,
  );
  const activate = async () =>
    await kit.post(kit.path(`/purchases/${id}/activate`), { commitment_hash: commitment.hash });
  const answer = await activate();
  expect(answer.status, answer.text).toBe(202);
  tampered.clear();
  expect((await activate()).status).toBe(200);
});

test("a request that names several transactions sees each of them", async () => {
  await beforePayment.restore();
  await kit.renew();
  await kit.act("buyer", "purchase", purchase.id, "approve");
  const hashes = [
    await kit.act("buyer", "purchase", purchase.id, "pay", { amount: "7" }),
    await kit.act("buyer", "purchase", purchase.id, "pay", { amount: "8" }),
  ];
  expect((await reconciled(...hashes)).applied).toMatchObject([{ amount: "7" }, { amount: "8" }]);
});

/** The answers of the node that a request waits for. */
const methods = [
  "eth_call",
  "eth_getLogs",
  "eth_getCode",
  "eth_getBlockByNumber",
  "eth_getTransactionReceipt",
  "eth_getTransactionByHash",
];

test("a payment that a reorg takes during the request is not recorded, wherever in the request that happens", async () => {
  const tries: { isRecorded: boolean; isSeen: boolean }[] = [];
  let number = 0;
  let answers = 0;
  do {
    number += 1;
    await beforePayment.restore();
    await kit.renew();
    const paid = await kit.pay(purchase);
    const block = numberToHex(await kit.sandbox.chain.client.getBlockNumber());
    answers = 0;
    // Whether the request asks once more, after the reorg, which block the payment's height has. The watch of the
    // chain's heads asks other things at the same time.
    let [isReplaced, isSeen] = [false, false];
    for (const method of methods)
      tampered.change(method, async (answer, parameters) => {
        answers += 1;
        const isAsked = method === "eth_getBlockByNumber" && JSON.stringify(parameters).includes(block);
        if (isReplaced && isAsked) isSeen = true;
        if (answers === number) {
          await kit.reorg(1);
          isReplaced = true;
        }
        return answer;
      });
    await reconcile(paid);
    tampered.clear();
    const { receipts } = (await kit.sandbox.store.get("purchases", purchase.id))?.value ?? { receipts: [] };
    tries.push({ isRecorded: receipts.length > 0, isSeen });
  } while (answers >= number);
  expect(tries.filter(({ isRecorded, isSeen }) => isRecorded === isSeen)).toEqual([]);
  expect(number).toBeGreaterThan(10);
});
