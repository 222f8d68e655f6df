import { ethers } from "ethers";
import { createTestClient, type Hex, http, publicActions, walletActions } from "viem";
import { foundry } from "viem/chains";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import type { Sandbox } from "../../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../../sandbox/snapshots/snapshot.ts";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;
let start: Snapshot;
let rpc: string;

beforeAll(async () => {
  sandbox = await freshSandbox();
  rpc = sandbox.description.urls.rpc;
  start = await sandbox.snapshot();
});

beforeEach(async () => await start.restore());

async function call(method: string, params: unknown[] = []): Promise<{ result?: unknown; error?: unknown }> {
  const response = await fetch(rpc, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return Object.fromEntries(Object.entries(JSON.parse(await response.text())));
}

async function take(method = "evm_snapshot"): Promise<unknown> {
  return (await call(method)).result;
}

test("a revert takes chain, store, relayer and clock back together", async () => {
  const before = await sandbox.fingerprint();
  const id = await take();
  await sandbox.given.purchase({ state: "paid" });
  await sandbox.clock.travel({ days: 1 });
  expect(await sandbox.fingerprint()).not.toEqual(before);
  expect(await call("evm_revert", [id])).toMatchObject({ result: true });
  expect(await sandbox.fingerprint()).toEqual(before);
  expect(await sandbox.store.list("purchases", {})).toEqual([]);
});

test("an id is used once, and a revert deletes those taken after it", async () => {
  const [first, second, third] = [await take(), await take("anvil_snapshot"), await take("hardhat_snapshot")];
  expect(await call("hardhat_revert", [second])).toMatchObject({ result: true });
  expect(await call("evm_revert", [second])).toMatchObject({ result: false });
  expect(await call("evm_revert", [third])).toMatchObject({ result: false });
  expect(await call("anvil_revert", [first])).toMatchObject({ result: true });
  expect(await take()).not.toBe(first);
});

test.each(["anvil_metadata", "hardhat_metadata"])(
  "%s lists the snapshots that can still be restored, and none of the sandbox's own or of an earlier test",
  async (method) => {
    const listed = async () => {
      const { result } = z
        .object({ result: z.looseObject({ snapshots: z.record(z.string(), z.unknown()) }) })
        .parse(await call(method));
      return result.snapshots;
    };
    await start.restore();
    expect(await listed()).toEqual({});
    const first = String(await take());
    const block = await sandbox.chain.client.getBlock();
    const own = await sandbox.snapshot();
    await sandbox.clock.travel({ days: 1 });
    const second = String(await take());
    const next = await sandbox.chain.client.getBlock();
    const both = {
      [first]: [Number(block.number), block.hash],
      [second]: [Number(next.number), next.hash],
    };
    expect(await listed()).toEqual(both);
    await own.restore();
    expect(await listed()).toEqual({ [first]: both[first] });
    expect(await call("evm_revert", [first])).toMatchObject({ result: true });
    expect(await listed()).toEqual({});
    await take();
    await start.restore();
    const { result } = await call(method);
    expect(result).toMatchObject({ chainId: 31_337, snapshots: {} });
  },
);

test("an id of a state that another restore has removed is unknown", async () => {
  const id = await take();
  await start.restore();
  expect(await call("evm_revert", [id])).toMatchObject({ result: false });
  expect(await call("evm_revert", ["0xffffffffffff"])).toMatchObject({ result: false });
});

test("a revert makes later snapshots of the control API stale", async () => {
  const id = await take();
  const later = await sandbox.snapshot();
  await call("evm_revert", [id]);
  await expect(later.restore()).rejects.toMatchObject({ code: "stale_snapshot" });
});

test.each([
  ["evm_snapshot", ["0x1"]],
  ["evm_revert", []],
  ["evm_revert", ["one"]],
  ["evm_revert", [null]],
  ["evm_revert", ["0x1", "0x2"]],
])("%s with %j is refused with what the params are", async (method, params) => {
  expect(await call(method, params)).toMatchObject({
    error: { code: -32_602, message: expect.stringContaining("params") },
  });
});

test("a snapshot waits for requests in progress, and has each of them as a whole or not at all", async () => {
  const id = await take();
  const { urls } = sandbox.description;
  const given = async () => {
    const body = JSON.stringify({ purchase: { state: "paid" } });
    const headers = { "Content-Type": "application/json" };
    return await fetch(`${urls.control}/given`, { method: "POST", headers, body });
  };
  const asked = Array.from({ length: 5 }, given);
  const inner = await take();
  for (const { status } of await Promise.all(asked)) expect(status).toBe(201);
  expect(await call("evm_revert", [inner])).toMatchObject({ result: true });
  // Nothing was under way when it was taken.
  const overview = await (await fetch(`${urls.control}/explorer/overview`)).json();
  expect(overview).toMatchObject({ unsettled: [], pending_transactions: 0 });
  expect(await call("evm_revert", [id])).toMatchObject({ result: true });
  expect(await sandbox.store.list("purchases", {})).toEqual([]);
});

test("a WebSocket and a batch take and revert", async () => {
  const socket = new WebSocket(rpc.replace("http", "ws"));
  const messages: string[] = [];
  socket.on("message", (data) => messages.push(String(data)));
  await new Promise((resolve) => socket.once("open", resolve));
  const ask = async (body: unknown) => {
    socket.send(JSON.stringify(body));
    const count = messages.length;
    await expect.poll(() => messages.length).toBe(count + 1);
    return JSON.parse(messages.at(-1) ?? "");
  };
  const { result: id } = await ask({ jsonrpc: "2.0", id: 1, method: "evm_snapshot" });
  const block = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
  const answers = await ask([
    { jsonrpc: "2.0", id: 2, method: "evm_mine", params: [] },
    { jsonrpc: "2.0", id: 3, method: "evm_revert", params: [id] },
    { jsonrpc: "2.0", id: 4, method: "eth_blockNumber", params: [] },
  ]);
  expect(answers).toMatchObject([{ result: "0x0" }, { result: true }, { result: `0x${block.toString(16)}` }]);
  socket.close();
});

test("viem's test client and ethers go back with their own methods", async () => {
  const client = createTestClient({ chain: foundry, mode: "anvil", transport: http(rpc) })
    .extend(publicActions)
    .extend(walletActions);
  const { address } = sandbox.wallets.stranger;
  const balance = await client.getBalance({ address });
  const id = await client.snapshot();
  await client.setBalance({ address, value: 1n });
  await client.revert({ id });
  expect(await client.getBalance({ address })).toBe(balance);

  const provider = new ethers.JsonRpcProvider(rpc, 31_337, { staticNetwork: true, cacheTimeout: -1 });
  const snapshot: Hex = await provider.send("evm_snapshot", []);
  await provider.send("evm_mine", []);
  expect(await provider.send("evm_revert", [snapshot])).toBe(true);
  expect(await provider.getBlockNumber()).toBe(Number(await client.getBlockNumber({ cacheTime: 0 })));
  provider.destroy();
});
