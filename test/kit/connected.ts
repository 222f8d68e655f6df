import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { type Address, createPublicClient, createWalletClient, http, parseEther } from "viem";
import { mnemonicToAccount } from "viem/accounts";
import { expect, onTestFinished } from "vitest";
import { faucetCall } from "../../protocol/call.ts";
import { anvilBinary } from "../../sandbox/chain/anvil/anvil-binary.ts";
import { type DeployOptions, deploy } from "../../sandbox/chain/connection/deploy.ts";
import { readKeys, writeKeys } from "../../sandbox/chain/connection/network-files.ts";
import { accountDeriver } from "../../sandbox/chain/genesis/derive-account.ts";
import {
  initialBalances,
  testMnemonic,
  walletIndexes,
  walletNames,
} from "../../sandbox/chain/genesis/roles.ts";
import type { NetworkOption } from "../../sandbox/options/network.ts";
import { resolvePrograms } from "../../sandbox/options/programs.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** Starts Hardhat's node, another implementation of the EVM and of JSON-RPC, until the test is over. */
export async function startHardhatNode(): Promise<string> {
  return await startNode(
    process.execPath,
    (port) => ["node_modules/hardhat/dist/src/cli.js", "node", "--port", String(port)],
    "Started HTTP",
  );
}

/** Starts an Anvil that makes a block each second, until the test is over. */
export async function startSlowAnvil(): Promise<string> {
  return await startNode(
    anvilBinary(),
    (port) => ["--port", String(port), "--block-time", "1"],
    "Listening on",
  );
}

async function startNode(command: string, args: (port: number) => string[], ready: string): Promise<string> {
  const port = await freePort();
  const child = spawn(command, args(port), { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    if (child.kill()) await once(child, "exit");
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += String(chunk);
  });
  await expect.poll(() => output, { interval: 20 }).toContain(ready);
  return `http://127.0.0.1:${port}`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("This is no TCP server.");
  return address.port;
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

/** A deployment on a development node, with keys of wallets that have money, as the option `network`. */
export async function deployOn(
  url: string,
  options: Partial<DeployOptions> = {},
): Promise<NetworkOption & { folder: string }> {
  const folder = await temporaryFolder();
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
  for (const name of ["merchant", "buyer"] as const) {
    const account = mnemonicToAccount(testMnemonic, { addressIndex: walletIndexes[name] });
    const wallet = createWalletClient({ account, transport });
    const { to, data } = faucetCall(token.address, account.address, initialBalances.walletUsdc);
    const hash = await wallet.sendTransaction({ to, data, chain: null });
    await client.waitForTransactionReceipt({ hash });
  }
  return { rpcUrls: [url], ...files, folder };
}
