import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Wallet as EthersWallet, getBytes } from "ethers";
import type { BrowserContext, Page } from "playwright-core";
import { type Hex, recoverTypedDataAddress } from "viem";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { packageRoot } from "../../../sandbox/lib/package-root.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { type LaunchedChromium, launchChromium } from "../../../scripts/launch-chromium.ts";
import {
  type InjectedWalletOptions,
  injectWallet,
  ProviderError,
} from "../../../testkit/playwright/inject-wallet.ts";

/** A page of a shop that uses ethers: it finds wallets by EIP-6963, connects, sends and signs. */
const shopPage = `<!doctype html><title>Shop</title><script type="module">
  import { BrowserProvider } from "/ethers.js";
  let provider;
  // Without window.ethereum, so that ethers finds wallets by their events only.
  const eventsOfPage = Object.fromEntries(
    ["addEventListener", "removeEventListener", "dispatchEvent"].map((name) => [name, window[name].bind(window)]));
  window.shop = {
    async find() {
      provider = await BrowserProvider.discover({ timeout: 5000, anyProvider: true, window: eventsOfPage });
      provider.pollingInterval = 10;
      return provider.providerInfo?.name ?? null;
    },
    async connect() { return await (await provider.getSigner()).getAddress(); },
    async chain() { return Number(await provider.send("eth_chainId", [])); },
    async send({ from, to, data }) { return await provider.send("eth_sendTransaction", [{ from, to, data, value: "0x0" }]); },
    async sign({ domain, types: { EIP712Domain, ...types }, message }) {
      return await (await provider.getSigner()).signTypedData(domain, types, message);
    },
    async ask(method, params) {
      try { return await window.ethereum.request({ method, params }); } catch ({ code, message, data }) { return { code, message, data }; }
    },
    events: [],
    listen() { for (const name of ["accountsChanged", "chainChanged"]) window.ethereum.on(name, (value) => window.shop.events.push([name, value])); },
  };
  document.body.append("ready");
</script>`;

let sandbox: Sandbox;
let start: Snapshot;
let chromium: LaunchedChromium;
let context: BrowserContext;
let shop: Server;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "injected wallet" });
  start = await sandbox.snapshot();
  chromium = await launchChromium();
  context = await chromium.browser.newContext();
  const library = await readFile(join(packageRoot(), "node_modules", "ethers", "dist", "ethers.min.js"));
  shop = createServer((request, response) => {
    const isLibrary = request.url === "/ethers.js";
    response.setHeader("Content-Type", isLibrary ? "text/javascript" : "text/html");
    response.end(isLibrary ? library : shopPage);
  }).listen(0, "127.0.0.1");
  await once(shop, "listening");
});
afterAll(async () => {
  await chromium[Symbol.asyncDispose]();
  shop.close();
  await sandbox.close();
});

async function openPage(): Promise<Page> {
  const page = await context.newPage();
  onTestFinished(async () => {
    await page.close();
    await start.restore();
  });
  return page;
}

function fail(message: string): never {
  throw new Error(message);
}

/** Opens the shop with a wallet in its page. `call` runs a function of the shop. */
async function openShop(wallet: Parameters<typeof injectWallet>[1], options?: InjectedWalletOptions) {
  const page = await openPage();
  const injected = await injectWallet(page, wallet, { connected: true, ...options });
  await page.goto(`http://127.0.0.1:${(shop.address() as AddressInfo).port}/`);
  await page.getByText("ready").waitFor();
  const call = async (name: string, ...args: unknown[]): Promise<unknown> =>
    await page.evaluate(`shop.${name}(...${JSON.stringify(args)})`);
  return { page, wallet: injected, call };
}

async function activePurchase() {
  const { purchase } = await sandbox.given.purchase({ state: "active", amount: "25000000" });
  const { buyer } = sandbox.wallets;
  await buyer.approve(purchase);
  const { data } = await sandbox.client.GET("/v1/routing/programs/{program}/purchases/{id}", {
    params: { path: { program: purchase.program, id: purchase.id } },
  });
  const answer = await fetch(`${purchase.wallet_url}?amount=25000000`, {
    headers: { Accept: "application/json" },
  });
  const { actions } = (await answer.json()) as {
    actions: { name: string; transaction: { from: Hex; to: Hex; data: Hex } }[];
  };
  const pay = actions.find(({ name }) => name === "pay")?.transaction;
  if (data === undefined) fail("The API has no such purchase.");
  const { from, to, data: calldata } = pay ?? fail("The purchase has no payment to make.");
  return { purchase: data, pay: { from, to, data: calldata } };
}

describe("a page that uses ethers", () => {
  test("finds the injected wallet by EIP-6963, connects and pays, and its requests are listed decoded", async () => {
    const { purchase, pay } = await activePurchase();
    const { wallet, call } = await openShop(sandbox.wallets.buyer, { name: "Amber" });
    expect(await call("find")).toBe("Amber");
    expect(await call("connect")).toBe(sandbox.wallets.buyer.address);
    expect(await call("chain")).toBe(31337);
    const hash = (await call("send", pay)) as Hex;

    await sandbox.wallets.buyer.receipt(hash);
    expect(await sandbox.explain(hash)).toMatchObject({ accepted: true, step: "payment" });
    expect(wallet.requests.at(-1)).toEqual({
      method: "eth_sendTransaction",
      params: [{ ...pay, value: "0x0" }],
      decoded: {
        type: "transaction",
        ...pay,
        value: "0",
        function: "pay",
        args: { id: purchase.commitment.hash, amount: "25000000" },
        chain_id: null,
        gas: null,
      },
      outcome: { status: "answered", result: hash },
    });
  });

  test("gets the signature of typed data that recovers to the wallet", async () => {
    const { purchase } = await sandbox.given.purchase({ state: "created" });
    const { typed_data } = purchase.commitment;
    const { wallet, call } = await openShop(sandbox.wallets.buyer);
    await call("find");
    const signature = (await call("sign", typed_data)) as Hex;
    expect(await recoverTypedDataAddress({ ...typed_data, signature } as never)).toBe(
      sandbox.wallets.buyer.address,
    );
    expect(wallet.requests.at(-1)?.decoded).toMatchObject({
      type: "typed_data",
      typed_data: { primaryType: "Purchase" },
    });
  });

  test("gets code 4001 from a wallet that rejects, and nothing is sent", async () => {
    const { pay } = await activePurchase();
    const before = await sandbox.chain.client.getBlockNumber();
    const { wallet, call } = await openShop(sandbox.wallets.buyer, { answers: "reject" });
    expect(await call("ask", "eth_requestAccounts", [])).toEqual([sandbox.wallets.buyer.address]);
    expect(await call("ask", "eth_sendTransaction", [pay])).toMatchObject({ code: 4001 });
    expect(await call("ask", "personal_sign", ["0x6869", pay.from])).toMatchObject({ code: 4001 });
    expect(await sandbox.chain.client.getBlockNumber()).toBe(before);
    expect(wallet.requests.map(({ outcome }) => outcome?.status)).toEqual(["answered", "refused", "refused"]);

    wallet.answers = "approve";
    expect(await call("ask", "eth_sendTransaction", [pay])).toMatch(/^0x[0-9a-f]{64}$/);
  });

  test("gets another chain id from a wallet on the wrong chain, which refuses to switch and to sign", async () => {
    const { pay } = await activePurchase();
    const { call } = await openShop(sandbox.wallets.buyer, { answers: "wrong-chain" });
    expect(await call("ask", "eth_chainId", [])).toBe("0x1");
    const [switched, added] = [
      await call("ask", "wallet_switchEthereumChain", [{ chainId: "0x7a69" }]),
      await call("ask", "wallet_addEthereumChain", [
        { chainId: "0x7a69", chainName: "Own", rpcUrls: ["http://127.0.0.1:1"] },
      ]),
    ];
    expect([switched, added]).toMatchObject([{ code: 4902 }, { code: 4901 }]);
    expect(await call("ask", "eth_sendTransaction", [pay])).toMatchObject({ code: 4901 });
  });

  test("gets its transaction refused for the calldata, and its signature for the signer, if the wallet tampers", async () => {
    const { purchase, pay } = await activePurchase();
    const { call } = await openShop(sandbox.wallets.buyer, { answers: "tamper" });
    await call("find");
    const hash = (await call("send", pay)) as Hex;
    await sandbox.wallets.buyer.receipt(hash);
    const sent = await sandbox.chain.client.getTransaction({ hash });
    expect(BigInt(sent.input) ^ BigInt(pay.data)).toBe(1n);
    const transfer = { from: pay.from, to: sandbox.wallets.stranger.address, value: "0x1" };
    const transferred = (await call("ask", "eth_sendTransaction", [transfer])) as Hex;
    expect((await sandbox.chain.client.getTransaction({ hash: transferred })).input).toBe("0x01");
    const { typed_data } = purchase.commitment;
    const signature = (await call("sign", typed_data)) as Hex;
    expect(await recoverTypedDataAddress({ ...typed_data, signature } as never)).not.toBe(pay.from);
  });

  test("waits until a locked wallet is unlocked, and gets the events of changed accounts and chains", async () => {
    const { page, wallet, call } = await openShop([sandbox.wallets.buyer, sandbox.wallets.merchant], {
      locked: true,
    });
    await call("listen");
    const { buyer, merchant } = sandbox.wallets;
    expect(await call("ask", "eth_accounts", [])).toEqual([]);
    expect(await call("ask", "personal_sign", ["0x6869", buyer.address])).toMatchObject({ code: 4100 });
    const connecting = call("ask", "eth_requestAccounts", []);
    await expect
      .poll(() => wallet.requests.at(-1))
      .toMatchObject({ method: "eth_requestAccounts", outcome: null });
    await wallet.unlock();
    expect(await connecting).toEqual([buyer.address, merchant.address]);
    // A change to the same is no event.
    await wallet.unlock();
    for (const _ of [1, 2]) await wallet.select(merchant);
    for (const _ of [1, 2]) await wallet.switchChain(5);
    for (const _ of [1, 2]) await wallet.lock();
    expect(await page.evaluate("shop.events")).toEqual([
      ["accountsChanged", [buyer.address, merchant.address]],
      ["accountsChanged", [merchant.address]],
      ["chainChanged", "0x5"],
      ["accountsChanged", []],
    ]);
  });

  test("sees no account and gets no signature before it has connected, and then an event", async () => {
    const { buyer, merchant } = sandbox.wallets;
    const { page, wallet, call } = await openShop([buyer, merchant], { connected: false });
    await call("listen");
    const sign = async () => await call("ask", "personal_sign", ["0x6869", buyer.address]);
    expect(await call("ask", "eth_accounts", [])).toEqual([]);
    expect(await call("ask", "eth_coinbase", [])).toBeNull();
    expect(await sign()).toEqual({
      code: 4100,
      message: `The account ${buyer.address} is not connected. Send eth_requestAccounts first.`,
    });
    wallet.answers = async () => {
      throw new ProviderError(4001, "No.");
    };
    expect(await call("ask", "eth_requestAccounts", [])).toMatchObject({ code: 4001 });
    wallet.answers = "approve";
    expect(await sign()).toMatchObject({ code: 4100 });
    await wallet.select(merchant, buyer);
    expect(await call("ask", "eth_requestAccounts", [])).toEqual([merchant.address, buyer.address]);
    expect(await sign()).toMatch(/^0x/);
    expect(await page.evaluate("shop.events")).toEqual([
      ["accountsChanged", [merchant.address, buyer.address]],
    ]);
    // As after an earlier visit.
    await page.reload();
    expect(await call("ask", "eth_accounts", [])).toEqual([merchant.address, buyer.address]);
    // A page of another origin has to connect itself, in the same tab and in a frame.
    const elsewhere = page.url().replace("127.0.0.1", "localhost");
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement("iframe"), { src: "${elsewhere}" }))`,
    );
    const frame = await page.waitForSelector("iframe").then(async (found) => await found.contentFrame());
    await frame?.waitForFunction("window.ethereum");
    const ask = `ethereum.request({ method: "eth_accounts" })`;
    expect(await frame?.evaluate(ask)).toEqual([]);
    await page.goto(elsewhere);
    expect(await call("ask", "eth_accounts", [])).toEqual([]);
    expect(await sign()).toMatchObject({ code: 4100 });
  });

  test("takes no other answers than those that it knows", async () => {
    const { wallet } = await openShop(sandbox.wallets.buyer);
    expect(() => {
      wallet.answers = "rejct" as never;
    }).toThrow('answers is "rejct". Use "approve", "reject", "wrong-chain" or "tamper", or a function.');
    expect(wallet.answers).toBe("approve");
  });

  test("selects an account by the key of a sandbox in another process, and refuses what is no wallet", async () => {
    const { wallet, call } = await openShop(sandbox.wallets.buyer);
    const { wallets, urls } = sandbox.description;
    const key = wallets["merchant"] ?? fail("The sandbox has a merchant's wallet.");
    await wallet.select({ private_key: key.private_key, rpc_url: urls.rpc });
    expect(await call("ask", "eth_accounts", [])).toEqual([key.address]);
    expect(await call("ask", "personal_sign", ["0x6869", key.address])).toMatch(/^0x/);
    await wallet.select([sandbox.wallets.beneficiary, sandbox.wallets.buyer]);
    expect(await call("ask", "eth_accounts", [])).toEqual([
      sandbox.wallets.beneficiary.address,
      sandbox.wallets.buyer.address,
    ]);
    await wallet.select({ private_key: key.private_key, rpc_url: urls.rpc });
    await expect(wallet.select(key.address as never)).rejects.toThrow(
      `wallet.select takes a wallet of the sandbox, not "${key.address}". Pass sandbox.wallets.buyer, or { private_key, rpc_url }.`,
    );
    await expect(wallet.select({ private_key: key.private_key } as never)).rejects.toThrow(
      'not {"private_key":"0x…"}.',
    );
    for (const [wrong, message] of [
      [{ private_key: "0x12", rpc_url: urls.rpc }, "wallet.select takes a private key of 32 bytes."],
      [{ private_key: key.private_key, rpc_url: "rpc" }, 'as rpc_url, not "rpc".'],
    ] as const)
      await expect(wallet.select(wrong)).rejects.toMatchObject({
        code: "argument_invalid",
        message: expect.stringContaining(message),
      });
    for (const chainId of [0, -1, 1.5, Number.NaN, 2 ** 53, "eth", undefined])
      await expect(wallet.switchChain(chainId as never)).rejects.toMatchObject({ code: "argument_invalid" });
    expect(await call("ask", "eth_accounts", [])).toEqual([key.address]);
  });

  test.each([true, false])(
    "connects and disconnects with the permissions of EIP-2255, connected from the start: %s",
    async (connected) => {
      const { address } = sandbox.wallets.buyer;
      const { call, wallet } = await openShop(sandbox.wallets.buyer, { connected });
      const asked = [{ eth_accounts: {} }];
      await call("listen");
      if (!connected) expect(await call("ask", "wallet_getPermissions", [])).toEqual([]);
      const permissions = await call("ask", "wallet_requestPermissions", asked);
      expect(permissions).toMatchObject([
        {
          parentCapability: "eth_accounts",
          caveats: [{ type: "restrictReturnedAccounts", value: [address] }],
        },
      ]);
      expect(await call("ask", "wallet_getPermissions", [])).toEqual(permissions);
      expect(wallet.requests.at(-2)?.decoded).toEqual({ type: "connection" });
      expect(await call("ask", "wallet_revokePermissions", asked)).toBeNull();
      expect(await call("ask", "eth_accounts", [])).toEqual([]);
      expect(await call("ask", "personal_sign", ["0x6869", address])).toMatchObject({ code: 4100 });
      await wallet.select(sandbox.wallets.merchant);
      expect(await call("ask", "eth_requestAccounts", [])).toEqual([sandbox.wallets.merchant.address]);
      const events = [[address], [], [sandbox.wallets.merchant.address]].map((accounts) => [
        "accountsChanged",
        accounts,
      ]);
      await expect
        .poll(async () => await call("events.concat"))
        .toEqual(connected ? events.slice(1) : events);
      for (const params of [[], [{}], [{ eth_sign: {} }]])
        expect(await call("ask", "wallet_requestPermissions", params)).toMatchObject({ code: -32_602 });
    },
  );

  test("switches to a chain that it has added, and gets code 4902 for an unknown chain", async () => {
    const { call } = await openShop(sandbox.wallets.buyer);
    const { rpc } = sandbox.description.urls;
    expect(await call("ask", "wallet_switchEthereumChain", [{ chainId: "0x5" }])).toMatchObject({
      code: 4902,
    });
    expect(
      await call("ask", "wallet_addEthereumChain", [{ chainId: "0x5", chainName: "Five", rpcUrls: [rpc] }]),
    ).toBeNull();
    for (const lacking of [{ rpcUrls: [rpc] }, { chainName: "Six" }, { chainName: "Six", rpcUrls: [] }])
      expect(await call("ask", "wallet_addEthereumChain", [{ chainId: "0x6", ...lacking }])).toMatchObject({
        code: -32_602,
      });
    expect(await call("ask", "wallet_switchEthereumChain", [{ chainId: "0x5" }])).toBeNull();
    expect(await call("ask", "eth_chainId", [])).toBe("0x5");
    expect(await call("ask", "eth_blockNumber", [])).toMatch(/^0x/);
    for (const [chainId, url] of [
      ["0x6", "https://node.example/"],
      ["0x7", "http://127.0.0.1:9/"],
    ]) {
      await call("ask", "wallet_addEthereumChain", [{ chainId, chainName: "Other", rpcUrls: [url] }]);
      await call("ask", "wallet_switchEthereumChain", [{ chainId }]);
      expect(await call("ask", "eth_blockNumber", [])).toMatchObject({ code: 4901 });
    }
  });

  test("sends a call with the gas that it needs if the page names none, and one that reverts", async () => {
    const { call } = await openShop(sandbox.wallets.buyer);
    const { chain, wallets } = sandbox;
    const statusOf = async (to: Hex) => {
      const transaction = { from: wallets.buyer.address, to, data: "0x" };
      const hash = await call("ask", "eth_sendTransaction", [transaction]);
      return (await chain.client.waitForTransactionReceipt({ hash: String(hash) as Hex })).status;
    };
    const writing: Hex = "0x00000000000000000000000000000000000c0de1";
    // PUSH1 1, PUSH1 slot, SSTORE, for each of 80 slots: 1.8 million gas.
    const writes = Array.from({ length: 80 }, (_, slot) => `600160${slot.toString(16).padStart(2, "0")}55`);
    await chain.client.setCode({ address: writing, bytecode: `0x${writes.join("")}` });
    expect(await statusOf(writing)).toBe("success");
    expect(await statusOf(sandbox.description.contracts.registrar)).toBe("reverted");
  });

  test("sends with the gas that the page names, and refuses fees that are none", async () => {
    const { wallet, call } = await openShop(sandbox.wallets.buyer);
    const { pay } = await activePurchase();
    const hash = await call("ask", "eth_sendTransaction", [{ ...pay, gas: "0x7530" }]);
    const { status, gasUsed } = await sandbox.chain.client.waitForTransactionReceipt({
      hash: String(hash) as Hex,
    });
    expect([status, gasUsed]).toEqual(["reverted", 30_000n]);
    expect(wallet.requests.at(-1)?.decoded).toMatchObject({ gas: "30000" });
    for (const wrong of [
      { gas: 21_000.5 },
      { maxFeePerGas: "zz" },
      { nonce: "x" },
      { gasPrice: "0x1", maxFeePerGas: "0x1" },
    ])
      expect(await call("ask", "eth_sendTransaction", [{ ...pay, ...wrong }])).toMatchObject({
        code: -32_602,
      });
  });

  test("gets the answer of a function of the test, after a delay that the test chooses", async () => {
    const released = Promise.withResolvers<void>();
    const { wallet, call } = await openShop(sandbox.wallets.buyer, {
      delayMs: 1,
      answers: async ({ method }, approve) => {
        await released.promise;
        if (method === "personal_sign") throw new ProviderError(-32_002, "A request is already pending.");
        return await approve();
      },
    });
    const connecting = call("ask", "eth_requestAccounts", []);
    await expect.poll(() => wallet.requests).toHaveLength(1);
    expect(wallet.requests[0]?.outcome).toBeNull();
    released.resolve();
    expect(await connecting).toEqual([sandbox.wallets.buyer.address]);
    expect(await call("ask", "personal_sign", ["0x6869", sandbox.wallets.buyer.address])).toEqual({
      code: -32_002,
      message: "A request is already pending.",
    });
  });

  test("gets the signature of typed data with any members of a domain, as another library makes it", async () => {
    const { call } = await openShop(sandbox.wallets.buyer);
    const { address, private_key } =
      sandbox.description.wallets["buyer"] ?? fail("The sandbox has no buyer.");
    const whole = {
      name: "Shop",
      version: "1",
      chainId: 31_337,
      verifyingContract: sandbox.description.contracts.token,
      salt: `0x${"5a".repeat(32)}`,
    };
    const kinds = {
      name: "string",
      version: "string",
      chainId: "uint256",
      verifyingContract: "address",
      salt: "bytes32",
    };
    const names = Object.keys(whole);
    const domains = [
      names,
      [],
      ...names.map((name) => [name]),
      ...names.map((name) => names.filter((one) => one !== name)),
    ];
    const types = {
      Order: [
        { name: "id", type: "uint256" },
        { name: "note", type: "string" },
      ],
    };
    const message = { id: "12345678901234567890", note: "ü" };
    for (const members of domains) {
      const domain = Object.fromEntries(Object.entries(whole).filter(([name]) => members.includes(name)));
      const EIP712Domain = Object.entries(kinds)
        .filter(([name]) => members.includes(name))
        .map(([name, type]) => ({ name, type }));
      const typedData = { types: { EIP712Domain, ...types }, primaryType: "Order", domain, message };
      const expected = await new EthersWallet(private_key).signTypedData(domain, types, message);
      for (const [method, data] of [
        ["eth_signTypedData_v4", typedData],
        ["eth_signTypedData_v4", JSON.stringify(typedData)],
        ["eth_signTypedData_v3", typedData],
      ])
        expect(await call("ask", method, [address, data]), members.join()).toBe(expected);
    }
    const { EIP712Domain: _, ...undeclared } = { EIP712Domain: [], ...types };
    const bare = { types: undeclared, primaryType: "Order", domain: {}, message };
    expect(await call("ask", "eth_signTypedData_v4", [address, bare])).toBe(
      await new EthersWallet(private_key).signTypedData({}, types, message),
    );
    const list = { types: { List: [{ name: "ids", type: "uint8[]" }] }, primaryType: "List", domain: {} };
    expect(
      await call("ask", "eth_signTypedData_v3", [address, { ...list, message: { ids: [1] } }]),
    ).toMatchObject({
      code: -32_602,
      message: "eth_signTypedData_v3 signs no arrays. Use eth_signTypedData_v4.",
    });
  });

  test("gets no signature of typed data for another chain than the selected one", async () => {
    const { wallet, call } = await openShop(sandbox.wallets.buyer);
    const { address } = sandbox.wallets.buyer;
    const typed = (chainId: unknown) => ({
      types: { EIP712Domain: [{ name: "chainId", type: "uint256" }] },
      primaryType: "EIP712Domain",
      domain: { chainId },
      message: {},
    });
    for (const chainId of [31_337, "31337", "0x7a69", "0x7A69"])
      expect(await call("ask", "eth_signTypedData_v4", [address, typed(chainId)])).toMatch(
        /^0x[0-9a-f]{130}$/,
      );
    for (const chainId of [1, "0x1", "340282366920938463463374607431768211456"])
      expect(await call("ask", "eth_signTypedData_v4", [address, typed(chainId)])).toMatchObject({
        code: 4901,
      });
    const send = async (params: object) =>
      await call("ask", "eth_sendTransaction", [{ from: address, ...params }]);
    for (const chainId of ["0x1", "0x7a6a"])
      expect(await send({ to: address, chainId })).toMatchObject({ code: 4901 });
    expect(await send({ to: address, chainId: 31_337 })).toMatchObject({ code: -32_602 });
    expect(await send({ to: address, chainId: "0x7A69" })).toMatch(/^0x[0-9a-f]{64}$/);
    for (const creation of [{ data: "0x00" }, { to: null, data: "0x00" }])
      expect(await send(creation)).toEqual({
        code: -32_602,
        message:
          "The transaction has no `to`, and the wallet deploys no contracts. Add `to`, or deploy through the chain RPC.",
      });
    for (const [wrong, message] of [
      [{ to: address, data: "0x01", input: "0x02" }, "another `input`"],
      [{ to: address, type: "0x4" }, "delegates to no contract"],
      [{ to: address, authorizationList: [] }, "delegates to no contract"],
      [{ to: address, data: "0x1" }, "must be whole bytes in hex with 0x"],
      [{ to: address, input: "0xzz" }, "must be whole bytes in hex with 0x"],
      [{ to: address, value: "0x" }, "must be wei in hex with 0x"],
      [{ to: address.replace("C", "c") }, "with their checksum"],
    ] as const)
      expect(await send(wrong)).toMatchObject({ code: -32_602, message: expect.stringContaining(message) });
    const unfinished = { ...typed(31_337), primaryType: "Order", message: { lines: [{ units: 1 }] } };
    const types = {
      Order: [{ name: "lines", type: "Line[]" }],
      Line: [
        { name: "units", type: "uint256" },
        { name: "item", type: "string" },
      ],
    };
    expect(await call("ask", "eth_signTypedData_v4", [address, { ...unfinished, types }])).toEqual({
      code: -32_602,
      message: "The typed data has no value for the member lines.item.",
    });
    await wallet.switchChain(5);
    expect(await call("ask", "eth_signTypedData_v4", [address, typed(31_337)])).toMatchObject({ code: 4901 });
    expect(await call("ask", "eth_sendTransaction", [{ from: address, to: address }])).toMatchObject({
      code: 4901,
    });
    expect(await call("ask", "net_version", [])).toBe("5");
  });

  test("gets no signature of typed data whose member of a struct is null", async () => {
    const { call } = await openShop(sandbox.wallets.buyer);
    const types = {
      Order: [{ name: "line", type: "Line" }],
      Line: [{ name: "units", type: "uint256" }],
    };
    const order = { types, primaryType: "Order", domain: { chainId: 31_337 }, message: { line: null } };
    expect(await call("ask", "eth_signTypedData_v4", [sandbox.wallets.buyer.address, order])).toEqual({
      code: -32_602,
      message: "The typed data is not valid: the member line must be an object of the type Line, not null.",
    });
  });

  test("gets no signature of typed data with a wrong value, and no answer to what is no request", async () => {
    const { page, call } = await openShop(sandbox.wallets.buyer);
    const { address } = sandbox.wallets.buyer;
    for (const [type, value, message] of [
      ["uint256[]", "1", 'the member a must be an array, not "1"'],
      ["uint256[2]", ["1"], 'the member a must be an array of 2, not ["1"]'],
      ["uint8", 256, "the member a must be an integer of the type uint8, not 256"],
      ["int8", "-129", 'the member a must be an integer of the type int8, not "-129"'],
      ["uint256", 1.5, "the member a must be an integer of the type uint256, not 1.5"],
      ["uint256", null, "the member a must be an integer of the type uint256, not null"],
      ["bytes32", "0x12", 'the member a must be 32 bytes in hex with 0x, not "0x12"'],
      ["bytes", "hello", 'the member a must be whole bytes in hex with 0x, not "hello"'],
      ["address", "0x12", 'the member a must be an address, not "0x12"'],
      ["bool", "false", 'the member a must be true or false, not "false"'],
      ["string", 5, "the member a must be a text, not 5"],
      ...["Line", "uint", "uint7", "int264", "bytes0", "bytes33", "uint08"].map(
        (unknown) => [unknown, "0x11", `there is no type ${unknown}`] as const,
      ),
    ] as const)
      expect(
        await call("ask", "eth_signTypedData_v4", [
          address,
          {
            domain: {},
            types: { One: [{ name: "a", type }] },
            primaryType: "One",
            message: { a: value },
          },
        ]),
      ).toEqual({ code: -32_602, message: `The typed data is not valid: ${message}.` });
    expect(
      await page.evaluate("ethereum.request().catch(({ code, message }) => ({ code, message }))"),
    ).toEqual({ code: -32_602, message: "request takes { method, params }. Pass the name of a method." });
  });

  test("gets personal signatures of texts and of bytes, in any order of the parameters", async () => {
    const { wallet, call } = await openShop(sandbox.wallets.buyer);
    const { address, private_key } =
      sandbox.description.wallets["buyer"] ?? fail("The sandbox has no buyer.");
    const signer = new EthersWallet(private_key);
    const hash = `0x${"fe".repeat(32)}`;
    const asked: [params: unknown[], signed: string | Uint8Array, text: string][] = [
      [["Pay €5.", address], "Pay €5.", "Pay €5."],
      [["0x6869", address], "hi", "hi"],
      [["0x6869", address.toLowerCase(), "password"], "hi", "hi"],
      [[address, "0x6869"], "hi", "hi"],
      [["6869", address], "hi", "hi"],
      [["0x", address], "", ""],
      [["", address], "", ""],
      [["0xabc", address], "0xabc", "0xabc"],
      [[hash, address], getBytes(hash), "\ufffd".repeat(32)],
    ];
    for (const [params, signed, text] of asked) {
      expect(await call("ask", "personal_sign", params), JSON.stringify(params)).toBe(
        await signer.signMessage(signed),
      );
      expect(wallet.requests.at(-1)?.decoded).toMatchObject({ type: "message", text });
    }
    expect(await call("ask", "personal_sign", ["hi"])).toMatchObject({ code: -32_602 });
    expect(await call("ask", "personal_sign", ["hi", "me"])).toMatchObject({ code: -32_602 });
  });

  test.each(["approve", "reject", "wrong-chain", "tamper", "locked"] as const)(
    "signs and sends nothing past a wallet that is set to %s",
    async (mode) => {
      const { pay } = await activePurchase();
      const before = await sandbox.chain.client.getTransactionCount({ address: pay.from });
      const { call } = await openShop(
        sandbox.wallets.buyer,
        mode === "locked" ? { locked: true } : { answers: mode },
      );
      const bytes = "0x6869";
      for (const [method, params] of Object.entries({
        eth_sign: [pay.from, bytes],
        eth_signTransaction: [pay],
        eth_sendTransactionSync: [pay],
        eth_sendUnsignedTransaction: [pay],
        eth_signTypedData: [
          pay.from,
          { types: { EIP712Domain: [] }, primaryType: "EIP712Domain", domain: {}, message: {} },
        ],
        personal_sendTransaction: [pay, ""],
        evm_mine: [],
        hardhat_mine: ["0x1"],
        anvil_setBalance: [pay.from, "0x1"],
        anvil_impersonateAccount: [pay.from],
        debug_traceTransaction: [`0x${"00".repeat(32)}`],
        EVM_MINE: [],
        eth_subscribe: ["newHeads"],
        eth_unsubscribe: ["0x1"],
        eth_decrypt: ["0x", pay.from],
        net_unknown: [],
        wallet_sendCalls: [{ version: "2.0.0", from: pay.from, calls: [pay] }],
      }))
        expect(await call("ask", method, params), method).toMatchObject({ code: 4200 });
      const consented = {
        eth_sendTransaction: [pay],
        personal_sign: [bytes, pay.from],
        eth_signTypedData_v4: [
          pay.from,
          { types: { EIP712Domain: [] }, primaryType: "EIP712Domain", domain: {}, message: {} },
        ],
      };
      const code = { reject: 4001, "wrong-chain": 4901, locked: 4100 }[String(mode)];
      if (code === undefined) return;
      for (const [method, params] of Object.entries(consented))
        expect(await call("ask", method, params), method).toMatchObject({ code });
      expect(await sandbox.chain.client.getTransactionCount({ address: pay.from })).toBe(before);
      expect(await call("ask", "eth_coinbase", [])).toBe(mode === "locked" ? null : pay.from);
    },
  );

  test("switches to a chain whose id is written in capital letters, and refuses one that is padded", async () => {
    const { wallet, call } = await openShop(sandbox.wallets.buyer);
    expect(await call("ask", "wallet_switchEthereumChain", [{ chainId: "0x7A69" }])).toBeNull();
    expect(wallet.chainId).toBe("0x7a69");
    expect(await call("ask", "eth_chainId", [])).toBe("0x7a69");
    const { rpc } = sandbox.description.urls;
    expect(
      await call("ask", "wallet_addEthereumChain", [
        { chainId: "0xAB", chainName: "Capital", rpcUrls: [rpc] },
      ]),
    ).toBeNull();
    expect(await call("ask", "wallet_switchEthereumChain", [{ chainId: "0xab" }])).toBeNull();
    for (const chainId of ["0x07a69", "0x0", "7a69", "31337", 31_337])
      expect(await call("ask", "wallet_switchEthereumChain", [{ chainId }])).toMatchObject({ code: -32_602 });
  });

  test("gets the errors of the chain and of its own parameters with their codes", async () => {
    const { call } = await openShop(sandbox.wallets.buyer);
    expect(await call("ask", "eth_sendTransaction", [{ from: "me" }])).toMatchObject({ code: -32_602 });
    expect(await call("ask", "eth_noSuchMethod", [])).toMatchObject({ code: expect.any(Number) });
    const { pay } = await activePurchase();
    const stranger = { ...pay, from: sandbox.wallets.stranger.address };
    const node = await fetch(sandbox.description.urls.rpc, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params: [stranger, "latest"] }),
    });
    const { error } = JSON.parse(await node.text());
    expect(error.data).toMatch(/^0x\w+$/);
    expect(await call("ask", "eth_call", [stranger, "latest"])).toEqual(error);
  });
});

test("a wallet of a sandbox in another process signs with its key and sends through the chain RPC", async () => {
  const { pay } = await activePurchase();
  const { urls, wallets } = sandbox.description;
  const { private_key } = wallets["buyer"] ?? fail("The sandbox has no buyer.");
  const key = { private_key, rpc_url: urls.rpc };
  const { call } = await openShop(key);
  await call("find");
  const hash = (await call("send", pay)) as Hex;
  expect((await sandbox.wallets.buyer.receipt(hash)).status).toBe("success");
});

test("the wallet page of the sandbox enrolls a merchant with an injected wallet", async () => {
  const { merchant } = await sandbox.given.merchant({ state: "pending" });
  const page = await openPage();
  const wallet = await injectWallet(page, sandbox.wallets.merchant);
  await page.goto(merchant.wallet_url);
  await page.getByRole("button", { name: "Sandbox Wallet" }).click();
  await page.locator("#action-enroll").getByRole("button", { name: "Sign and enroll" }).click();
  await page.locator("#action-enroll").getByText("Accepted by the service").waitFor();
  const asked = wallet.requests.map(({ decoded }) => decoded);
  expect(asked).toContainEqual(
    expect.objectContaining({ type: "message", text: merchant.enrollment.message }),
  );
  expect(asked).toContainEqual(expect.objectContaining({ type: "transaction", function: "enroll" }));
});

test("equal clicks on the wallet page give equal fingerprints", async () => {
  const { merchant } = await sandbox.given.merchant({ state: "pending" });
  const before = await sandbox.snapshot();
  const enroll = async () => {
    const ownContext = await chromium.browser.newContext();
    const page = await ownContext.newPage();
    await injectWallet(page, sandbox.wallets.merchant);
    await page.goto(merchant.wallet_url);
    await page.getByRole("button", { name: "Sandbox Wallet" }).click();
    await page.locator("#action-enroll").getByRole("button", { name: "Sign and enroll" }).click();
    await page.locator("#action-enroll").getByText("Accepted by the service").waitFor();
    await ownContext.close();
    const { digest } = await sandbox.fingerprint();
    await before.restore();
    return digest;
  };
  onTestFinished(async () => await start.restore());
  expect(await enroll()).toBe(await enroll());
});

test("anything but a wallet or a key is refused with what to pass", async () => {
  const page = await openPage();
  await expect(injectWallet(page, "0x12" as never)).rejects.toThrow(
    'injectWallet takes a wallet of the sandbox, not "0x12". Pass sandbox.wallets.buyer, or { private_key, rpc_url }.',
  );
});
