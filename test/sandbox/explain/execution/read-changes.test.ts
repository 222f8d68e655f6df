import { encodeFunctionData, type Hex, numberToHex } from "viem";
import { expect, test } from "vitest";
import { purchaseRegistrarAbi } from "../../../../protocol/abi.generated.ts";
import { contractArtifactFile } from "../../../../sandbox/chain/contracts.ts";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { type Explanation, explanationSchema } from "../../../../sandbox/explain/explanation.ts";
import {
  renderCallExplanation,
  renderExplanation,
} from "../../../../testkit/explanations/render-explanation.ts";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";

/** Asks for a transaction as the explorer does. */
async function explain({ description }: Sandbox, hash: string): Promise<Explanation> {
  const response = await fetch(`${description.urls.control}/explain/${hash}`);
  return explanationSchema.parse(await response.json());
}

function namesOf({ changes }: Explanation) {
  return changes?.storage.map(({ contract, name, before, after }) => [contract, name, before, after]);
}

/** The buyer's payment in full, which is not sent. */
function payment({ description, wallets }: Sandbox, commitment: Hex) {
  const args = [commitment, 25_000_000n] as const;
  const data = encodeFunctionData({ abi: purchaseRegistrarAbi, functionName: "pay", args });
  return { from: wallets.buyer.address, to: description.contracts.registrar, data };
}

function tokens({ changes }: Explanation) {
  return changes?.balances
    .filter(({ asset }) => asset === "USDC")
    .map(({ name, change }) => [name, change])
    .toSorted();
}

test("a payment shows each changed balance by its holder, and each changed part of a slot by its name", async () => {
  const sandbox = await freshSandbox();
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const { buyer } = sandbox.wallets;
  await buyer.approve(purchase);
  const { transaction_hash } = await buyer.pay(purchase, { amount: 10_000_000n });
  const explanation = await explain(sandbox, transaction_hash);
  expect(tokens(explanation)).toEqual([
    ["buyer", "-10000000"],
    ["merchant", "10000000"],
  ]);
  expect(namesOf(explanation)).toEqual([
    ["the token contract", "allowance[buyer][the registrar contract]", "25000000", "15000000"],
    ["the token contract", "_balances[merchant]", "1000000000000", "1000010000000"],
    ["the token contract", "_balances[buyer]", "1000000000000", "999990000000"],
    ["the registrar contract", `_purchases[${purchase.id}].paid`, "0", "10000000"],
    ["the registrar contract", `_purchases[${purchase.id}].sequence`, "1", "2"],
    ["the registrar contract", "_programs[prg_demo].openOffers", "25000000", "15000000"],
  ]);
  const fee = explanation.changes?.balances.find(({ asset, name }) => asset === "ETH" && name === "buyer");
  expect(fee?.change).toBe(`-${explanation.transaction?.fee_wei}`);
});

test("an enrollment shows each member of its record, whose slots the contract packs", async () => {
  const sandbox = await freshSandbox();
  const { merchant } = await sandbox.given.merchant({ state: "enrolled" });
  const explanation = await explain(sandbox, merchant.enrollment.confirmed?.transaction_hash ?? "");
  const changed = new Map(explanation.changes?.storage.map(({ name, after }) => [name, after]));
  expect(Object.fromEntries(changed)).toEqual({
    _fundingCount: "1",
    [`_fundingOf[prg_demo][${merchant.id}]`]: "1",
    "_active[prg_demo][merchant]": "1",
    "_fundings[1].wallet": merchant.wallet,
    "_fundings[1].validUntil": String(merchant.funding.valid_until),
    "_fundings[1].token": sandbox.description.contracts.token,
    "_fundings[1].cap": merchant.funding.cap,
    "_fundings[1].program": expect.stringMatching(/^0x[0-9a-f]{64}$/),
    "_fundings[1].merchantRef": expect.stringMatching(/^0x[0-9a-f]{64}$/),
    "_fundings[1].authorization": merchant.funding_authorization.hash,
  });
});

test("every transaction of a lifecycle has only slots with names, and balances that add up to the change of the supply", async () => {
  // A node that was restored often has dropped the states of its first blocks.
  await using sandbox = await createSandbox();
  const { client } = sandbox.chain;
  await sandbox.given.purchase({ state: "refunded", route: "merchant_direct" });
  await sandbox.given.purchase({ state: "paid", permit: true });
  const last = Number(await client.getBlockNumber());
  let slots = 0;
  for (let number = 1; number <= last; number += 1) {
    const { transactions } = await client.getBlock({ blockNumber: BigInt(number) });
    for (const hash of transactions) {
      const { changes } = await explain(sandbox, hash);
      slots += changes?.storage.length ?? 0;
      expect(changes?.storage.filter(({ name }) => name === null)).toEqual([]);
      const moved = (changes?.balances ?? []).filter(({ asset }) => asset === "USDC");
      const supply = changes?.storage.find(({ name }) => name === "totalSupply");
      expect(moved.reduce((sum, { change }) => sum + BigInt(change), 0n)).toBe(
        BigInt(String(supply?.after ?? 0)) - BigInt(String(supply?.before ?? 0)),
      );
    }
  }
  expect(slots).toBeGreaterThan(40);
});

test("a reverted transaction changes only the ether of its sender and of the block's fee recipient", async () => {
  const sandbox = await freshSandbox();
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const { transaction_hash } = await sandbox.wallets.stranger.pay(purchase);
  const { changes } = await explain(sandbox, transaction_hash);
  expect(changes?.storage).toEqual([]);
  expect(changes?.balances.map(({ asset, name }) => [asset, name])).toEqual([
    ["ETH", null],
    ["ETH", "stranger"],
  ]);
});

test("a transaction that the chain does not know has no changes", async () => {
  const sandbox = await freshSandbox();
  expect((await explain(sandbox, `0x${"12".repeat(32)}`)).changes).toBeNull();
});

test("a call that is not sent shows the changes that its transaction then makes, apart from the fee", async () => {
  const sandbox = await freshSandbox();
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const { buyer } = sandbox.wallets;
  await buyer.approve(purchase);
  const call = payment(sandbox, purchase.commitment.hash);
  const simulated = await sandbox.explain({ call });
  const { transaction_hash } = await buyer.pay(purchase);
  const mined = await sandbox.explain(transaction_hash);
  expect(simulated.changes?.storage.length).toBeGreaterThan(3);
  expect(simulated.changes).toEqual({
    storage: mined.changes?.storage,
    balances: mined.changes?.balances.filter(({ asset }) => asset === "USDC"),
  });
  const printed = renderCallExplanation(simulated, false);
  expect(printed).toContain("\nBalances\n  merchant (0x");
  expect(printed).toContain(
    `\n  the registrar contract: _purchases[${purchase.id}].paid from 0 to 25000000\n`,
  );
});

test("a call that sends ether shows both balances, and a call that reverts shows no change", async () => {
  const sandbox = await freshSandbox();
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const { buyer, stranger } = sandbox.wallets;
  const sends = { from: buyer.address, to: stranger.address, value: 7n };
  const { changes } = await sandbox.explain({ call: sends });
  expect(changes?.balances.map(({ asset, name, change }) => [asset, name, change]).toSorted()).toEqual([
    ["ETH", "buyer", "-7"],
    ["ETH", "stranger", "7"],
  ]);
  const reverts = payment(sandbox, purchase.commitment.hash);
  expect(await sandbox.explain({ call: reverts })).toMatchObject({
    accepted: false,
    changes: { balances: [], storage: [] },
  });
});

test("the storage of a registrar contract of the user is shown as slots in hex, with their values on the chain", async () => {
  const artifact = contractArtifactFile("PurchaseRegistrar");
  await using sandbox = await createSandbox({ seed: "changes", contracts: { registrar: { artifact } } });
  const { payments } = await sandbox.given.purchase({ state: "paid" });
  const hash = payments[0]?.transaction_hash as Hex;
  const explanation = await explain(sandbox, hash);
  const { client } = sandbox.chain;
  const { blockNumber } = await client.getTransactionReceipt({ hash });
  const own =
    explanation.changes?.storage.filter(({ contract }) => contract === "the registrar contract") ?? [];
  expect(own.length).toBeGreaterThan(1);
  for (const { address, slot, name, before, after } of own) {
    expect(name).toBeNull();
    const read = async (number: bigint) => await client.getStorageAt({ address, slot, blockNumber: number });
    expect([before, after]).toEqual([await read(blockNumber - 1n), await read(blockNumber)]);
  }
  expect(tokens(explanation)).toEqual([
    ["buyer", "-25000000"],
    ["merchant", "25000000"],
  ]);
});

test("a terminal shows balances and storage below the call tree", async () => {
  const sandbox = await freshSandbox();
  const { purchase, payments } = await sandbox.given.purchase({ state: "paid" });
  const lines = renderExplanation(await explain(sandbox, payments[0]?.transaction_hash ?? ""), false).split(
    "\n",
  );
  const { address } = sandbox.wallets.buyer;
  expect(lines).toContain(`  buyer (${address}): -25 USDC (-25000000), from 1000000 to 999975`);
  expect(lines).toContain(`  the registrar contract: _purchases[${purchase.id}].paid from 0 to 25000000`);
  const order = ["Calls", "Balances", "Storage"].map((title) => lines.indexOf(title));
  expect(order).toEqual(order.toSorted((left, right) => left - right));
  expect(order).not.toContain(-1);
});

test("a transaction with very many inner calls is explained without them, and the chain responds", {
  tags: "thorough",
}, async () => {
  const sandbox = await freshSandbox();
  const { client } = sandbox.chain;
  const contract = "0x00000000000000000000000000000000000a0002";
  // Calls the identity precompile as often as its calldata says.
  const code = "0x6000355b8015601f576000600060006000600060045af150600190036003565b00";
  await client.request({ method: "anvil_setCode", params: [contract, code] } as never);
  const call = {
    from: sandbox.wallets.buyer.address,
    to: contract,
    data: numberToHex(150_000, { size: 32 }),
  } as const;
  const gas = numberToHex(29_000_000);
  const hash = await client.request({ method: "eth_sendTransaction", params: [{ ...call, gas }] } as never);
  const left = { inner_calls_left_out: true, trace: { calls: [] }, changes: { storage: [] } };
  expect(await explain(sandbox, hash)).toMatchObject(left);
  expect(await sandbox.explain({ call })).toMatchObject(left);
});
