import { expect, test } from "vitest";
import { Liar } from "../../sandbox/check-contract/liar.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";

test("a transaction that the node still answers from its pool is read as its block has it", async () => {
  const node = new Liar();
  await using sandbox = await createSandbox({
    seed: "mined",
    adaptChain: async (chain) => node.adapt(chain),
  });
  const { client, wallets } = sandbox;
  const path = { program: "prg_demo" };
  const { data: merchant } = await client.POST("/v1/routing/programs/{program}/merchants", {
    params: { path, header: { "Idempotency-Key": "merchant-1" } },
    body: { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "500000000" },
  });
  if (merchant === undefined) throw new Error("The merchant was not created.");
  const { transaction, message } = merchant.enrollment;
  const { transactionHash } = await wallets.merchant.send(transaction);
  const signature = await wallets.merchant.signMessage(message);
  let asked = 0;
  node.tell("eth_getTransactionByHash", (answer) => {
    asked += 1;
    return Object.assign({}, answer, { blockHash: null, blockNumber: null, transactionIndex: null });
  });

  const { data } = await client.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
    params: { path: { ...path, id: merchant.id }, header: { "Idempotency-Key": "enrollment-1" } },
    body: { transaction_hash: transactionHash, signature },
  });

  expect(data?.status).toBe("enrolled");
  expect(asked).toBeGreaterThan(0);
});
