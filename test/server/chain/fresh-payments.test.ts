import { expect, test } from "vitest";
import { approveCall, payCall } from "../../../protocol/call.ts";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";
import { rpcOf } from "../../end-to-end/rpc.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

test("a payment can be reconciled as soon as the chain RPC has returned its hash", async () => {
  const sandbox = await freshSandbox();
  const { client, description, given } = sandbox;
  const { contracts, wallets } = description;
  const rpc = rpcOf(description);
  const from = wallets["buyer"]?.address;
  const send = async ({ to, data }: { to: string; data: string }) =>
    hexSchema.parse(await rpc("eth_sendTransaction", { from, to, data }));
  await send(approveCall(contracts.token, contracts.registrar, 10n ** 12n));
  // From the execution of a block until it is on the chain, Anvil reads at the block before it from the state of the next one.
  for (let index = 0; index < 60; index += 1) {
    const { purchase } = await given.purchase({ state: "active", amount: "5" });
    const hash = await send(payCall(contracts.registrar, purchase.commitment.hash, 5n));
    const { data, error } = await client.POST("/v1/routing/programs/{program}/purchases/{id}/reconcile", {
      params: {
        path: { program: purchase.program, id: purchase.id },
        header: { "Idempotency-Key": `reconcile-${index}` },
      },
      body: { transaction_hashes: [hash] },
    });
    expect(error ?? data).toMatchObject({ applied: [{}] });
  }
});
