import { Wallet } from "ethers";
import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";

const hex = z.templateLiteral(["0x", z.string()]);
let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterEach(async () => await fixture.reset());
afterAll(async () => await fixture.close());

/** Sends a payment of the buyer's that ethers signed, in a type of its own, and reconciles it. */
async function pay(fields: object): Promise<{ hash: Hex; type: string }> {
  const { to, data } = fixture.pay(fixture.purchase);
  const address = fixture.address("buyer");
  const signer = new Wallet(fixture.sandbox.description.wallets["buyer"]?.private_key ?? "");
  const nonce = await fixture.client.getTransactionCount({ address });
  const raw = hex.parse(await signer.signTransaction({ to, data, nonce, gasLimit: 500_000n, ...fields }));
  const hash = await fixture.client.sendRawTransaction({ serializedTransaction: raw });
  await fixture.receipt(hash);
  return { hash, type: (await fixture.client.getTransaction({ hash })).type };
}

const gasPrice = 2_000_000_000n;
const fees = { maxFeePerGas: gasPrice, maxPriorityFeePerGas: 1_000_000_000n };
const accessList = [
  {
    address: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
    storageKeys: [`0x${"00".repeat(32)}`, `0x${"11".repeat(32)}`],
  },
  { address: "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512", storageKeys: [] },
];

test.each([
  ["a legacy transaction (EIP-155)", "legacy", { type: 0, gasPrice, chainId: 31_337 }],
  ["a legacy transaction without a chain id", "legacy", { type: 0, gasPrice }],
  ["an access list transaction (EIP-2930) without a list", "eip2930", { type: 1, gasPrice, chainId: 31_337 }],
  ["an access list transaction (EIP-2930)", "eip2930", { type: 1, gasPrice, chainId: 31_337, accessList }],
  ["a dynamic fee transaction (EIP-1559)", "eip1559", { type: 2, ...fees, chainId: 31_337 }],
  [
    "a dynamic fee transaction with an access list",
    "eip1559",
    { type: 2, ...fees, chainId: 31_337, accessList },
  ],
])("a payment in %s is accepted", async (_, type, fields) => {
  const sent = await pay(fields);
  expect(sent.type).toBe(type);
  const answer = await fixture.reconcile(fixture.purchase, [sent.hash]);
  expect(answer).toMatchObject({ status: 200, code: null, wrote: true });
  expect(answer.body).toMatchObject({ applied: [{ transaction_hash: sent.hash, amount: "10000000" }] });
});
