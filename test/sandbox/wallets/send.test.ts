import type { Hex } from "viem";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;
let before: Snapshot;
beforeAll(async () => {
  sandbox = await freshSandbox();
  before = await sandbox.snapshot();
});
beforeEach(async () => await before.restore());
afterEach(() => {
  vi.restoreAllMocks();
});

/** A transaction that costs little and changes nothing. */
const transaction = () => ({ to: sandbox.wallets.buyer.address, data: "0x" }) as const;

/** Returns the methods of the messages to Anvil, one list for each message, that are sent from now on. */
function watchMessages(): () => string[][] {
  const sent = vi.spyOn(WebSocket.prototype, "send");
  return () =>
    sent.mock.calls.map(([message]) =>
      JSON.parse(String(message)).map(({ method }: { method: string }) => method),
    );
}

/** Returns the methods that sent a transaction. */
function sending(messages: string[][]): string[] {
  return messages.flat().filter((method) => method.startsWith("eth_sendRaw"));
}

test("a transaction takes two messages: what is known about the next one, then the transaction with its transaction receipt", async () => {
  const messages = watchMessages();
  const { transaction_hash, receipt } = await sandbox.wallets.buyer.send(transaction());
  expect(sending(messages())).toEqual(["eth_sendRawTransactionSync"]);
  expect(messages().flat()).not.toContain("eth_getTransactionReceipt");
  const mined = await sandbox.chain.client.getTransactionReceipt({ hash: transaction_hash });
  expect(receipt).toEqual(mined);
  expect(mined.blockNumber).toBe(await sandbox.chain.client.getBlockNumber());
});

test("a transaction without data transfers its value", async () => {
  const { buyer, stranger } = sandbox.wallets;
  const balance = async () => await sandbox.chain.client.getBalance({ address: stranger.address });
  const old = await balance();
  const sent = { to: stranger.address, value: "5" };
  const { transaction_hash, receipt } = await buyer.send(sent);
  expect(receipt.status).toBe("success");
  expect((await sandbox.chain.client.getTransaction({ hash: transaction_hash })).input).toBe("0x");
  await sandbox.chain.client.waitForTransactionReceipt({ hash: await buyer.submit(sent) });
  expect((await balance()) - old).toBe(10n);
});

test("a transaction has the gas that much calldata needs", async () => {
  const data = `0x${"ff".repeat(45_000)}` as const;
  const { receipt } = await sandbox.wallets.buyer.send({ to: sandbox.wallets.stranger.address, data });
  expect(receipt.status).toBe("success");
});

test("transactions of several wallets at once, and of one wallet, are all mined", async () => {
  const { buyer, merchant, stranger } = sandbox.wallets;
  const sent = await Promise.all(
    [buyer, merchant, stranger, buyer, buyer].map(async (wallet) => await wallet.send(transaction())),
  );
  expect(new Set(sent.map(({ transaction_hash }) => transaction_hash)).size).toBe(5);
  for (const { receipt } of sent) expect(receipt.status).toBe("success");
});

test("a transaction whose predecessor a reorg removes before it arrives is dropped, and the wallet's next one is mined", async () => {
  const { client } = sandbox.chain;
  const { buyer } = sandbox.wallets;
  await buyer.send(transaction());
  // Anvil's pool may still have it, and a wallet that finds one there sends with a call that a reorg waits for.
  await expect.poll(async () => await client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
  const [signed, arrives] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { send } = WebSocket.prototype;
  vi.spyOn(WebSocket.prototype, "send").mockImplementation(function (this: WebSocket, message) {
    if (!String(message).includes("eth_sendRawTransactionSync")) return Reflect.apply(send, this, [message]);
    signed.resolve();
    void arrives.promise.then(() => Reflect.apply(send, this, [message]));
  });
  const second = buyer.send(transaction());
  await signed.promise;
  await client.request({ method: "anvil_reorg", params: [1, []] });
  vi.restoreAllMocks();
  arrives.resolve();
  await expect(second).rejects.toMatchObject({
    code: "transaction_dropped",
    message: expect.stringContaining("cannot be mined, because a reorg or a cheat removed a transaction of"),
  });
  expect(await client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
  expect((await buyer.send(transaction())).receipt.status).toBe("success");
});

test("a reorg does not wait for a transaction that cannot be mined", async () => {
  const { client } = sandbox.chain;
  const { buyer } = sandbox.wallets;
  const sends = vi.spyOn(WebSocket.prototype, "send");
  await buyer.send(transaction());
  await buyer.send(transaction());
  const [sync] = sends.mock.calls
    .flatMap(([message]) => String(message).match(/0x02f8[0-9a-f]+/) ?? [])
    .slice(-1);
  if (sync === undefined) throw new Error("The wallet has sent a transaction.");
  await before.restore();
  // Its nonce is that of the second one, and there is no first one.
  const waiting = client.sendRawTransactionSync({ serializedTransaction: sync as Hex });
  waiting.catch(() => undefined);
  await expect.poll(async () => (await client.getTxpoolStatus()).queued).toBe(1);
  await client.mine({ blocks: 1 });
  const reorg = client.request({ method: "anvil_reorg", params: [1, []] }).then(() => "reorg");
  const late = waiting.then(
    () => "the transaction",
    () => "the transaction",
  );
  expect(await Promise.race([late, reorg])).toBe("reorg");
});

describe("a transaction that is not mined at once", () => {
  test("while mining is paused, is sent without waiting for its block, and has its receipt once there is one", async () => {
    const { client } = sandbox.chain;
    await client.setAutomine(false);
    const messages = watchMessages();
    const sent = sandbox.wallets.buyer.send(transaction());
    await expect.poll(async () => (await client.getTxpoolStatus()).pending).toBe(1);
    expect(sending(messages())).toEqual(["eth_sendRawTransaction"]);
    await client.mine({ blocks: 1 });
    const { receipt } = await sent;
    expect(receipt.blockNumber).toBe(await client.getBlockNumber());
  });

  describe("because mining is switched off at the moment at which it is sent", () => {
    /** Has Anvil stop mining before it gets the next transactions that it would mine at once. */
    function stopMiningBeforeSending(): void {
      const { send } = WebSocket.prototype;
      vi.spyOn(WebSocket.prototype, "send").mockImplementation(function (
        this: WebSocket,
        ...sent: unknown[]
      ) {
        const pass = () => Reflect.apply(send, this, sent);
        if (!String(sent[0]).includes("eth_sendRawTransactionSync")) return pass();
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_setAutomine", params: [false] });
        const headers = { "Content-Type": "application/json" };
        void fetch(sandbox.chain.anvil.url, { method: "POST", headers, body }).then(pass);
      });
    }

    test("is found when it is mined, and nothing else waits for it", async () => {
      stopMiningBeforeSending();
      const { client } = sandbox.chain;
      const sent = [sandbox.wallets.buyer, sandbox.wallets.merchant, sandbox.wallets.stranger].map(
        async (wallet) => await wallet.send(transaction()),
      );
      await expect.poll(async () => (await client.getTxpoolStatus()).pending).toBe(3);
      await client.mine({ blocks: 1 });
      for (const { receipt } of await Promise.all(sent))
        expect(receipt.blockNumber).toBe(await client.getBlockNumber());
    });

    test("is dropped by a restore, which need not wait for it", async () => {
      stopMiningBeforeSending();
      const { buyer, merchant, other_buyer, other_merchant, stranger } = sandbox.wallets;
      const sent = [buyer, merchant, other_buyer, other_merchant, stranger].map(
        async (wallet) => await wallet.send(transaction()),
      );
      const dropped = Promise.all(
        sent.map(async (one) => await expect(one).rejects.toMatchObject({ code: "transaction_dropped" })),
      );
      await expect.poll(async () => (await sandbox.chain.client.getTxpoolStatus()).pending).toBe(5);
      await before.restore();
      await dropped;
    });
  });

  test.each([
    ["because the next block costs more than it pays", "anvil_setNextBlockBaseFeePerGas", "0x77359401"],
    ["because the next block has no room for it", "evm_setBlockGasLimit", "0xf423f"],
  ])("%s, is sent without waiting for its block", async (_, method, param) => {
    await sandbox.chain.client.request({ method, params: [param] } as never);
    const messages = watchMessages();
    await sandbox.wallets.buyer.submitOrMine(transaction()).catch(() => undefined);
    expect(sending(messages())).toEqual(["eth_sendRawTransaction"]);
  });
});

test("a wallet that is not there is refused with the one that was meant, or with all", () => {
  const wallets: { readonly [name: string]: unknown } = sandbox.wallets;
  expect(() => wallets["byuer"]).toThrow("There is no wallet byuer. Did you mean buyer?");
  expect(() => wallets["otherBuyer"]).toThrow("There is no wallet otherBuyer. Did you mean other_buyer?");
  expect(() => wallets["alice"]).toThrow(
    "There is no wallet alice. Use deployer, merchant, buyer, beneficiary, stranger, other_merchant or other_buyer.",
  );
  expect(Object.keys(wallets)).toContain("buyer");
  expect(Object.is(wallets["then"], undefined)).toBe(true);
});
