import { join } from "node:path";
import { createPublicClient, createWalletClient, http, webSocket } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { ask } from "../../../ask.ts";
import { Storefront, send } from "../../../crash/storefront.ts";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

interface Reorg {
  Method: "anvil_reorg";
  Parameters: [depth: number, transactions: []];
  ReturnType: null;
}

test.for(["HTTP", "a WebSocket"])(
  "a reorg over %s right after a transaction was sent replaces its block, and the chain stays whole",
  async (way) => {
    const sandbox = await freshSandbox();
    const { rpc } = sandbox.description.urls;
    const { private_key } = sandbox.description.wallets["buyer"] ?? {};
    const account = privateKeyToAccount(private_key ?? "0x");
    const transport = way === "HTTP" ? http(rpc) : webSocket(rpc.replace("http", "ws"), { reconnect: false });
    const wallet = createWalletClient({ account, chain: foundry, transport });
    const client = createPublicClient({ chain: foundry, transport, cacheTime: 0 });
    await sandbox.chain.client.mine({ blocks: 3 });
    const before = await client.getBlockNumber();
    // A creation that loops until its gas is used up: its block takes a while to make.
    await wallet.sendTransaction({ data: "0x5b5f56", gas: 29_000_000n });
    await client.request<Reorg>({ method: "anvil_reorg", params: [2, []] });
    expect(await client.getBlockNumber()).toBe(before + 1n);
    for (let number = before + 1n; number > 0n; number -= 1n) {
      const { parentHash } = await client.getBlock({ blockNumber: number });
      expect(await client.getBlock({ blockNumber: number - 1n })).toHaveProperty("hash", parentHash);
    }
  },
);

/** Returns the port's answer over HTTP. */
async function call(rpc: string, body: unknown): Promise<unknown> {
  const headers = { "Content-Type": "application/json" };
  return JSON.parse((await ask(rpc, { method: "POST", headers, body: JSON.stringify(body) })).text);
}

const reorg = (depth: unknown, id = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "anvil_reorg",
  params: [depth, []],
});

/** A whole chain has the token's code, and each block the hash that the next one names. */
async function expectWhole({ chain }: Sandbox): Promise<void> {
  const { client, deployment } = chain;
  expect(await client.getCode({ address: deployment.token.address })).toMatch(/^0x60/);
  const head = await client.getBlockNumber({ cacheTime: 0 });
  const { parentHash } = await client.getBlock({ blockNumber: head });
  expect(await client.getBlock({ blockNumber: head - 1n })).toHaveProperty("hash", parentHash);
}

const refusal = z.object({ error: z.object({ message: z.string() }) });

const tooDeep = (depth: number, most: number, reason: string) =>
  `A reorg can remove at most ${most} ${most === 1 ? "block" : "blocks"} now, not ${depth}, because ${reason}. Remove fewer blocks, or mine first.`;
const prepared = (block: number) => `the prepared chain ends with block ${block}`;
const loaded = (block: number) =>
  `Anvil loaded the chain at block ${block} and has no contract code for blocks before it`;

describe("a reorg to a block before the last one of the prepared chain is refused and changes nothing", () => {
  test("over HTTP, even in a batch, whose other calls run", async () => {
    const sandbox = await freshSandbox();
    const { rpc } = sandbox.description.urls;
    const height = Number(await sandbox.chain.client.getBlockNumber());
    const none = { error: { code: -32_602, message: tooDeep(1, 0, prepared(height)) } };
    expect(await call(rpc, reorg(1))).toMatchObject(none);
    await sandbox.chain.client.mine({ blocks: 1 });
    const error = { code: -32_602, message: tooDeep(2, 1, prepared(height)) };
    const before = await sandbox.fingerprint();
    for (const depth of [2, "2", "0x2"])
      expect(await call(rpc, reorg(depth))).toEqual({ jsonrpc: "2.0", id: 1, error });
    expect(
      await call(rpc, [reorg(2), { jsonrpc: "2.0", id: 2, method: "eth_chainId" }, reorg(height + 1, 3)]),
    ).toEqual([
      { jsonrpc: "2.0", id: 1, error },
      { jsonrpc: "2.0", id: 2, result: "0x7a69" },
      { jsonrpc: "2.0", id: 3, error: { code: -32_602, message: tooDeep(height + 1, 1, prepared(height)) } },
    ]);
    expect(await sandbox.fingerprint()).toEqual(before);
    await expectWhole(sandbox);
    expect(await call(rpc, reorg(1))).toEqual({ jsonrpc: "2.0", id: 1, result: null });
    await expectWhole(sandbox);
  });

  test("over a WebSocket", async () => {
    const sandbox = await freshSandbox();
    const transport = webSocket(sandbox.description.urls.rpc.replace("http", "ws"), { reconnect: false });
    const client = createPublicClient({ chain: foundry, transport });
    const height = Number(await client.getBlockNumber());
    await expect(client.request<Reorg>({ method: "anvil_reorg", params: [2, []] })).rejects.toMatchObject({
      details: tooDeep(2, 0, prepared(height)),
    });
    await expectWhole(sandbox);
  });

  test("when a test's own client of the chain calls anvil_reorg", async () => {
    const sandbox = await freshSandbox();
    const { client } = sandbox.chain;
    const height = Number(await client.getBlockNumber());
    await expect(client.request<Reorg>({ method: "anvil_reorg", params: [2, []] })).rejects.toMatchObject({
      name: "ReorgDepthError",
      message: tooDeep(2, 0, prepared(height)),
    });
    await expectWhole(sandbox);
  });

  test("after a stop and a start, which goes as far back as before", async () => {
    const dataDirectory = join(await temporaryFolder(), "data");
    {
      await using sandbox = await createSandbox({ seed: "rpc-reorg-depth", dataDirectory });
      await sandbox.chain.client.mine({ blocks: 3 });
    }
    await using sandbox = await createSandbox({ seed: "rpc-reorg-depth", dataDirectory });
    const { rpc } = sandbox.description.urls;
    const height = Number(await sandbox.chain.client.getBlockNumber());
    const first = prepared(height - 3);
    expect(await call(rpc, reorg(4))).toMatchObject({ error: { message: tooDeep(4, 3, first) } });
    await expectWhole(sandbox);
    await sandbox.chain.client.mine({ blocks: 3 });
    expect(await call(rpc, reorg(7))).toMatchObject({ error: { message: tooDeep(7, 6, first) } });
    expect(await call(rpc, reorg(6))).toEqual({ jsonrpc: "2.0", id: 1, result: null });
    await expectWhole(sandbox);
  });

  test("after the restore of a snapshot, which keeps all contracts", async () => {
    const dataDirectory = join(await temporaryFolder(), "data");
    await (await createSandbox({ seed: "rpc-reorg-depth", dataDirectory })).close();
    await using sandbox = await createSandbox({ seed: "rpc-reorg-depth", dataDirectory });
    const height = Number(await sandbox.chain.client.getBlockNumber());
    const snapshot = await sandbox.snapshot();
    await sandbox.chain.client.mine({ blocks: 3 });
    await snapshot.restore();
    await expectWhole(sandbox);
    const { rpc } = sandbox.description.urls;
    expect(await call(rpc, reorg(2))).toMatchObject({ error: { message: tooDeep(2, 0, prepared(height)) } });
    await expectWhole(sandbox);
  });

  test("after a start from a checkpoint, before which Anvil has no contract code", async () => {
    const dataDirectory = join(await temporaryFolder(), "data");
    {
      await using sandbox = await createSandbox({ seed: "rpc-reorg-depth", dataDirectory });
      await sandbox.chain.client.mine({ blocks: 20 });
    }
    await using sandbox = await createSandbox({ seed: "rpc-reorg-depth", dataDirectory });
    const height = Number(await sandbox.chain.client.getBlockNumber());
    await sandbox.chain.client.mine({ blocks: 2 });
    const { rpc } = sandbox.description.urls;
    expect(await call(rpc, reorg(3))).toMatchObject({ error: { message: tooDeep(3, 2, loaded(height)) } });
    expect(await call(rpc, reorg(2))).toEqual({ jsonrpc: "2.0", id: 1, result: null });
    await expectWhole(sandbox);
  });

  test("by the relayer's fault, whose request is answered 503 and continues when it is repeated", async () => {
    const sandbox = await freshSandbox();
    const { control } = sandbox.description.urls;
    const set = await fetch(`${control}/faults`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        layer: "relayer",
        point: "after_confirmed",
        action: "reorg",
        match: { kind: "offer" },
        depth: 40,
      }),
    });
    expect(set.status).toBe(201);
    const storefront = await Storefront.open(sandbox.description);
    const offer = await storefront.prepare("offer");
    const activate = async () => await send(sandbox.description, storefront.credential, offer);
    const head = Number(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 }));
    const { number: first } = sandbox.chain.deployment.epochBlock;
    const refused = await activate();
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.text)).toMatchObject({
      code: "rpc_unavailable",
      detail: `anvil_reorg was refused (-32602): ${tooDeep(40, head + 1 - first, prepared(first))}`,
    });
    await expectWhole(sandbox);
    expect((await activate()).status).toBe(200);
  });
});

test("a rollback from a test's own client of the chain is refused, because no new block would have the time", async () => {
  const sandbox = await freshSandbox();
  const { client } = sandbox.chain;
  const { hash } = await client.getBlock();
  await expect(
    client.request<{ Method: string; Parameters: unknown; ReturnType: unknown }>({
      method: "anvil_rollback",
      params: [1],
    }),
  ).rejects.toMatchObject({
    name: "ReorgDepthError",
    message:
      "anvil_rollback is refused because time would go back. Replace blocks with anvil_reorg, or restore a snapshot.",
  });
  expect(await client.getBlock()).toMatchObject({ hash });
});

test("a reorg of more than 128 blocks of a kept chain is refused, because it keeps no older states", async () => {
  const dataDirectory = join(await temporaryFolder(), "data");
  await using sandbox = await createSandbox({ seed: "rpc-reorg-depth", dataDirectory });
  const { rpc } = sandbox.description.urls;
  await sandbox.chain.client.mine({ blocks: 600 });
  const { error } = refusal.parse(await call(rpc, reorg(599)));
  const [, most = 0, first = 0] = (
    /^A reorg can remove at most (\d+) blocks now, not 599, because Anvil keeps no state of blocks before block (\d+)\. Remove fewer blocks\.$/.exec(
      error.message,
    ) ?? []
  ).map(Number);
  expect(most + first).toBe(Number(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 })));
  expect(most).toBeGreaterThanOrEqual(128);
  expect(most).toBeLessThanOrEqual(132);
  expect(await call(rpc, reorg(most + 1))).toMatchObject({
    error: { code: -32_602, message: error.message.replace("not 599", `not ${most + 1}`) },
  });
  expect(await call(rpc, reorg(most))).toEqual({ jsonrpc: "2.0", id: 1, result: null });
  await expectWhole(sandbox);
});

test.each([[[]], [[-1, []]], [["two", []]], [[0.5, []]], [[null, []]], [[1, null]], [[1, [[[], 0]]]]])(
  "a reorg whose depth cannot be read is refused: %j",
  async (params) => {
    const sandbox = await freshSandbox();
    expect(
      await call(sandbox.description.urls.rpc, { jsonrpc: "2.0", id: 1, method: "anvil_reorg", params }),
    ).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: {
        code: -32_602,
        message:
          "params must be the number of blocks to take and the transactions of the new ones, as in [2, []].",
      },
    });
  },
);
