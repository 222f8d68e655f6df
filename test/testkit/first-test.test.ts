import { expect } from "vitest";
import { unwrap } from "../../sandbox/service/client/api-client.ts";
import { sandboxTest } from "../../testkit/vitest.ts";

sandboxTest()("a merchant is authorized for its wallet", async ({ sandbox: { client, wallets } }) => {
  const params = { path: { program: "prg_demo" }, header: { "Idempotency-Key": "merchant-1" } };
  const body = { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "500000000" };
  const merchant = unwrap(await client.POST("/v1/routing/programs/{program}/merchants", { params, body }));
  expect(merchant.enrollment.transaction.from).toBe(wallets.merchant.address);
});
