import { expect, test } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { problemSchema } from "../../server/schemas/problem.ts";

test("a transaction is accepted at the last confirmation that is asked for, not one earlier", async () => {
  await using sandbox = await createSandbox({ seed: "confirmations", confirmations: 3 });
  const { chain, client, wallets } = sandbox;
  const path = { program: "prg_demo" };
  const { data: merchant } = await client.POST("/v1/routing/programs/{program}/merchants", {
    params: { path, header: { "Idempotency-Key": "merchant-1" } },
    body: { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "500000000" },
  });
  if (merchant === undefined) throw new Error("The merchant was not created.");
  const { transaction, message } = merchant.enrollment;
  const { transactionHash } = await wallets.merchant.send(transaction);
  const signature = await wallets.merchant.signMessage(message);
  const confirm = async () =>
    await client.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
      params: { path: { ...path, id: merchant.id }, header: { "Idempotency-Key": "enrollment-1" } },
      body: { transaction_hash: transactionHash, signature },
    });

  for (const confirmations of [1, 2]) {
    const { error, response } = await confirm();
    const { code, binding } = problemSchema.parse(error);
    expect(code).toBe("transaction_unconfirmed");
    expect(response.headers.get("retry-after")).toBe("1");
    expect(binding?.checks.filter(({ ok }) => !ok)).toEqual([
      { name: "confirmations", ok: false, expected: 3, actual: confirmations },
    ]);
    await chain.client.mine({ blocks: 1 });
  }
  expect((await confirm()).data?.status).toBe("enrolled");
});
