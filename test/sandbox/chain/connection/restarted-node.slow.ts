import { join } from "node:path";
import { keccak256 } from "viem";
import { expect, onTestFinished, test } from "vitest";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";
import { readKeys } from "../../../../sandbox/chain/connection/network-files.ts";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { deploy } from "../../../../sandbox/deploy/deploy.ts";
import { resolvePrograms } from "../../../../sandbox/options/programs.ts";
import { askControl } from "../../../../sandbox/service/ask-control.ts";
import { tryCli } from "../../../cli/run-cli.ts";
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
  const { stderr } = await tryCli(["status", "--data-dir", options.dataDirectory]);
  expect(stderr).toContain("The chain does not respond: the node is busy or cannot be reached.");
  const { stop } = await startAutominingAnvil(Number(new URL(url).port));
  onTestFinished(stop);
  const shorter = await askControl(control, "GET", "/health");
  expect([shorter.status, await shorter.text()]).toMatchObject([
    503,
    expect.stringMatching(/The chain is not that of the deployment: block \d+ is missing/),
  ]);
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
      detail: expect.stringMatching(
        /^The chain is not that of the deployment: block \d+ is 0x[0-9a-f]{64}, not 0x[0-9a-f]{64}\. Restore it, or/,
      ),
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

test("a chain with another id at the node's URL is named by /health and the API, whether it has fewer or more blocks", async () => {
  const first = await startAutominingAnvil();
  onTestFinished(first.stop);
  const { url } = first;
  const { folder: _, ...network } = await deployOn(url);
  await using sandbox = await createSandbox({ network });
  await first.stop();
  const { stop } = await startAutominingAnvil(Number(new URL(url).port), 1_337);
  onTestFinished(stop);
  const detail =
    "The chain is not that of the deployment: chain id is 1337, not 31337. Restore it, or start the sandbox again with a deployment that is on the chain.";
  const { control } = sandbox.description.urls;
  for (const blocks of [0, 20]) {
    if (blocks > 0) await createChainClient(url).mine({ blocks });
    const health = await fetch(`${control}/health`);
    expect([health.status, await health.json()]).toMatchObject([503, { code: "unhealthy", detail }]);
    const explained = await askControl(control, "POST", "/given", { merchant: { state: "enrolled" } });
    expect([explained.status, await explained.json()]).toMatchObject([
      503,
      { code: "chain_mismatch", detail },
    ]);
  }
});

test("contracts whose code was changed or removed under a service are named with what is there now, by the API and the control API", async () => {
  const node = await startAutominingAnvil();
  onTestFinished(node.stop);
  const { folder: _, ...network } = await deployOn(node.url);
  await using sandbox = await createSandbox({ network });
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const { registrar } = sandbox.chain.deployment;
  const chain = createChainClient(node.url);
  const { control } = sandbox.description.urls;
  const refusals = async () => {
    const params = { path: { program: "prg_demo" } };
    const read = await sandbox.client.GET("/v1/routing/programs/{program}", { params });
    const given = await askControl(control, "POST", "/given", { purchase: { state: "paid" } });
    const explored = await askControl(control, "GET", `/explorer/purchases/${purchase.id}`);
    return [
      [read.response.status, read.error],
      [given.status, await given.json()],
      [explored.status, await explored.json()],
    ];
  };
  const found = [
    ["0x", "is missing"],
    ["0x601f6000f3", `is ${keccak256("0x601f6000f3")}, not ${registrar.codeHash}`],
    ["0x60006000fd", `is ${keccak256("0x60006000fd")}, not ${registrar.codeHash}`],
  ] as const;
  for (const [bytecode, is] of found) {
    await chain.setCode({ address: registrar.address, bytecode });
    const detail = `The chain is not that of the deployment: code of registrar at ${registrar.address} ${is}. Restore it, or start the sandbox again with a deployment that is on the chain.`;
    const refused = [503, { code: "chain_mismatch", detail }];
    expect(await refusals()).toMatchObject([refused, refused, refused]);
  }
});

test("the refusal of a transaction on a chain whose time is behind says so, and by how much", async () => {
  const node = await startAutominingAnvil(undefined, 11_155_111, 400);
  onTestFinished(node.stop);
  const { folder: _, ...network } = await deployOn(node.url);
  await using sandbox = await createSandbox({ network });
  await expect(sandbox.given.purchase({ state: "created" })).rejects.toMatchObject({
    code: "binding_mismatch",
    detail: expect.stringMatching(
      /failed: timely\. The newest block is (?:39|40|41)\d seconds behind this machine's clock; if the next one would be, too, set the clock, or the node's time\.$/,
    ),
  });
});

test("a development node whose time is set back under a service gets no transaction of the relayer until it is right again", async () => {
  const { url, stop } = await startAutominingAnvil();
  onTestFinished(stop);
  const { folder: _, ...network } = await deployOn(url);
  await using sandbox = await createSandbox({ network });
  const { purchase } = await sandbox.given.purchase({ state: "created" });
  const chain = createChainClient(url);
  const setTime = async (seconds: number) =>
    await chain.request({ method: "evm_setTime", params: [seconds] } as never);
  const activate = async () =>
    await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
      params: { path: purchase, header: { "Idempotency-Key": "activate-1" } },
      body: { commitment_hash: purchase.commitment.hash },
    });
  const now = Math.floor(Date.now() / 1_000);
  await setTime(now - 700);
  // Before a block has that time, and after it.
  for (const blocks of [0, 1]) {
    if (blocks > 0) await chain.mine({ blocks });
    const before = await chain.getBlockNumber({ cacheTime: 0 });
    const { response, error } = await activate();
    expect([response.status, JSON.stringify(error)]).toEqual([
      503,
      expect.stringMatching(/next block would be (?:69|7\d)\d seconds behind this machine's clock/),
    ]);
    expect(await chain.getBlockNumber({ cacheTime: 0 })).toBe(before);
  }
  await setTime(Math.floor(Date.now() / 1_000));
  await chain.mine({ blocks: 1 });
  await expect.poll(async () => (await activate()).response.status).toBe(200);
});
