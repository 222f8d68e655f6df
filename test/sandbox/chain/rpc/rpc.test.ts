import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  http,
  parseEther,
  publicActions,
  webSocket,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { packageRoot } from "../../../../sandbox/lib/package-root.ts";
import type { Snapshot } from "../../../../sandbox/snapshots/snapshot.ts";
import { fillPage } from "../../../../scripts/generate/docs.ts";
import { ask } from "../../../ask.ts";
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

const refusal = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.int().nullable(),
  error: z.object({ code: z.literal(-32_004), message: z.string() }),
});

async function call(method: string, params: unknown[] = [], headers: { [name: string]: string } = {}) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
  return await ask(rpc, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body,
  });
}

async function blockNumber() {
  return await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
}

function openSocket(headers: { [name: string]: string } = {}) {
  const socket = new WebSocket(rpc.replace("http", "ws"), { headers });
  onTestFinished(() => socket.terminate());
  return socket;
}

describe("calls that pass:", () => {
  test("a wallet's own transaction is mined at once, one second after the block before it", async () => {
    const { private_key } = sandbox.description.wallets["buyer"] ?? {};
    if (private_key === undefined) throw new Error("The sandbox has a buyer.");
    const wallet = createWalletClient({
      account: privateKeyToAccount(private_key),
      chain: foundry,
      transport: http(rpc),
    }).extend(publicActions);
    const before = await wallet.getBlock();
    const hash = await wallet.sendTransaction({ to: wallet.account.address, value: 1n });
    const receipt = await wallet.waitForTransactionReceipt({ hash, pollingInterval: 10 });
    const after = await wallet.getBlock({ blockHash: receipt.blockHash });
    expect(receipt.status).toBe("success");
    expect(after.timestamp).toBe(before.timestamp + 1n);
  });

  test("an answer has exactly the bytes of the chain's answer", async () => {
    const { registrar } = sandbox.description.contracts;
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "eth_getCode",
      params: [registrar, "latest"],
    });
    const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body };
    const direct = await ask(sandbox.chain.anvil.url, sent);
    expect((await ask(rpc, sent)).text).toBe(direct.text);
    expect(direct.text.length).toBeGreaterThan(10_000);
  });

  test("Anvil's methods for tests are forwarded: balances, impersonation, blocks, reorgs, traces", async () => {
    const client = createTestClient({ mode: "anvil", transport: http(rpc) }).extend(publicActions);
    const address = "0x00000000000000000000000000000000000000a1";
    await client.setBalance({ address, value: parseEther("2") });
    await client.impersonateAccount({ address });
    const wallet = createWalletClient({ account: address, chain: foundry, transport: http(rpc) });
    const hash = await wallet.sendTransaction({ to: address, value: 1n });
    // Anvil answers the sender before the transaction is in a block, and traces none that is not.
    await client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
    const trace = await call("debug_traceTransaction", [hash, { tracer: "callTracer" }]);
    expect(JSON.parse(trace.text)).toMatchObject({ result: { type: "CALL", from: address } });
    await client.mine({ blocks: 3 });
    const { hash: before } = await client.getBlock();
    await client.request<{ Method: "anvil_reorg"; Parameters: [number, []]; ReturnType: null }>({
      method: "anvil_reorg",
      params: [2, []],
    });
    expect((await client.getBlock()).hash).not.toBe(before);
  });

  test("hardhat_dropTransaction answers whether it has dropped a transaction, as Hardhat does", async () => {
    await ask(`${sandbox.description.urls.control}/mining`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: '{"every":"never"}',
    });
    const result = async (method: string, params: unknown[]) =>
      JSON.parse((await call(method, params)).text).result;
    const { buyer, merchant } = sandbox.wallets;
    const hash = await result("eth_sendTransaction", [{ from: buyer.address, to: merchant.address }]);
    expect(await result("hardhat_dropTransaction", [hash])).toBe(true);
    expect(await result("eth_getTransactionByHash", [hash])).toBeNull();
    expect(await result("hardhat_dropTransaction", [hash])).toBe(false);
  });

  test("a WebSocket subscribes to new heads and answers calls", async () => {
    const client = createPublicClient({ chain: foundry, transport: webSocket(rpc.replace("http", "ws")) });
    const { promise: head, resolve } = Promise.withResolvers<bigint>();
    const { unsubscribe, subscriptionId } = await client.transport.subscribe({
      params: ["newHeads"],
      onData: ({ result }) => resolve(BigInt(result.number)),
    });
    expect(subscriptionId).toMatch(/^0x/);
    const before = await client.getBlockNumber({ cacheTime: 0 });
    await sandbox.chain.client.mine({ blocks: 1 });
    expect(await head).toBe(before + 1n);
    await unsubscribe();
    (await client.transport.getRpcClient()).close();
  });

  test("a batch is forwarded unchanged", async () => {
    const one = (id: number, method: string) => ({ jsonrpc: "2.0", id, method, params: [] });
    const body = JSON.stringify([one(1, "eth_chainId"), one(2, "anvil_mine"), one(3, "eth_chainId")]);
    const headers = { "Content-Type": "application/json" };
    const answer = await ask(rpc, { method: "POST", headers, body });
    expect(JSON.parse(answer.text)).toMatchObject([{ id: 1, result: "0x7a69" }, { id: 2 }, { id: 3 }]);
  });

  test("a batch is answered as a batch, even with one call or with notifications", async () => {
    const asked = async (calls: object[]) => {
      const headers = { "Content-Type": "application/json" };
      const body = JSON.stringify(calls);
      return JSON.parse((await ask(rpc, { method: "POST", headers, body })).text);
    };
    const call = { jsonrpc: "2.0", method: "eth_chainId", params: [] };
    const answered = (id: number) => ({ jsonrpc: "2.0", id, result: "0x7a69" });
    expect(await asked([{ ...call, id: 1 }])).toEqual([answered(1)]);
    expect(await asked([call, { ...call, id: 2 }])).toEqual([answered(2)]);
    expect(await asked([1, 2].map((id) => ({ ...call, id })))).toEqual([answered(1), answered(2)]);
  });

  test("a request that is not a call is refused with the chain's error code", async () => {
    for (const body of ["", "nonsense", "null", "[]", '{"jsonrpc":"2.0","id":1}', '[["evm_revert"]]']) {
      const sent = { method: "POST", headers: { "Content-Type": "application/json" }, body };
      const [through, direct] = await Promise.all([ask(rpc, sent), ask(sandbox.chain.anvil.url, sent)]);
      const codes = [through, direct].map(({ text }) => /"code":(-\d+)/.exec(text)?.[1]);
      expect([through.status, codes[0]], body).toEqual([direct.status, codes[1]]);
    }
    const method = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","method":"anvil_rollback","params":[]}';
    const twice = '{"jsonrpc":"2.0","id":1,"method":"anvil_rollback","method":"eth_chainId","params":[]}';
    for (const body of [method, twice]) {
      const answer = await ask(rpc, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
      });
      expect(JSON.parse(answer.text)).toMatchObject({ error: {} });
    }
  });

  test("a snapshot waits for calls in progress, and later calls wait for it", async () => {
    const snapshot = await sandbox.snapshot();
    const height = await blockNumber();
    const calls = Array.from({ length: 20 }, async () => (await call("anvil_mine", ["0x1"])).status);
    await snapshot.restore();
    expect(new Set(await Promise.all(calls))).toEqual(new Set([200]));
    await snapshot.restore();
    expect(await blockNumber()).toBe(height);
  });
});

test("a WebSocket handshake that cannot be read is answered as a JSON-RPC error", async () => {
  for (const headers of [
    { "Sec-WebSocket-Version": "13" },
    { "Sec-WebSocket-Version": "7", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==" },
  ]) {
    const {
      status,
      headers: answered,
      text,
    } = await ask(rpc, {
      headers: { Connection: "Upgrade", Upgrade: "websocket", ...headers },
    });
    expect([status, answered["content-type"]]).toEqual([400, "application/json"]);
    expect(JSON.parse(text)).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: {
        code: -32_600,
        message: expect.stringMatching(
          /^The connection cannot become a WebSocket: .+\. Send the handshake of RFC 6455\.$/,
        ),
      },
    });
  }
});

describe("refusals:", () => {
  test.each([
    ["evm_mine", [1_900_000_000]],
    ["evm_mine", [{ timestamp: 1_900_000_000 }]],
    ["evm_mine_detailed", [{ timestamp: "0x713fb300", blocks: 2 }]],
    ["anvil_mine", ["0x2", "0xe10"]],
    ["hardhat_mine", ["0x2", 3_600]],
  ])("%s that also sets the time is refused", async (method, params) => {
    const before = await blockNumber();
    const { text } = await call(method, params);
    expect(refusal.parse(JSON.parse(text)).error.message).toContain("routing-sandbox travel");
    expect(await blockNumber()).toBe(before);
  });

  test.each([
    ["evm_mine", []],
    ["anvil_mine", ["0x1"]],
    ["anvil_mine", ["0x1", "0x0"]],
    ["anvil_mine", ["0x1", null]],
    ["hardhat_mine", ["0x1", "0x1"]],
    ["anvil_mine", ["0x1", 1]],
  ])("%s without a time is not refused", async (method, params) => {
    const before = await blockNumber();
    await call(method, params);
    expect(await blockNumber()).toBe(before + 1n);
  });

  test("a batch with one refused call is refused whole, and nothing of it is run", async () => {
    const before = await blockNumber();
    const one = (id: number, method: string) => ({ jsonrpc: "2.0", id, method, params: [] });
    const body = JSON.stringify([one(1, "anvil_mine"), one(2, "anvil_rollback"), one(3, "eth_chainId")]);
    const answer = await ask(rpc, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    const answers = z.array(refusal).parse(JSON.parse(answer.text));
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(answers[0]?.error.message).toBe("Not run: another call of this batch is refused.");
    expect(answers[1]?.error.message).toContain("anvil_reorg");
    expect(await blockNumber()).toBe(before);
  });

  test("a call is refused over a WebSocket, which continues", async () => {
    const socket = openSocket();
    await once(socket, "open");
    const told = async (method: string) => {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 7, method, params: [] }));
      const [data] = await once(socket, "message");
      return JSON.parse(String(data));
    };
    expect(refusal.parse(await told("anvil_reset")).error.message).toContain("--fresh");
    expect(await told("eth_chainId")).toEqual({ jsonrpc: "2.0", id: 7, result: "0x7a69" });
  });

  test("a body over two megabytes is refused, declared or not", async () => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 7,
      method: "eth_chainId",
      params: ["a".repeat(2 ** 21)],
    });
    const headers = { "Content-Type": "application/json" };
    const declared = { ...headers, "Content-Length": String(body.length) };
    for (const sent of [declared, { ...headers, "Transfer-Encoding": "chunked" }]) {
      const answer = await ask(rpc, { method: "POST", headers: sent, body });
      expect(answer.status).toBe(413);
      expect(answer.text).toContain("2097152 bytes");
    }
  });

  test.each(["text/plain", "application/jsonp", "application/x-www-form-urlencoded", ""])(
    "a body that is said to be %j is refused",
    async (type) => {
      const before = await blockNumber();
      const { status, text } = await call("anvil_mine", [], { "Content-Type": type });
      expect([status, JSON.parse(text)]).toEqual([
        415,
        {
          jsonrpc: "2.0",
          id: null,
          error: { code: -32_600, message: "Send the request as application/json." },
        },
      ]);
      expect(await blockNumber()).toBe(before);
    },
  );

  test.each(["application/json", "Application/JSON; charset=utf-8", "application/json;"])(
    "a body that is said to be %j is not refused",
    async (type) => {
      expect((await call("eth_chainId", [], { "Content-Type": type })).status).toBe(200);
    },
  );

  test("an HTTP method other than POST and OPTIONS is refused", async () => {
    const answer = await ask(rpc);
    expect([answer.status, answer.headers["allow"]]).toEqual([405, "POST, OPTIONS"]);
  });
});

test("docs/rpc.md names every method that passes or is refused, and every limit", async () => {
  const page = await readFile(join(packageRoot(), "docs", "rpc.md"), "utf8");
  expect(page).toBe(fillPage("docs/rpc.md", page));
});

describe("callers:", () => {
  test("pages of this machine and browser extensions may call, and get the headers that let them read the answer", async () => {
    const origins = [
      "http://localhost:3000",
      "https://127.0.0.1:5173",
      "http://[::1]:8080",
      "chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn",
      "moz-extension://2c127fa4-62c7-7e4f-90e5-472b45eecfdc",
    ];
    for (const Origin of origins) {
      const asked = { Origin, "Access-Control-Request-Method": "POST" };
      const preflight = await ask(rpc, { method: "OPTIONS", headers: asked });
      // With Vary, no cache gives one page the answer of another.
      const readable = { vary: "Origin", "access-control-allow-origin": Origin };
      expect(preflight).toMatchObject({
        status: 204,
        headers: {
          ...readable,
          "access-control-allow-methods": "POST",
          "access-control-allow-headers": expect.stringMatching(/Content-Type.*traceparent.*sentry-trace/),
          "access-control-max-age": "600",
        },
      });
      expect(await call("eth_chainId", [], { Origin })).toMatchObject({ status: 200, headers: readable });
      const socket = openSocket({ Origin });
      await once(socket, "open");
    }
    const { headers } = await call("eth_chainId", [], {});
    expect([headers["vary"], headers["access-control-allow-origin"]]).toEqual(["Origin", undefined]);
  });

  test.each([
    "https://evil.example",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example:8545",
    "null",
    "file://",
    "ftp://localhost",
  ])("a page of %s may not call, with or without a preflight, nor over a WebSocket", async (Origin) => {
    const preflight = await ask(rpc, { method: "OPTIONS", headers: { Origin } });
    const answer = await call("anvil_mine", [], { Origin });
    for (const { status, headers } of [preflight, answer])
      expect([status, headers["access-control-allow-origin"]]).toEqual([403, undefined]);
    const [error] = await once(openSocket({ Origin }), "error");
    expect(String(error)).toContain("403");
  });

  test("the Host must be a name of this machine with this port (DNS rebinding)", async () => {
    const { port } = new URL(rpc);
    for (const Host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
      expect((await call("eth_chainId", [], { Host })).status).toBe(200);
    for (const Host of [
      `evil.example:${port}`,
      "localhost",
      "localhost:1",
      `127.0.0.1.evil.example:${port}`,
    ]) {
      expect((await call("eth_chainId", [], { Host })).status, Host).toBe(403);
      const [error] = await once(openSocket({ Host }), "error");
      expect(String(error), Host).toContain("403");
    }
  });
});

test("the mining mode is set over the control API", async () => {
  const pace = async (every: string | number) => {
    const body = JSON.stringify({ every });
    const headers = { "Content-Type": "application/json" };
    return (await ask(`${sandbox.description.urls.control}/mining`, { method: "POST", headers, body }))
      .status;
  };
  const before = await blockNumber();
  expect(await pace("never")).toBe(200);
  const hash = await sandbox.wallets.stranger.submit({ to: sandbox.wallets.buyer.address, data: "0x" });
  expect(await blockNumber()).toBe(before);
  expect(await pace(1)).toBe(200);
  await sandbox.wallets.stranger.receipt(hash);
  expect(await pace("transaction")).toBe(200);
  expect(await pace("sometimes")).toBe(422);
});

test("a port that is in use is named with the option that chooses another", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = z.object({ port: z.int() }).parse(other.address());
  await expect(createSandbox({ ports: { rpc: port } })).rejects.toMatchObject({
    code: "port_in_use",
    message: `Port ${port} on 127.0.0.1 is in use. Choose another port with the option ports.rpc, or 0 for any free port.`,
  });
});

test("a call to a chain that has ended gets an error that says so", async () => {
  await using gone = await createSandbox({ seed: "gone" });
  await gone.chain.anvil.stop();
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
  const headers = { "Content-Type": "application/json" };
  const answer = await ask(gone.description.urls.rpc, { method: "POST", headers, body });
  expect([answer.status, answer.text]).toEqual([502, expect.stringContaining("does not respond")]);
});
