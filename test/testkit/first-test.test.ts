import { expect } from "vitest";
import { sandboxTest } from "../../testkit/vitest.ts";

sandboxTest()("a merchant is authorized for its wallet", async ({ sandbox: { client, wallets } }) => {
  const { data } = await client.POST("/v1/routing/programs/{program}/merchants", {
    params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": "merchant-1" } },
    body: { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "500000000" },
  });
  expect(data?.enrollment.transaction.from).toBe(wallets.merchant.address);
});
