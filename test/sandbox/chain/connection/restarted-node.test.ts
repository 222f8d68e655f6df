import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";
import { readKeys } from "../../../../sandbox/chain/connection/network-files.ts";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { deploy } from "../../../../sandbox/deploy/deploy.ts";
import { resolvePrograms } from "../../../../sandbox/options/programs.ts";
import { askControl } from "../../../../sandbox/service/ask-control.ts";
import { deployOn, sendEther, startAutominingAnvil } from "../../../kit/connected.ts";

// Long: one node that is started again, and everything that must notice it.
test("a node that was started again with the same chain id is another chain, for a service that runs, a start and a deployment", async () => {
  const first = await startAutominingAnvil();
  onTestFinished(first.stop);
  const { url } = first;
  const { folder, ...network } = await deployOn(url);
  const options = { network, dataDirectory: join(folder, "data") };
  await using sandbox = await createSandbox(options);
  const { purchase } = await sandbox.given.purchase({ state: "created" });
  await first.stop();
  const { control } = sandbox.description.urls;
  const silent = await askControl(control, "GET", "/explorer/blocks");
  expect([silent.status, await silent.json()]).toMatchObject([
    503,
    {
      detail:
        "The chain does not respond: the node is busy or cannot be reached. Send the request again; if that fails too, check that it runs.",
    },
  ]);
  const { stop } = await startAutominingAnvil(Number(new URL(url).port));
  onTestFinished(stop);
  const keys = await readKeys(network.keys);
  const addresses = [keys?.deployer.address, keys?.programs["prg_demo"]?.operator.address];
  await sendEther(
    url,
    addresses.filter((address) => address !== undefined),
  );
  const chain = createChainClient(url);
  // Higher than the deployment was.
  await chain.mine({ blocks: 20 });
  const before = await chain.getBlockNumber({ cacheTime: 0 });

  const health = await fetch(`${control}/health`);
  expect([health.status, await health.json()]).toMatchObject([
    503,
    {
      detail:
        "No response from node. Check that it runs and serves the chain of the deployment, and send the request again.",
    },
  ]);
  const { response, error } = await sandbox.client.POST(
    "/v1/routing/programs/{program}/purchases/{id}/activate",
    {
      params: { path: purchase, header: { "Idempotency-Key": "activate-1" } },
      body: { commitment_hash: purchase.commitment.hash },
    },
  );
  expect([response.status, error]).toMatchObject([503, { code: "chain_mismatch" }]);
  await sandbox.close();

  const other = expect.stringMatching(
    new RegExp(
      String.raw`^The chain is not the one of ${network.deployment}: block \d+ is 0x[0-9a-f]{64}, not 0x[0-9a-f]{64}\. Name the node that the file belongs to`,
    ),
  );
  await expect(createSandbox(options)).rejects.toMatchObject({ code: "node_unusable", message: other });
  await expect(deploy(network)).rejects.toMatchObject({ code: "node_unusable", message: other });
  expect(await chain.getBlockNumber({ cacheTime: 0 })).toBe(before);

  // The records are those of the other chain, too.
  const again = { ...network, deployment: join(folder, "again.json") };
  await deploy({ ...again, programs: resolvePrograms(["prg_demo"]) });
  await expect(createSandbox({ ...options, network: again })).rejects.toMatchObject({
    code: "data_directory_mismatch",
    message: expect.stringMatching(
      /^\S+ has the records of the chain with epoch 0x[0-9a-f]{64}, not of the chain with epoch 0x[0-9a-f]{64}\. Choose another directory/,
    ),
  });
});
