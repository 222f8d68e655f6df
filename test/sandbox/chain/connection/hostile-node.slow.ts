import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { deployOn, startSlowAnvil } from "../../../kit/connected.ts";
import { openHostileProxy } from "../../../kit/hostile-proxy.ts";

async function slowAnvil(): Promise<string> {
  const { url, stop } = await startSlowAnvil();
  onTestFinished(stop);
  return url;
}

const routes = ["registrar_offer", "merchant_direct"] as const;

test("both routes lead to a refund on a chain with a block each second and three confirmations", async () => {
  const { folder, ...network } = await deployOn(await slowAnvil());
  const options = { network, confirmations: 3, dataDirectory: join(folder, "data") };
  await using sandbox = await createSandbox(options);
  for (const route of routes) {
    const { refund } = await sandbox.given.purchase({ state: "refunded", route });
    expect(refund.status).toBe("collected");
  }
}, 300_000);

test("both routes lead to a refund, each effect once, through a provider that limits, loses, cuts and lags", async () => {
  const url = await slowAnvil();
  const { folder, ...network } = await deployOn(url);
  await using proxy = await openHostileProxy(url, { oneOf: 9, behind: 3, logBlocks: 500 });
  const options = {
    network: { ...network, rpcUrls: [proxy.url] },
    confirmations: 3,
    dataDirectory: join(folder, "data"),
  };
  await using sandbox = await createSandbox(options);
  for (const route of routes) {
    const { refund } = await sandbox.given.purchase({ state: "refunded", route });
    expect(refund.status).toBe("collected");
  }
  const [first] = sandbox.description.accounts;
  const operations = await sandbox.relayer.list(first.program, { limit: 100 });
  expect(operations.map(({ status, attempt }) => ({ status, attempt }))).toEqual([
    { status: "confirmed", attempt: 1 },
    { status: "confirmed", attempt: 1 },
    { status: "confirmed", attempt: 1 },
  ]);
}, 600_000);
