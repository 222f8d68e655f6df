import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { deployOn, reorganize, startAutominingAnvil } from "../../../kit/connected.ts";
import { EthersClient } from "../../../kit/ethers-client.ts";
import { expectEachEffectOnce } from "./chain-oracle.ts";

interface Purchase {
  status: string;
  figures: { paid: string; refunded: string };
}

test("a reorg of a node that removes offers, registrations, payments, claims and refunds leaves each once when they are on the chain again", {
  timeout: 300_000,
}, async () => {
  const node = await startAutominingAnvil();
  onTestFinished(node.stop);
  const { folder, ...network } = await deployOn(node.url);
  await using sandbox = await createSandbox({ network, dataDirectory: join(folder, "data") });
  const { description } = sandbox;
  const client = EthersClient.of(description);
  onTestFinished(() => client.close());
  client.use(await client.requestAccess());
  await client.enroll(100_000_000n);
  const chain = createChainClient(node.url);
  const before = await chain.getBlockNumber();
  const ended = [
    await client.refundOne("registrar_offer", 25_000_000n, 10_000_000n),
    await client.refundOne("merchant_direct", 7_000_000n, 7_000_000n),
  ];
  const readAll = async () =>
    await Promise.all(ended.map(async ({ id }) => await client.read<Purchase>(`/purchases/${id}`)));
  const statuses = async () => (await readAll()).map(({ status }) => status);

  await reorganize(node, Number((await chain.getBlockNumber()) - before));
  const gone = { paid: "0", refunded: "0" };
  await expect.poll(readAll).toMatchObject([{ figures: gone }, { figures: gone }]);
  // The relayer offers again by itself; the wallets send again what they have signed, each once it can succeed.
  await client.merchant.sendAgain();
  await expect.poll(statuses).not.toContain("created");
  await client.buyer.sendAgain();
  await client.beneficiary.sendAgain();
  // The collections were given up with their claims, each with a cancel if it had been sent again.
  for (const purchase of ended) await client.refund(purchase);
  expect(await readAll()).toMatchObject(
    ended.map(({ amount, award }) => ({
      status: "refunded",
      figures: { paid: String(amount), refunded: String(award) },
    })),
  );
  expect(await expectEachEffectOnce(node.url, description.contracts, ended)).toBeLessThanOrEqual(2);
});
