import { join } from "node:path";
import { type EIP1193RequestFn, type Hex, zeroAddress } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";
import { mineBlocks } from "../../../sandbox/chain/clock/mining.ts";
import type { ChainNode } from "../../../sandbox/chain/start-chain.ts";
import { problemSchema } from "../../../server/api/schemas/problem.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

// A kept chain has the states of its latest 128 blocks; one in memory has the states of 500.
const beyondKept = 140;
const beyondMemory = 520;

test("every step is confirmed by a transaction of a block whose state the node has dropped", async () => {
  const dataDirectory = join(await temporaryFolder(), "data");
  await using kit = await TestKit.open({ seed: "old-blocks", dataDirectory });
  const { client } = kit.sandbox.chain;
  const bury = async () => await mineBlocks(client, beyondKept);

  const { id, enrollment } = await kit.createMerchant();
  const wallet = kit.wallet("merchant");
  const { transaction_hash: transactionHash } = await wallet.send(enrollment.transaction);
  const signature = await wallet.signMessage(enrollment.message);
  await bury();
  const enrolled = { transaction_hash: transactionHash, signature };
  expect((await kit.post(kit.path(`/merchants/${id}/enrollment`), enrolled)).status).toBe(200);

  const purchase = await kit.createPurchase({ id });
  const registered = await kit.act("merchant", "purchase", purchase.id, "register");
  await bury();
  const registration = kit.path(`/purchases/${purchase.id}/registration`);
  expect((await kit.post(registration, { transaction_hash: registered })).status).toBe(200);

  const paid = await kit.pay(purchase);
  await bury();
  const pay = { action: "pay", transaction_hash: paid };
  const page = `/wallet/${kit.program}/purchase/${purchase.id}`;
  expect((await kit.post(page, pay)).status).toBe(200);
  expect((await kit.reconcile(purchase)).purchase).toMatchObject({ payment_status: "paid" });

  const claim = await kit.claimBody(purchase);
  await bury();
  expect((await kit.post(kit.path(`/purchases/${purchase.id}/claims`), claim)).status).toBe(201);

  const { control } = kit.sandbox.description.urls;
  for (const hash of [transactionHash, registered, paid, claim.transaction_hash]) {
    const answer = await fetch(`${control}/explain/${hash}`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ accepted: true });
  }
});

test("a request that reads while blocks are made reads at a newer block, if the node has dropped the state of the first one", async () => {
  let makesBlocks = false;
  const adaptChain = async (chain: ChainNode): Promise<ChainNode> => {
    const { request: forward } = chain.client;
    const request = async (call: { method: string; params?: unknown }): Promise<unknown> => {
      const answer = await Reflect.apply(forward, undefined, [call]);
      const [block]: unknown[] = Array.isArray(call.params) ? call.params : [];
      if (makesBlocks && call.method === "eth_getBlockByNumber" && block === "latest") {
        makesBlocks = false;
        await chain.client.mine({ blocks: 2 });
      }
      return answer;
    };
    const client = Object.create(chain.client);
    // The type of a request function promises an answer for each method, which one that makes blocks is not bound by.
    client.request = request as EIP1193RequestFn;
    return { ...chain, client };
  };
  const dataDirectory = join(await temporaryFolder(), "data");
  await using kit = await TestKit.open({ seed: "dropped-state", dataDirectory, adaptChain });
  const merchant = await kit.fundedMerchant();
  const { id, buyer, beneficiary } = await kit.activePurchase(merchant);
  const { sandbox } = kit;
  const snapshot = await sandbox.snapshot();
  // Anvil counts the state of the snapshot's block again each time, and drops the one state that it has of it with the first.
  for (let restores = 0; restores < beyondKept; restores += 1) {
    await sandbox.chain.client.mine({ blocks: 1 });
    await snapshot.restore();
  }
  const creation = { merchant_id: merchant.id, buyer, beneficiary, amount: "1000" };
  const requests = [
    async () => await kit.get(kit.path("")),
    async () => await kit.get(kit.path(`/purchases/${id}`)),
    async () => await kit.get(`/wallet/${kit.program}/purchase/${id}`),
    async () => await kit.get(`/wallet/${kit.program}/merchant/${merchant.id}`),
    async () => await kit.get(kit.path("/transactions")),
    async () => await kit.post(kit.path("/purchases"), creation),
    async () => await kit.post(kit.path(`/purchases/${id}/reconcile`), { transaction_hashes: [] }),
  ];
  for (const request of requests) {
    await snapshot.restore();
    await kit.renew();
    makesBlocks = true;
    const { status, text } = await request();
    expect(status, text).toBeLessThan(500);
  }
});

describe("a payment of a block whose state the node has dropped", () => {
  let fixture: ContractFixture;
  beforeAll(async () => {
    fixture = await ContractFixture.open();
  });
  afterEach(async () => await fixture.reset());
  afterAll(async () => await fixture.close());

  const payer = () => fixture.address("buyer");

  /** Has a stranger send what the buyer signs to run code, or none, with the nonce that it counts with. */
  async function delegation(code: Hex, nonce: number): Promise<Hex> {
    const stranger = fixture.address("stranger");
    const chainId = fixture.sandbox.description.chain.chain_id;
    const signed = await fixture.account("buyer").signAuthorization?.({ address: code, chainId, nonce });
    if (signed === undefined) throw new Error("A local account signs authorizations.");
    return await fixture.submit("stranger", { to: stranger, data: "0x", delegate: [signed] });
  }

  async function delegate(code: Hex): Promise<void> {
    const hash = await delegation(code, await fixture.client.getTransactionCount({ address: payer() }));
    expect((await fixture.receipt(hash)).status).toBe("success");
  }

  const since =
    "The bound wallet has signed a delegation (EIP-7702) after this block, whose state the node no longer has, so its code at " +
    "the block is unknown. Send a new transaction.";

  async function expectWallet(paid: Hex, reason: string): Promise<void> {
    const { body, code } = await fixture.reconcile(fixture.purchase, [paid]);
    expect(code).toBe("binding_mismatch");
    const failed = problemSchema.parse(body).binding?.checks.filter(({ ok }) => !ok);
    expect(failed).toMatchObject([{ name: "wallet", actual: { address: fixture.address("buyer"), reason } }]);
  }

  test("is accepted from an account without code that signed no delegation", async () => {
    const paid = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
    await mineBlocks(fixture.client, beyondMemory);
    expect((await fixture.reconcile(fixture.purchase, [paid])).status).toBe(200);
  });

  test("is refused when its sender ran delegated code then and has ended that since", async () => {
    await delegate(await fixture.deploy("ContractWallet"));
    const paid = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
    await delegate(zeroAddress);
    await mineBlocks(fixture.client, beyondMemory);
    await expectWallet(paid, since);
  });

  // The blocks since are read in pages of 128.
  test.each([128, 4 * 128])(
    "is refused when its sender has signed a delegation %i blocks later",
    async (later) => {
      const paid = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
      await mineBlocks(fixture.client, later - 1);
      await delegate(zeroAddress);
      await mineBlocks(fixture.client, Math.max(0, beyondMemory - 10 - later));
      await expectWallet(paid, since);
    },
  );

  test("is accepted when a delegation of its sender ended in its own block", async () => {
    await delegate(await fixture.deploy("ContractWallet"));
    const nonce = await fixture.client.getTransactionCount({ address: payer() });
    await fixture.client.setAutomine(false);
    const paid = await fixture.submit("buyer", fixture.pay(fixture.purchase));
    await delegation(zeroAddress, nonce + 1);
    await fixture.client.mine({ blocks: 1 });
    await fixture.client.setAutomine(true);
    const [payment, code] = [await fixture.receipt(paid), await fixture.client.getCode({ address: payer() })];
    expect([payment.status, code]).toEqual(["success", undefined]);
    await mineBlocks(fixture.client, beyondMemory);
    expect((await fixture.reconcile(fixture.purchase, [paid])).status).toBe(200);
  });

  test("is refused when its sender still runs the delegated code", async () => {
    await delegate(await fixture.deploy("ContractWallet"));
    const paid = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
    await mineBlocks(fixture.client, beyondMemory);
    await expectWallet(
      paid,
      "The bound wallet delegates to code (EIP-7702), so other accounts can act as it. End the delegation and send a new transaction.",
    );
  });

  test("is accepted when another account has delegated since, or its sender had ended its delegation before", async () => {
    await delegate(await fixture.deploy("ContractWallet"));
    await delegate(zeroAddress);
    const paid = await fixture.succeed("buyer", fixture.pay(fixture.purchase));
    const stranger = fixture.account("stranger");
    const nonce = (await fixture.client.getTransactionCount({ address: stranger.address })) + 1;
    const chainId = fixture.sandbox.description.chain.chain_id;
    const signed = await stranger.signAuthorization?.({ address: zeroAddress, chainId, nonce });
    if (signed === undefined) throw new Error("A local account signs authorizations.");
    await fixture.succeed("stranger", { to: stranger.address, data: "0x", delegate: [signed] });
    await mineBlocks(fixture.client, beyondMemory);
    expect((await fixture.reconcile(fixture.purchase, [paid])).status).toBe(200);
  });
});
