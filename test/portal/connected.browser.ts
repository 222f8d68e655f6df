import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sepolia } from "viem/chains";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { resolvePrograms } from "../../sandbox/options/programs.ts";
import { deployOn, type StartedNode, startSlowAnvil } from "../kit/connected.ts";
import { TestKit } from "../kit/test-kit.ts";
import { openBrowser, type TestBrowser } from "./browser.ts";
import { ExplorerKit } from "./explorer/explorer-kit.ts";
import { InjectedWallet } from "./wallet/injected-wallet.ts";
import { accepted, WalletKit } from "./wallet/wallet-kit.ts";

let node: StartedNode;
let sandbox: Sandbox;
let browser: TestBrowser;
let folder = "";

beforeAll(async () => {
  // A chain with the id of a public test network, which wallets know by its name.
  node = await startSlowAnvil(sepolia.id);
  folder = await mkdtemp(join(tmpdir(), "routing-sandbox-"));
  const programs = resolvePrograms(["prg_demo", "prg_other"]);
  const { folder: _, ...network } = await deployOn(node.url, { programs }, folder);
  sandbox = await createSandbox({ network: { ...network, publicRpcUrl: node.url }, confirmations: 2 });
  browser = await openBrowser(Object.values(sandbox.description.urls));
}, 180_000);
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await sandbox.close();
  await node.stop();
  await rm(folder, { recursive: true });
});

test("a browser wallet that does not know the network adds it by name, public URL and block explorer, and pays", async () => {
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const pages = new WalletKit(await TestKit.of(sandbox), browser);
  const wallet = new InjectedWallet(node.url, sandbox.wallets.buyer);
  wallet.chains.clear();
  wallet.chainId = "0x1";
  const page = await pages.openWith(wallet, purchase.wallet_url, /409/);
  const approve = page.locator("#action-approve");
  await approve.getByText(`Amber Wallet is on chain 1, and this sandbox is chain ${sepolia.id}.`).waitFor();
  await approve.getByRole("button", { name: "Switch the wallet's chain" }).click();
  await approve.getByRole("button", { name: "Approve", disabled: false }).click();
  await accepted(page, "approve");
  const pay = page.locator("#action-pay");
  await pay.getByRole("button", { name: "Pay", disabled: false }).click();
  await accepted(page, "pay");
  expect(wallet.added).toEqual([
    {
      chainId: "0xaa36a7",
      chainName: sepolia.name,
      rpcUrls: [node.url],
      nativeCurrency: sepolia.nativeCurrency,
      blockExplorerUrls: [sepolia.blockExplorers.default.url],
    },
  ]);
  expect(await pages.figuresOf(purchase)).toMatchObject({ outstanding: "0" });
});

test("the explorer names the network and its block explorer, and hides what only the sandbox's own chain can do", async () => {
  const explorer = new ExplorerKit(sandbox, browser);
  const page = await explorer.open();
  await page.getByText(sepolia.name).waitFor();
  expect(await page.getByRole("link", { name: "block explorer" }).getAttribute("href")).toBe(
    sepolia.blockExplorers.default.url,
  );
  const controls = await explorer.open("#/controls");
  await controls.getByRole("heading", { name: "Controls" }).waitFor();
  for (const name of ["Clock and blocks", "Snapshots"])
    expect(await controls.getByRole("heading", { name }).count(), name).toBe(0);
  const text = (await controls.locator("main").textContent()) ?? "";
  expect(text).not.toMatch(/travel|reorg|snapshot|mine\b/i);
});

test("the guide and the API's description have the chain id of the node", async () => {
  const { api, docs } = sandbox.description.urls;
  const described = await (await fetch(`${api}/v1/routing/openapi.json`)).text();
  expect(described).toContain(`"chain_id":${sepolia.id}`);
  expect(described).not.toContain("31337");
  const guide = await (await fetch(`${docs}/portal/docs.md`)).text();
  expect(guide).toContain(`chain id ${sepolia.id}`);
  // Its script reads the id from the description of the sandbox.
  expect(guide).toContain('\\"chain_id\\":$(config chain.chain_id),');
});
