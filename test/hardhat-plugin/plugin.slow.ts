import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import networkHelpersPlugin from "@nomicfoundation/hardhat-network-helpers";
import type { HardhatUserConfig } from "hardhat/config";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import { expect, test, vi } from "vitest";
import type { ContractReport } from "../../check-contract/check-contract.ts";
import plugin from "../../hardhat-plugin/plugin.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const require = createRequire(import.meta.url);

/** A Hardhat project with an empty contract and the plugin. */
async function openProject(config: HardhatUserConfig = {}) {
  const root = await temporaryFolder();
  await symlink(join(packageRoot(), "node_modules"), join(root, "node_modules"));
  await writeFile(join(root, "package.json"), '{"name":"project","type":"module"}');
  await mkdir(join(root, "contracts"));
  await writeFile(
    join(root, "contracts", "Empty.sol"),
    "// SPDX-License-Identifier: MIT\npragma solidity 0.8.37;\ncontract Empty {}\ninterface None {}\n",
  );
  const solidity = {
    version: "0.8.37",
    path: require.resolve("solc/soljson.js"),
    // Without it, the code of the registrar contract is too long for the chain (EIP-170).
    settings: { optimizer: { enabled: true, runs: 1 } },
  };
  return {
    root,
    hre: await createHardhatRuntimeEnvironment({ plugins: [plugin], solidity, ...config }, {}, root),
  };
}

test("the network sandbox connects to the sandbox of the project, with its chain, its wallets and its description", async () => {
  const { root, hre } = await openProject();
  await using sandbox = await createSandbox({ seed: "hardhat", dataDirectory: join(root, ".sandbox") });
  const { provider, networkConfig, sandbox: described } = await hre.network.create("sandbox");
  expect(networkConfig.chainId).toBe(sandbox.description.chain.chain_id);
  expect(described).toEqual(sandbox.description);
  const { buyer, stranger } = sandbox.wallets;
  const accounts = await provider.request({ method: "eth_accounts" });
  const wallets = Object.values(sandbox.description.wallets).map(({ address }) => address.toLowerCase());
  expect(accounts).toEqual(wallets);
  const before = await sandbox.chain.client.getBalance({ address: stranger.address });
  const transfer = { from: buyer.address, to: stranger.address, value: "0x7" };
  await provider.request({ method: "eth_sendTransaction", params: [transfer] });
  // Anvil answers before its block is on the chain.
  await expect
    .poll(async () => await sandbox.chain.client.getBalance({ address: stranger.address }))
    .toBe(before + 7n);
});

test("fixtures of Hardhat's network helpers reset the whole sandbox on the network sandbox", async () => {
  const { root, hre } = await openProject({ plugins: [plugin, networkHelpersPlugin] });
  await using sandbox = await createSandbox({ seed: "fixtures", dataDirectory: join(root, ".sandbox") });
  const { networkHelpers } = await hre.network.create("sandbox");
  const paid = async () => await sandbox.given.purchase({ state: "paid" });
  const active = async () => await sandbox.given.purchase({ state: "active" });
  const first = await networkHelpers.loadFixture(paid);
  await networkHelpers.mine();
  await sandbox.given.purchase({ state: "refunded" });
  expect(await networkHelpers.loadFixture(paid)).toBe(first);
  expect(await sandbox.store.list("purchases", {})).toHaveLength(1);
  await networkHelpers.loadFixture(active);
  expect(await sandbox.store.list("purchases", {})).toHaveLength(2);
  const taken = await networkHelpers.takeSnapshot();
  await sandbox.given.purchase({ state: "paid" });
  await taken.restore();
  await taken.restore();
  expect(await sandbox.store.list("purchases", {})).toHaveLength(2);
});

test("the time helpers of Hardhat move the clock of the whole sandbox on the network sandbox, and a time that has passed is refused", async () => {
  const { root, hre } = await openProject({ plugins: [plugin, networkHelpersPlugin] });
  await using sandbox = await createSandbox({ seed: "times", dataDirectory: join(root, ".sandbox") });
  const { networkHelpers, provider } = await hre.network.create("sandbox");
  const { time } = networkHelpers;
  const start = await time.latest();
  await time.increaseTo(start + 86_400);
  expect(await time.latest()).toBe(start + 86_400);
  expect(await time.increase(60)).toBe(start + 86_460);
  await time.setNextBlockTimestamp(start + 90_000);
  const [from, to] = [sandbox.wallets.buyer.address, sandbox.wallets.stranger.address];
  await provider.request({ method: "eth_sendTransaction", params: [{ from, to, value: "0x7" }] });
  await expect.poll(async () => await time.latest()).toBe(start + 90_000);
  await provider.request({ method: "evm_increaseTime", params: [10] });
  await networkHelpers.mine();
  expect(await time.latest()).toBe(start + 90_010);
  expect(await sandbox.clock.now()).toBe(start + 90_010);
  await time.setNextBlockTimestamp(start + 90_011);
  await networkHelpers.mine();
  expect(await time.latest()).toBe(start + 90_011);
  await expect(time.increaseTo(start + 90_011)).rejects.toThrow(
    `evm_setNextBlockTimestamp: the newest block has the time ${start + 90_011}, and ${start + 90_011} is not later.`,
  );
  await expect(provider.request({ method: "evm_increaseTime", params: ["soon"] })).rejects.toThrow(
    "evm_increaseTime: ",
  );
});

test("in mode live, Hardhat's time helpers reach the time that they are given, and the clock runs on from it", async () => {
  const { root, hre } = await openProject({ plugins: [plugin, networkHelpersPlugin] });
  await using sandbox = await createSandbox({ mode: "live", dataDirectory: join(root, ".sandbox") });
  const { networkHelpers } = await hre.network.create("sandbox");
  const { time } = networkHelpers;
  const start = await time.latest();
  await time.increaseTo(start + 86_400);
  expect(await time.latest()).toBeGreaterThanOrEqual(start + 86_400);
  expect(await time.increase(60)).toBeGreaterThanOrEqual(start + 86_460);
  await time.setNextBlockTimestamp(start + 90_000);
  await networkHelpers.mine();
  expect(await time.latest()).toBeGreaterThanOrEqual(start + 90_000);
  expect(await sandbox.clock.now()).toBeGreaterThanOrEqual(start + 90_000);
  // More than a second after the newest block.
  await expect.poll(async () => (await sandbox.clock.now()) - (await time.latest())).toBeGreaterThan(1);
  const latest = await time.latest();
  expect(await time.increase(1)).toBeGreaterThan(latest);
});

test("without a sandbox, the network sandbox says how to start one, and other networks work", async () => {
  const { root, hre } = await openProject();
  await expect(hre.network.create("sandbox")).rejects.toThrow(
    `No sandbox runs in ${join(root, ".sandbox")}. Start one with npx routing-sandbox start, or start one for a single command with npx routing-sandbox exec -- npx hardhat test.`,
  );
  expect((await hre.network.create()).sandbox).toBeUndefined();
});

test("a project that already has a network of this name is refused", async () => {
  const networks = { sandbox: { type: "edr-simulated" } } as const;
  await expect(openProject({ networks })).rejects.toThrow(
    "networks.sandbox is the network that this plugin adds. Give your network another name.",
  );
});

test("check-registrar compiles the project, prints the report and fails with it", async () => {
  const { hre } = await openProject();
  const print = vi.spyOn(console, "log").mockReturnValue();
  const task = hre.tasks.getTask("check-registrar");
  const result: { success: boolean; error: ContractReport } = await task.run({ contract: "Empty" });
  const printed = print.mock.calls.join("\n");
  print.mockRestore();
  expect(result).toMatchObject({ success: false, error: { contract: "Empty", passed: false } });
  expect(printed).toContain("Empty does not return an address from fundingSource().");
});

test("check-registrar refuses an interface, and a text that no check has, in one message", async () => {
  const { hre } = await openProject();
  const task = hre.tasks.getTask("check-registrar");
  await expect(task.run({ contract: "None" })).rejects.toThrow(/None\.json has no complete bytecode/);
  await expect(task.run({ contract: "Empty", only: "no such rule" })).rejects.toThrow(
    'No check has "no such rule" in its name.',
  );
});

// Two whole checks of a contract.
test("check-registrar compares the gas with a baseline, and adds the steps that it does not have", async () => {
  const { root, hre } = await openProject();
  const sources = [
    "PurchaseRegistrar.sol",
    "FundingSource.sol",
    "CanonicalCalldata.sol",
    "ExactTransfer.sol",
  ];
  for (const name of [...sources, "interfaces"])
    await cp(join(packageRoot(), "contracts", name), join(root, "contracts", name), { recursive: true });
  const gasBaseline = join(root, "gas.json");
  await writeFile(gasBaseline, '{ "PurchaseRegistrar": { "pay": 1 } }');
  const print = vi.spyOn(console, "log").mockReturnValue();
  const task = hre.tasks.getTask("check-registrar");
  const run = { contract: "PurchaseRegistrar", only: "lifecycle/", gasBaseline };
  const result: { error: ContractReport } = await task.run(run);
  print.mockRestore();
  expect(result.error.findings.map(({ rule }) => rule)).toEqual(["pay costs at most 1 % more"]);
  const written = JSON.parse(await readFile(gasBaseline, "utf8"));
  expect(written.PurchaseRegistrar).toMatchObject({ pay: 1, claim: expect.any(Number) });
  await writeFile(gasBaseline, "[]");
  await expect(task.run(run)).rejects.toThrow("gas.json is not a baseline of gas.");
});
