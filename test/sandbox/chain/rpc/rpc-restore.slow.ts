import { type Hex, toHex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import {
  accountMethods,
  dropMethods,
  gasMethods,
  impersonationMethods,
  nonceMethods,
} from "../../../../sandbox/chain/journal/changing-methods.ts";
import {
  loggingMethods,
  miningMethods,
  passedMethods,
} from "../../../../sandbox/chain/rpc/methods/method-list.ts";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../../sandbox/snapshots/snapshot.ts";
import { ask } from "../../../ask.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

let sandbox: Sandbox;
let start: Snapshot;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "rpc-restore" });
  start = await sandbox.snapshot();
});

beforeEach(async () => await start.restore());

afterAll(async () => await sandbox.close());

const response = z.object({
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

async function call(method: string, params: readonly unknown[] = [], { description } = sandbox) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = { "Content-Type": "application/json" };
  const { text } = await ask(description.urls.rpc, { method: "POST", headers, body });
  return response.parse(JSON.parse(text));
}

/** An account without a known key. */
const keyless = "0x00000000000000000000000000000000000a11ce";
const other = "0x0000000000000000000000000000000000000b0b";
/** The input of ecrecover: a digest, and a signature of no key. */
const garbage: Hex = `0x${"11".repeat(32)}${"00".repeat(31)}1b${"22".repeat(32)}${"33".repeat(32)}`;

/** Everything by which a caller of the chain RPC can tell one state of the node from another. */
async function probe(): Promise<unknown> {
  const asked: [string, ...unknown[]][] = [
    ["eth_getBlockByNumber", "latest", false],
    ["eth_getBlockByNumber", "pending", false],
    ["eth_gasPrice"],
    ["eth_maxPriorityFeePerGas"],
    ["eth_blobBaseFee"],
    ["eth_feeHistory", "0x4", "latest", [50]],
    ["eth_accounts"],
    ["eth_coinbase"],
    ["eth_chainId"],
    ["eth_syncing"],
    ["eth_config"],
    ["anvil_getAutomine"],
    ["anvil_getIntervalMining"],
    ["anvil_nodeInfo"],
    ["txpool_content"],
    ["eth_getBalance", keyless, "latest"],
    ["eth_getTransactionCount", keyless, "latest"],
    ["eth_getCode", keyless, "latest"],
    ["eth_call", { to: "0x0000000000000000000000000000000000000001", data: garbage }, "latest"],
    ["eth_sendTransaction", { from: keyless, to: other, value: "0x0" }],
    ["eth_signTransaction", { from: keyless, to: other, value: "0x0" }],
    ["eth_sign", keyless, "0x00"],
    ["evm_mine"],
    ["eth_getBlockByNumber", "latest", true],
  ];
  const found: unknown[] = [];
  for (const [method, ...params] of asked) found.push([method, await call(method, params)]);
  return found;
}

const wallet = () => sandbox.description.wallets["stranger"]?.address;
const transfer = () => ({ from: wallet(), to: other, value: "0x1" });
const token = () => sandbox.description.contracts.token;

/** The params with which a method does what it does, by its name without what precedes the underscore. */
const paramsOf: { [name: string]: () => readonly unknown[] } = {
  setBalance: () => [keyless, "0x10"],
  addBalance: () => [keyless, "0x10"],
  dealERC20: () => [keyless, token(), "0x10"],
  setERC20Balance: () => [keyless, token(), "0x10"],
  setERC20Allowance: () => [keyless, other, token(), "0x10"],
  setCode: () => [keyless, "0x00"],
  setStorageAt: () => [keyless, "0x0", `0x${"01".repeat(32)}`],
  setNonce: () => [keyless, "0x5"],
  setAccountNonce: () => [keyless, "0x5"],
  impersonateAccount: () => [keyless],
  stopImpersonatingAccount: () => [keyless],
  autoImpersonateAccount: () => [true],
  setBlockGasLimit: () => ["0x1000000"],
  setNextBlockBaseFeePerGas: () => ["0x77359400"],
  dropTransaction: () => [`0x${"ab".repeat(32)}`],
  removePoolTransactions: () => [keyless],
  reorg: () => [1, []],
  setLoggingEnabled: () => [true],
  sendTransaction: () => [transfer()],
  sendTransactionSync: () => [transfer()],
  sendUnsignedTransaction: () => [{ ...transfer(), gas: "0x5208", gasPrice: "0x77359400", nonce: "0x0" }],
  newFilter: () => [{}],
};

const paramsFor = (method: string) => paramsOf[method.slice(method.indexOf("_") + 1)]?.() ?? [];

const changing = [
  ...accountMethods,
  ...nonceMethods,
  ...impersonationMethods,
  ...gasMethods,
  ...dropMethods,
  ...miningMethods,
  ...loggingMethods,
  "anvil_reorg",
  "eth_sendTransaction",
  "eth_sendTransactionSync",
  "eth_sendUnsignedTransaction",
  "eth_newFilter",
  "eth_newBlockFilter",
  "eth_newPendingTransactionFilter",
];

describe("a restore brings back everything that a caller can tell of the node", () => {
  test("after each method that changes something", async () => {
    const before = await probe();
    for (const method of changing) {
      await start.restore();
      // A reorg needs a block of this chain, and a stop an account that is impersonated.
      await call("evm_mine");
      if (method.includes("stop")) await call("anvil_impersonateAccount", [keyless]);
      expect([method, (await call(method, paramsFor(method))).error]).toEqual([method, undefined]);
      await start.restore();
      expect({ method, found: await probe() }).toEqual({ method, found: before });
    }
  });

  test("after all methods that are passed on", async () => {
    const before = await probe();
    await start.restore();
    for (const { methods } of passedMethods)
      for (const method of Object.keys(methods)) await call(method, paramsFor(method));
    await start.restore();
    expect(await probe()).toEqual(before);
  });
});

test("whom the node impersonates is what a restore brought back, also in the next run", async () => {
  const dataDirectory = await temporaryFolder();
  const send = async (from: string, running: Sandbox) =>
    (await call("eth_sendTransaction", [{ from, to: other, value: "0x0" }], running)).error;
  {
    await using first = await createSandbox({ dataDirectory });
    for (const account of [keyless, other])
      await call("anvil_setBalance", [account, toHex(10n ** 18n)], first);
    await call("anvil_impersonateAccount", [keyless], first);
    const snapshot = await first.snapshot();
    await call("anvil_autoImpersonateAccount", [true], first);
    await snapshot.restore();
  }
  await using second = await createSandbox({ dataDirectory });
  expect(await send(keyless, second)).toBeUndefined();
  expect(await send(other, second)).toMatchObject({ message: "No Signer available" });
});
