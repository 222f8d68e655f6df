import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createTestClient, getAddress, http, zeroAddress } from "viem";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";
import {
  newAccount,
  readDeployment,
  readKeys,
  writeKeys,
} from "../../../../sandbox/chain/connection/network-files.ts";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { deploy } from "../../../../sandbox/deploy/deploy.ts";
import { overviewSchema } from "../../../../sandbox/explorer/views.ts";
import type { Given } from "../../../../sandbox/given/given.ts";
import { purchaseStates } from "../../../../sandbox/given/states.ts";
import { machineClock } from "../../../../sandbox/lib/time/timers.ts";
import type { SandboxOptions } from "../../../../sandbox/options/options.ts";
import { askControl } from "../../../../sandbox/service/ask-control.ts";
import { day } from "../../../../server/limits.ts";
import { runCli, startCli, tryCli } from "../../../cli/run-cli.ts";
import {
  deployOn,
  type StartedNode,
  sendEther,
  startHardhatNode,
  takeEther,
} from "../../../kit/connected.ts";

let node: StartedNode;
beforeAll(async () => {
  node = await startHardhatNode();
});
afterAll(async () => await node.stop());

test("both routes lead from enrollment to a refund on another node than Anvil, and a restart has the records", async () => {
  const { folder, ...network } = await deployOn(node.url);
  const options = { network, dataDirectory: join(folder, "data") };
  let kept: string | undefined;
  {
    await using sandbox = await createSandbox(options);
    expect(sandbox.chain).toMatchObject({ isOwn: false, resumed: false });
    for (const route of ["registrar_offer", "merchant_direct"] as const) {
      const { refund, purchase } = await sandbox.given.purchase({ state: "refunded", route });
      expect([refund.status, purchase.status]).toEqual(["collected", "refunded"]);
      kept = purchase.id;
    }
  }
  await using again = await createSandbox(options);
  expect(again.chain.resumed).toBe(true);
  expect((await again.store.get("purchases", kept ?? ""))?.value.id).toBe(kept);
});

// Long: one list of what is refused and what is not.
test("what only the sandbox's own chain can do is refused with 409 needs_own_chain, and nothing else is", async () => {
  const { folder: _, ...network } = await deployOn(node.url);
  await using sandbox = await createSandbox({ network });
  const { control } = sandbox.description.urls;
  const block = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
  const own = [
    ["POST", "/clock", { seconds: 60 }],
    ["POST", "/blocks", { blocks: 1 }],
    ["POST", "/mining", { every: "never" }],
    ["POST", "/snapshots"],
    ["GET", "/snapshot"],
    ["POST", "/scenario", { title: "x" }],
    ["DELETE", "/scenario"],
    ["POST", "/given", { purchase: { state: "expired" } }],
    ["POST", "/faults", { intent: "reorg" }],
    ["POST", "/faults", { layer: "chain", action: "pause_mining" }],
    ["POST", "/faults", { layer: "relayer", point: "nonce", action: "foreign_nonce" }],
  ] as const;
  for (const [method, path, body] of own) {
    const response = await askControl(control, method, path, body);
    expect([path, response.status, await response.json()]).toMatchObject([
      path,
      409,
      {
        code: "needs_own_chain",
        detail: expect.stringMatching(
          / needs the sandbox's own chain, and this sandbox is connected to a node\. Use a sandbox without a node for it\.$/,
        ),
      },
    ]);
  }
  const inCode = [
    sandbox.snapshot(),
    sandbox.clock.travel(60),
    sandbox.record("x"),
    sandbox.save("x.gz"),
    sandbox.given.purchase({ state: "expired" }),
  ];
  for (const outcome of await Promise.allSettled(inCode))
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "needs_own_chain" } });
  // Nothing was sent: the node mines each transaction at once.
  expect(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 })).toBe(block);
  const others = [
    ["GET", "/status"],
    ["GET", "/health"],
    ["GET", "/metrics"],
    ["GET", "/fingerprint"],
    ["POST", "/faults", { intent: "slow", operation: "createPurchase" }],
    ["DELETE", "/faults"],
    ["GET", "/explorer/overview"],
    ["GET", "/explorer/blocks"],
  ] as const;
  for (const [method, path, ...body] of others)
    expect([path, (await askControl(control, method, path, ...body)).ok]).toEqual([path, true]);
  const overview = await askControl(control, "GET", "/explorer/overview");
  const { own_chain, fault_choices } = overviewSchema.parse(await overview.json());
  expect(own_chain).toBe(false);
  // The examples of the description have the chain of the service.
  const { api, rpc } = sandbox.description.urls;
  const described = await (await fetch(`${api}/v1/routing/openapi.json`)).text();
  expect([rpc, described.includes(`"rpc_url":"${node.url}"`), described.includes(":8545")]).toEqual([
    node.url,
    true,
    false,
  ]);
  expect(described).not.toMatch(/local chain/);
  expect(Object.keys(fault_choices.matrix)).not.toContain("chain");
});

test("records that begin again about the same contracts have other ids and credentials, since the chain has the earlier ones", async () => {
  const { folder, ...network } = await deployOn(node.url);
  const sold = async (wallet: "merchant" | "other_merchant", options: SandboxOptions) => {
    await using sandbox = await createSandbox({ network, ...options });
    const merchant = await sandbox.given.merchant({ state: "funded", wallet });
    await sandbox.given.purchase({ state: "paid", merchant: merchant.merchant });
    const kept = await Promise.all(
      (["merchants", "purchases", "events", "credentials"] as const).map(
        async (name) => await sandbox.store.list(name, {}),
      ),
    );
    return kept.flat().map(({ key }) => key);
  };
  const dataDirectory = join(folder, "data");
  const first = await sold("merchant", { dataDirectory });
  const second = await sold("other_merchant", { dataDirectory, fresh: true });
  expect(second.filter((id) => first.includes(id))).toEqual([]);
  await using unkept = await createSandbox({ network });
  await unkept.client.GET("/v1/routing/capabilities");
  const [credential] = await unkept.store.list("credentials", {});
  expect([...first, ...second]).not.toContain(credential?.key);
});

test("no response has the seed of the file of keys, which the keys of accounts are derived from", async () => {
  const { folder: _, ...network } = await deployOn(node.url);
  await using sandbox = await createSandbox({ network });
  const { control } = sandbox.description.urls;
  for (const path of ["/status", "/fingerprint", "/explorer/overview", "/trace"])
    expect(await (await askControl(control, "GET", path)).text()).not.toContain(sandbox.settings.seed);
});

test("neither doctor nor the refusal of other keys prints a seed that keys of accounts are derived from", async () => {
  const { folder, ...network } = await deployOn(node.url);
  const dataDirectory = join(folder, "data");
  const sandbox = await createSandbox({ network, dataDirectory });
  const { epoch } = sandbox.chain.deployment;
  const { seed } = sandbox.settings;
  await sandbox.close();
  const { stdout } = await tryCli(["doctor", "--data-dir", dataDirectory]);
  expect(stdout).toContain(`chain epoch ${epoch}, `);
  expect(stdout).not.toContain(seed);
  const keys = await readKeys(network.keys);
  if (keys === null) throw new Error("There are no keys.");
  await writeKeys(network.keys, { ...keys, seed: "another" });
  await expect(createSandbox({ network, dataDirectory })).rejects.toMatchObject({
    code: "data_directory_mismatch",
    message: `${dataDirectory} was made with another seed than the option network.keys names. Name the file that it was made with, or choose another directory with the option dataDirectory.`,
  });
});

test("wallets and pages get the URL of a node on this machine only if it has no path, which may contain a key", async () => {
  const { folder: _, ...network } = await deployOn(node.url);
  await using sandbox = await createSandbox({
    network: { ...network, rpcUrls: [`${node.url}/key`, node.url] },
  });
  expect(sandbox.description.urls.rpc).toBe(node.url);
  for (const path of ["/key", "/?key=1"])
    await expect(createSandbox({ network: { ...network, rpcUrls: [`${node.url}${path}`] } })).rejects.toThrow(
      "No public URL of the network is known",
    );
});

test("time continues on a node's chain while the machine's clock is set back, by a year too", async () => {
  const { folder: _, ...network } = await deployOn(node.url);
  await using sandbox = await createSandbox({ network });
  const { clock } = sandbox;
  const year = 365 * day;
  const setMachineClock = (ahead: number) =>
    vi.spyOn(machineClock, "now").mockImplementation(() => Date.now() + ahead * 1_000);
  onTestFinished(() => void vi.restoreAllMocks());
  setMachineClock(year);
  const told = await clock.now();
  expect(told).toBeGreaterThanOrEqual(Math.floor(Date.now() / 1_000) + year - 1);
  for (const ahead of [0, -year]) {
    setMachineClock(ahead);
    const before = await clock.now();
    expect(before).toBeGreaterThanOrEqual(told);
    await expect.poll(async () => await clock.now(), { timeout: 5_000 }).toBeGreaterThan(before);
  }
  setMachineClock(2 * year);
  expect(await clock.now()).toBeLessThan(Date.now() / 1_000 + 2 * year + 60);
});

// Long: each account and each state, on one deployment.
test("a given state names each account that lacks what it needs, in every state that needs it, and nothing is sent", async () => {
  const { folder: _, ...network } = await deployOn(node.url);
  const keys = await readKeys(network.keys);
  if (keys === null) throw new Error("There are no keys.");
  const { buyer: __, ...others } = keys.wallets;
  const [merchant, buyer, beneficiary] = [newAccount(), newAccount(), newAccount()];
  const operator = keys.programs["prg_demo"]?.operator.address ?? "";
  const refusals = async (
    wallets: typeof keys.wallets,
    given: (given: Given) => Promise<unknown>[],
    setUp: (sandbox: Sandbox) => Promise<unknown> = async () => {},
  ) => {
    await writeKeys(network.keys, { ...keys, wallets });
    await using sandbox = await createSandbox({ network });
    await setUp(sandbox);
    const before = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
    const outcomes = await Promise.allSettled(given(sandbox.given));
    // The node mines each transaction at once.
    expect(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 })).toBe(before);
    return outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason : outcome));
  };
  const unfunded = (...texts: string[]) => ({
    code: "wallet_unfunded",
    message: expect.stringMatching(
      new RegExp(
        `^${texts.join("; ")}\\. Send the ${["ether", "USDC"]
          .filter((kind) => texts.some((one) => one.includes(` ${kind} and needs`)))
          .map((kind) => kind.replace("ether", "test ether"))
          .join(" and ")} that is missing, such as from a faucet\\.$`,
      ),
    ),
  });
  const number = String.raw`\d+(?:\.\d+)?`;
  const lacksEther = (address: string, who: string) =>
    String.raw`${address} \(${who}\) has 0 ether and needs ${number} for gas`;
  const lacksTokens = (paid: string) => String.raw`${buyer.address} \(buyer\) has 0 USDC and needs ${paid}`;

  expect(await refusals(others, (given) => [given.purchase({ state: "created" })])).toMatchObject([
    {
      code: "wallet_unfunded",
      message:
        "The file of keys has no wallet buyer. Add it under wallets, and send it test ether and test tokens.",
    },
  ]);

  const states = purchaseStates.filter((state) => state !== "expired");
  const poor = await refusals({ ...keys.wallets, merchant, buyer, beneficiary }, (given) => [
    given.merchant({ state: "enrolled" }),
    given.merchant({ state: "funded" }),
    ...states.map((state) =>
      given.purchase({ state, route: state === "created" ? undefined : "merchant_direct" }),
    ),
    given.purchase({ state: "paid", permit: true }),
  ]);
  const ofMerchant = lacksEther(merchant.address, "merchant");
  const ofBuyer = (paid: string) => [lacksEther(buyer.address, "buyer"), lacksTokens(paid)];
  const all = [...ofBuyer("25"), lacksEther(beneficiary.address, "beneficiary"), ofMerchant];
  expect(poor).toMatchObject([
    unfunded(ofMerchant),
    unfunded(ofMerchant),
    unfunded(ofMerchant),
    unfunded(ofMerchant),
    unfunded(...ofBuyer("12.5"), ofMerchant),
    unfunded(...ofBuyer("25"), ofMerchant),
    unfunded(...ofBuyer("25"), ofMerchant),
    ...Array.from({ length: 5 }, () => unfunded(...all)),
    unfunded(...ofBuyer("25"), ofMerchant),
  ]);

  // With ether, but without tokens; and one account with two parts.
  await sendEther(node.url, [buyer.address]);
  const [paid, claimed] = await refusals({ ...keys.wallets, buyer, beneficiary: buyer }, (given) => [
    given.purchase({ state: "paid" }),
    given.purchase({ state: "claimed", amount: "7", beneficiary: "buyer" }),
  ]);
  expect(paid).toMatchObject(unfunded(lacksTokens("25")));
  expect(claimed).toMatchObject(unfunded(lacksTokens("0.000007")));

  // The operator sends offers and collections.
  const ofOperator = lacksEther(operator, "operator of prg_demo");
  await takeEther(node.url, getAddress(operator));
  expect(
    await refusals(keys.wallets, (given) => [
      given.purchase({ state: "active" }),
      given.purchase({ state: "refunded", route: "merchant_direct" }),
    ]),
  ).toMatchObject([unfunded(ofOperator), unfunded(ofOperator)]);
});

test("a start on a node's chain speaks of the node, and warns of an operator without ether", async () => {
  const { folder, ...network } = await deployOn(node.url);
  const operator = getAddress((await readKeys(network.keys))?.programs["prg_demo"]?.operator.address ?? "");
  const files = [
    "--keys",
    network.keys,
    "--deployment",
    network.deployment,
    "--data-dir",
    join(folder, "data"),
  ];
  const ports = ["api", "docs", "control"].flatMap((host) => [`--${host}-port`, "0"]);
  const warningOf = async (...more: string[]) => {
    const start = startCli(["start", "--rpc-url", node.url, ...files, ...ports, ...more]);
    let said = "";
    for await (const chunk of start.stdout) {
      said += String(chunk);
      if (said.includes("Ctrl-C")) break;
    }
    expect(said).toMatch(/^Connecting to the node, starting relayer, API and documentation …\n/);
    start.kill("SIGINT");
    expect(await start.exited).toBe(0);
    return await text(start.stderr);
  };
  expect(await warningOf()).toBe("");
  expect(await warningOf("--listen", "0.0.0.0")).toBe(
    "Warning: the API, the documentation and the control API listen at 0.0.0.0. Everyone who reaches it gets the test keys, can have the operators send transactions, and can change or delete everything in the sandbox; use it only in a network that you trust.\n",
  );
  await takeEther(node.url, operator);
  expect(await warningOf()).toMatch(
    new RegExp(
      String.raw`^Warning: The operator of prg_demo, ${operator}, has 0 ether, and a purchase with its refund may cost 0\.\d+\. Send it test ether: until then, offers and refunds wait\.\n$`,
    ),
  );
});

test("a complete deployment that is run again says that everything is there, where, and that nothing was sent", async () => {
  const { folder: _, rpcUrls, ...network } = await deployOn(node.url);
  const [url = ""] = rpcUrls;
  const keys = await readKeys(network.keys);
  const deployment = (await readDeployment(network.deployment))?.deployment;
  const { address: operator = zeroAddress } = keys?.programs["prg_demo"]?.operator ?? {};
  // It needs no ether anymore.
  for (const address of [keys?.deployer.address ?? zeroAddress, operator]) await takeEther(url, address);
  const client = createChainClient(url);
  const before = await client.getBlockNumber({ cacheTime: 0 });
  const files = ["--keys", network.keys, "--deployment", network.deployment];
  const said = await runCli("deploy", "--rpc-url", url, ...files);
  expect(said.split("\n")).toEqual([
    `The token is there: ${deployment?.token.address}.`,
    `PurchaseRegistrar is there: ${deployment?.registrar.address}, block ${deployment?.epochBlock.number}.`,
    `Program prg_demo is there: its operator is ${operator}.`,
    `The deployment in ${network.deployment} was complete, and nothing was sent.`,
    "  chain_id        31337",
    `  epoch           ${deployment?.epoch}`,
    `  token           ${deployment?.token.address}`,
    `  registrar       ${deployment?.registrar.address}`,
    `  funding_source  ${deployment?.fundingSource.address}`,
    `  block           ${deployment?.epochBlock.number}`,
    "",
  ]);
  expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(before);
  const { address: registrar = zeroAddress } = deployment?.registrar ?? {};
  await createTestClient({ mode: "hardhat", transport: http(url) }).setCode({
    address: registrar,
    bytecode: "0x6000",
  });
  await expect(runCli("deploy", "--rpc-url", url, ...files)).rejects.toThrow(
    `The chain is not the one of ${network.deployment}: code of registrar at ${registrar} is 0x`,
  );
});

test("a token that is no test USDC is refused before anything is sent", async () => {
  const { folder, ...network } = await deployOn(node.url);
  const { deployment: made } = (await readDeployment(network.deployment)) ?? {};
  const client = createChainClient(node.url);
  const before = await client.getBlockNumber({ cacheTime: 0 });
  const others = { ...network, deployment: join(folder, "other.json") };
  for (const token of [made?.programs[0]?.operator ?? zeroAddress, made?.registrar.address ?? zeroAddress])
    await expect(deploy({ ...others, token })).rejects.toMatchObject({
      code: "node_unusable",
      message: expect.stringMatching(
        new RegExp(
          String.raw`^The token ${token} cannot be read: .*\. Name a test USDC \(FiatToken v2\.2\)\.$`,
        ),
      ),
    });
  expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(before);
});

test("a deployment that was ended after its last transaction says that it is complete", async () => {
  const { folder: _, ...network } = await deployOn(node.url);
  const content = JSON.parse(await readFile(network.deployment, "utf8"));
  await writeFile(network.deployment, JSON.stringify({ ...content, deployment: null }));
  const told: string[] = [];
  await deploy({ ...network, tell: (sentence) => told.push(sentence) });
  expect(told.at(-1)).toBe(`The deployment is complete: ${network.deployment}.`);
});

test("a start refuses other code, keys, chains and records than the deployment has, and says which", async () => {
  const { folder, ...network } = await deployOn(node.url);
  const content = JSON.parse(await readFile(network.deployment, "utf8"));
  const refused = async (change: (copy: typeof content) => void) => {
    const copy = structuredClone(content);
    change(copy);
    const deployment = join(folder, "changed.json");
    await writeFile(deployment, JSON.stringify(copy));
    return await createSandbox({ network: { ...network, deployment } }).then(
      () => null,
      (error: unknown) => error,
    );
  };
  const { deployment } = content;
  const wrong = `0x${"11".repeat(32)}`;
  expect(
    await refused((copy) => Object.assign(copy.deployment.registrar, { codeHash: wrong })),
  ).toMatchObject({
    code: "node_unusable",
    message: expect.stringContaining(`code of registrar at ${deployment.registrar.address} is`),
  });
  expect(await refused((copy) => Object.assign(copy.deployment.epochBlock, { hash: wrong }))).toMatchObject({
    code: "node_unusable",
    message: expect.stringContaining(`block ${deployment.epochBlock.number} is`),
  });
  expect(await refused((copy) => Object.assign(copy.deployment, { chainId: 1_337 }))).toMatchObject({
    message: expect.stringContaining("chain id is 31337, not 1337"),
  });
  expect(await refused((copy) => Object.assign(copy, { deployment: null }))).toMatchObject({
    message: expect.stringContaining("is not complete. Run routing-sandbox deploy again"),
  });
  const [program] = deployment.programs;
  expect(
    await refused((copy) =>
      Object.assign(copy.deployment.programs[0], { registrar: deployment.token.address }),
    ),
  ).toMatchObject({
    message: expect.stringContaining(`has other keys for ${program.id} than those on the chain`),
  });
  await expect(
    createSandbox({ network: { ...network, keys: join(folder, "none.json") } }),
  ).rejects.toMatchObject({
    message: expect.stringMatching(
      /^There is no file .*none\.json for the option network\.rpcUrls\. Run routing-sandbox deploy first\.$/,
    ),
  });
  await expect(createSandbox({ network, seed: "other" })).rejects.toMatchObject({
    code: "option_invalid",
    message:
      "The option seed does not go with the option network, whose files determine it. Leave one of them out.",
  });
});
