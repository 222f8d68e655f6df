import type { Sandbox } from "../../../sandbox/create-sandbox.ts";

/** Has a merchant's wallet send its enrollment; what is returned confirms it to the service, again and again the same. */
export async function sendEnrollment({ client, wallets }: Sandbox) {
  const path = { program: "prg_demo" };
  const { data: merchant } = await client.POST("/v1/routing/programs/{program}/merchants", {
    params: { path, header: { "Idempotency-Key": "merchant-1" } },
    body: { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "500000000" },
  });
  if (merchant === undefined) throw new Error("The merchant was not created.");
  const { transaction, message } = merchant.enrollment;
  const { transaction_hash: transactionHash } = await wallets.merchant.send(transaction);
  const signature = await wallets.merchant.signMessage(message);
  return async () =>
    await client.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
      params: { path: { ...path, id: merchant.id }, header: { "Idempotency-Key": "enrollment-1" } },
      body: { transaction_hash: transactionHash, signature },
    });
}
