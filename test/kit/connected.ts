import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { type Address, createPublicClient, createWalletClient, http, parseEther } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { expect } from "vitest";
import { z } from "zod";
import { faucetCall } from "../../protocol/call.ts";
import { askNode, toNode } from "../../relayer/node/node.ts";
import { anvilBinary } from "../../sandbox/chain/anvil/anvil-binary.ts";
import { createChainClient } from "../../sandbox/chain/client/chain-client.ts";
import { withoutMining } from "../../sandbox/chain/client/reorg.ts";
import { raiseOffset } from "../../sandbox/chain/clock/anvil-offset.ts";
import { readKeys, writeKeys } from "../../sandbox/chain/connection/network-files.ts";
import type { NetworkOption } from "../../sandbox/chain/connection/network-option.ts";
import { accountDeriver } from "../../sandbox/chain/genesis/derive-account.ts";
import {
  initialBalances,
  testMnemonic,
  walletIndexes,
  walletNames,
} from "../../sandbox/chain/genesis/roles.ts";
import { type DeployOptions, deploy } from "../../sandbox/deploy/deploy.ts";
import { resolvePrograms } from "../../sandbox/options/programs.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { freePort } from "./free-port.ts";

/** A node that is not the sandbox's own. */
export interface StartedNode {
  url: string;
  stop: () => Promise<void>;
}

/** Starts Hardhat's node, another implementation of the EVM and of JSON-RPC. */
export async function startHardhatNode(): Promise<StartedNode> {
  const args = ["node_modules/hardhat/dist/src/cli.js", "node", "--port"];
  return await startNode(process.execPath, (port) => [...args, String(port)], "Started HTTP");
}

/** Starts an Anvil that mines each transaction at once, and whose clock is half a minute behind, or more. @param at - its port; by default a free one. */
export async function startAutominingAnvil(
  at?: number,
  chainId = 31_337,
  secondsBehind = 30,
): Promise<StartedNode> {
  const time = Math.floor(Date.now() / 1_000) - secondsBehind;
  const args = ["--chain-id", String(chainId), "--timestamp", String(time), "--port"];
  return await startNode(anvilBinary(), (port) => [...args, String(port)], "Listening on", at);
}

/** Starts an Anvil that makes a block each second. */
export async function startSlowAnvil(chainId = 31_337): Promise<StartedNode> {
  const args = ["--chain-id", String(chainId), "--block-time", "1", "--port"];
  return await startNode(anvilBinary(), (port) => [...args, String(port)], "Listening on");
}

async function startNode(
  command: string,
  args: (port: number) => string[],
  ready: string,
  at?: number,
): Promise<StartedNode> {
  const port = at ?? (await freePort());
  const child = spawn(command, args(port), { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  const { promise: isReady, resolve, reject } = Promise.withResolvers<void>();
  child.stdout.on("data", (chunk) => {
    output += String(chunk);
    if (output.includes(ready)) resolve();
  });
  child.once("exit", () => reject(new Error(`The node has ended: ${output}`)));
  await isReady;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      if (child.kill()) await once(child, "exit");
    },
  };
}

/** Replaces the newest blocks of an Anvil by empty ones. Their transactions are lost, until a client sends them again. */
export async function reorganize({ url }: Pick<StartedNode, "url">, depth: number): Promise<void> {
  const node = toNode(createChainClient(url).request);
  await withoutMining(node, async () => {
    await askNode(node, "anvil_reorg", [depth, []], z.unknown());
    // It has set the clock back.
    await raiseOffset(node, 0);
  });
}

/** Opens a node that answers each method with one value, and refuses the others. */
export async function openAnsweringNode(answers: {
  readonly [method: string]: unknown;
}): Promise<{ url: string; asked: string[]; [Symbol.asyncDispose](): Promise<void> }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += String(chunk);
    });
    request.on("end", () => {
      const { id, method } = JSON.parse(text);
      asked.push(method);
      const missing = { error: { code: -32_601, message: "the method does not exist" } };
      const known = answers[method];
      const isRefused = typeof known === "object" && known !== null && "error" in known;
      const result = isRefused ? known : { result: known };
      const answer = method in answers ? result : missing;
      response
        .setHeader("Content-Type", "application/json")
        .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("This is no TCP server.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Sends test ether from a development node's first account. */
export async function sendEther(url: string, addresses: readonly Address[], ether = "100"): Promise<void> {
  const transport = http(url);
  const client = createPublicClient({ transport, pollingInterval: 20 });
  const wallet = createWalletClient({ account: mnemonicToAccount(testMnemonic), transport });
  for (const to of addresses) {
    const hash = await wallet.sendTransaction({ to, value: parseEther(ether), chain: null });
    await client.waitForTransactionReceipt({ hash });
  }
}

/** Takes all ether from an account, on Hardhat's node or on an Anvil. */
export async function takeEther(url: string, address: Address): Promise<void> {
  await askNode(toNode(createChainClient(url).request), "hardhat_setBalance", [address, "0x0"], z.unknown());
}

/** A deployment on a development node, with keys of wallets that have money, as the option `network`. */
export async function deployOn(
  url: string,
  options: Partial<DeployOptions> = {},
  inFolder?: string,
): Promise<NetworkOption & { folder: string }> {
  const folder = inFolder ?? (await temporaryFolder());
  const files = { keys: join(folder, "keys.json"), deployment: join(folder, "deployment.json") };
  const asked = { rpcUrls: [url], ...files, programs: resolvePrograms(["prg_demo"]), ...options };
  // It makes the keys, and says which address needs how much.
  await expect(deploy(asked)).rejects.toMatchObject({ code: "node_unusable" });
  const keys = await readKeys(files.keys);
  if (keys === null) throw new Error("There are no keys.");
  const operators = Object.values(keys.programs).map(({ operator }) => operator.address);
  await sendEther(url, [keys.deployer.address, ...operators]);
  const { token } = await deploy(asked);
  const accountAt = accountDeriver();
  for (const name of walletNames.filter((one) => one !== "deployer"))
    keys.wallets[name] = accountAt(walletIndexes[name]);
  await writeKeys(files.keys, keys);
  const transport = http(url);
  const client = createPublicClient({ transport, pollingInterval: 20 });
  // Another token than TestUSDC has no faucet.
  for (const name of options.token === undefined ? (["merchant", "buyer"] as const) : []) {
    const account = mnemonicToAccount(testMnemonic, { addressIndex: walletIndexes[name] });
    const wallet = createWalletClient({ account, transport });
    const { to, data } = faucetCall(token.address, account.address, initialBalances.walletUsdc);
    const hash = await wallet.sendTransaction({ to, data, chain: null });
    await client.waitForTransactionReceipt({ hash });
  }
  return { rpcUrls: [url], ...files, folder };
}
