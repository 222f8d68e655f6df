import { join } from "node:path";
import { type EIP1193RequestFn, type Hex, zeroAddress } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";
import { contractWalletReason } from "../../../protocol/binding/check-binding.ts";
import { mineBlocks } from "../../../sandbox/chain/clock/mining.ts";
import type { ChainNode } from "../../../sandbox/chain/start-chain.ts";
import { problemSchema } from "../../../server/schemas/problem.ts";
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

  /** Has the buyer run a contract's code, none for the zero address, by a transaction of a stranger (EIP-7702). */
  async function delegate(address: Hex): Promise<void> {
    const buyer = fixture.account("buyer");
    const chainId = fixture.sandbox.description.chain.chain_id;
    const nonce = await fixture.client.getTransactionCount(buyer);
    const signed = await buyer.signAuthorization?.({ address, chainId, nonce });
    if (signed === undefined) throw new Error("A local account signs authorizations.");
    await fixture.succeed("stranger", { to: fixture.address("stranger"), data: "0x", delegate: [signed] });
  }

  test.each<[string, (contract: Hex) => Promise<Hex>]>([
    ["by an account without code", async () => await pay()],
    [
      "by an account that still delegates to code",
      async (contract) => {
        await delegate(contract);
        return await pay();
      },
    ],
    [
      "by an account that has ended its delegation since",
      async (contract) => {
        await delegate(contract);
        const paid = await pay();
        await delegate(zeroAddress);
        return paid;
      },
    ],
    [
      "by an account that has delegated to code since",
      async (contract) => {
        const paid = await pay();
        await delegate(contract);
        return paid;
      },
    ],
  ])("%s is accepted", async (_, send) => {
    const paid = await send(await fixture.deploy("ContractWallet"));
    await mineBlocks(fixture.client, beyondMemory);
    expect((await fixture.reconcile(fixture.purchase, [paid])).status).toBe(200);
  });

  const pay = async () => await fixture.succeed("buyer", fixture.pay(fixture.purchase));

  test("of a wallet that has been made a contract since is refused", async () => {
    const paid = await pay();
    await mineBlocks(fixture.client, beyondMemory);
    await fixture.client.setCode({ address: fixture.address("buyer"), bytecode: "0x5f5ffd" });
    const { body, code } = await fixture.reconcile(fixture.purchase, [paid]);
    expect(code).toBe("binding_mismatch");
    const failed = problemSchema.parse(body).binding?.checks.filter(({ ok }) => !ok);
    expect(failed).toMatchObject([{ name: "wallet", actual: { reason: contractWalletReason } }]);
  });
});
