import type { Sandbox } from "../../../sandbox/create-sandbox.ts";

/** Creates a merchant with the sandbox's own client. */
export async function createMerchant({ client, wallets }: Sandbox, name: string) {
  const header = { "Idempotency-Key": `merchant-${name}` };
  const body = { wallet: wallets.merchant.address, name, funding_cap: "500000000" };
  return await client.POST("/v1/routing/programs/{program}/merchants", {
    params: { path: { program: "prg_demo" }, header },
    body,
  });
}
