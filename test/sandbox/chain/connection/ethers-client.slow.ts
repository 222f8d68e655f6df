import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { deployOn, type StartedNode, startHardhatNode, startSlowAnvil } from "../../../kit/connected.ts";
import { EthersClient } from "../../../kit/ethers-client.ts";
import { openHostileProxy } from "../../../kit/hostile-proxy.ts";
import { expectEachEffectOnce } from "./chain-oracle.ts";

async function opened(starting: Promise<StartedNode>): Promise<string> {
  const { url, stop } = await starting;
  onTestFinished(stop);
  return url;
}

const nodes = [
  { node: "hardhat node", confirmations: 1 },
  {
    node: "an Anvil with a block each second and three confirmations, through a hostile provider",
    confirmations: 3,
  },
];

test.for(nodes)(
  "a client of ethers and HTTP takes both routes from enrollment to refund on $node",
  { timeout: 600_000 },
  async ({ confirmations }) => {
    const url = await opened(confirmations === 1 ? startHardhatNode() : startSlowAnvil());
    const { folder, ...network } = await deployOn(url);
    await using proxy = await openHostileProxy(url, { oneOf: 19, behind: 3, logBlocks: 500 });
    const rpcUrls = confirmations === 1 ? network.rpcUrls : [proxy.url];
    const options = { network: { ...network, rpcUrls }, confirmations, dataDirectory: join(folder, "data") };
    await using sandbox = await createSandbox(options);
    const { description } = sandbox;
    const client = EthersClient.of(description);
    onTestFinished(() => client.close());
    client.use(await client.requestAccess());
    await client.enroll(100_000_000n);
    const ended = [
      await client.refundOne("registrar_offer", 25_000_000n, 10_000_000n),
      await client.refundOne("merchant_direct", 7_000_000n, 7_000_000n),
    ];
    for (const { id, amount, award } of ended)
      expect(await client.read(`/purchases/${id}`)).toMatchObject({
        status: "refunded",
        payment_status: "paid",
        figures: { paid: String(amount), reconciled: String(amount), refunded: String(award) },
      });
    expect(await expectEachEffectOnce(url, description.contracts, ended)).toBe(0);
  },
);
