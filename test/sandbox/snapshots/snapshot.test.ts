import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { createWalletClient, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket as FragmentingSocket } from "ws";
import { z } from "zod";
import { readMining, setMining } from "../../../sandbox/chain/clock/mining.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { day } from "../../../server/limits.ts";
import { actorsOf } from "../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../testkit/demo/printer.ts";
import { Session } from "../../../testkit/demo/session.ts";
import { enrollMerchant } from "../../../testkit/demo/show-merchant.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

interface Reorg {
  Method: "anvil_reorg";
  Parameters: [depth: number, transactions: []];
  ReturnType: null;
}

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await freshSandbox();
});

test("a restore brings back chain, store, clock and faults as one", async () => {
  const before = await sandbox.fingerprint();
  const now = await sandbox.clock.now();
  const snapshot = await sandbox.snapshot();
  await enrollMerchant(await Session.open(actorsOf(sandbox.description), silentPrinter));
  await sandbox.clock.travel({ days: 8 });
  await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "drop" });
  expect(await sandbox.fingerprint()).not.toEqual(before);
  await snapshot.restore();
  expect(await sandbox.fingerprint()).toEqual(before);
  expect(await sandbox.clock.now()).toBe(now);
  expect(sandbox.faults.list()).toEqual([]);
});

test("a fingerprint has a block with the root of its own state, also while blocks are made", async () => {
  const { client } = sandbox.chain;
  const reading = Array.from({ length: 20 }, async () => {
    const { block } = await sandbox.fingerprint();
    return [block.hash, block.state_root];
  });
  const mining = Array.from({ length: 20 }, async () => await client.mine({ blocks: 1 }));
  const [read] = await Promise.all([Promise.all(reading), Promise.all(mining)]);
  for (const [hash, root] of read)
    expect(root).toBe((await client.getBlock({ blockHash: hash as Hex })).stateRoot);
});

test("a fingerprint depends on the newest block, even if the block changes nothing", async () => {
  const snapshot = await sandbox.snapshot();
  const before = await sandbox.fingerprint();
  await sandbox.chain.client.mine({ blocks: 1 });
  const { number, hash, stateRoot } = await sandbox.chain.client.getBlock({ blockTag: "latest" });
  const after = await sandbox.fingerprint();
  expect(after.block).toEqual({ number: before.block.number + 1, hash, state_root: stateRoot });
  expect(Number(number)).toBe(after.block.number);
  expect(after.digest).not.toBe(before.digest);
  await snapshot.restore();
});

test.each([
  ["anvil_setBalance", ["0x5"]],
  ["anvil_setNonce", ["0x9"]],
  ["anvil_setCode", ["0x6001"]],
  ["anvil_setStorageAt", ["0x0", `0x${"1".padStart(64, "0")}`]],
] as const)(
  "a fingerprint depends on what %s has changed, also before the next block",
  async (method, params) => {
    const snapshot = await sandbox.snapshot();
    const before = await sandbox.fingerprint();
    await fetch(sandbox.description.urls.rpc, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method,
        params: [sandbox.wallets.stranger.address, ...params],
      }),
    });
    const after = await sandbox.fingerprint();
    expect(after.digest).not.toBe(before.digest);
    expect(after.block.hash).toBe(before.block.hash);
    await snapshot.restore();
    expect(await sandbox.fingerprint()).toEqual(before);
  },
);

test("the first block after a restore is one second later than the restored block", async () => {
  const { clock, chain } = sandbox;
  const now = await clock.now();
  const snapshot = await sandbox.snapshot();
  await clock.travel({ days: 8 });
  await snapshot.restore();
  await chain.client.mine({ blocks: 1 });
  expect(await clock.now()).toBe(now + 1);
  await snapshot.restore();
});

test("a restore takes a live clock back by what it travelled since, also for the next run", async () => {
  const options = { mode: "live", dataDirectory: await temporaryFolder() } as const;
  await using live = await createSandbox(options);
  const { clock } = live;
  await clock.travel({ days: 2 });
  const offset = clock.offset();
  const snapshot = await live.snapshot();
  await clock.travel({ days: 8 });
  expect(clock.offset()).toBe(offset + 8 * day);
  await snapshot.restore();
  expect(clock.offset()).toBe(offset);
  await live.close();
  await using next = await createSandbox(options);
  expect(next.clock.offset()).toBe(offset);
});

test.each(["transaction", "never", 3_600] as const)(
  "a restore takes the mode of mining back to %s, whatever it was since",
  async (pace) => {
    const { client } = sandbox.chain;
    await setMining(client, pace);
    const snapshot = await sandbox.snapshot();
    const before = await readMining(client);
    for (const since of ["transaction", "never", 60] as const) {
      await setMining(client, since);
      await snapshot.restore();
      expect(await readMining(client)).toEqual(before);
    }
    await setMining(client, "transaction");
  },
);

test("the same requests have the same ids again after a restore", async () => {
  const ask = async () => {
    const { response } = await sandbox.client.GET("/v1/routing/capabilities");
    return response.headers.get("X-Request-Id");
  };
  const snapshot = await sandbox.snapshot();
  const ids = [await ask(), await ask()];
  expect(ids).toEqual([expect.stringMatching(/^req_/), expect.stringMatching(/^req_/)]);
  await snapshot.restore();
  expect([await ask(), await ask()]).toEqual(ids);
});

test("a snapshot can be restored again and again", async () => {
  const snapshot = await sandbox.snapshot();
  const before = await sandbox.fingerprint();
  for (let round = 0; round < 20; round += 1) {
    await sandbox.chain.client.mine({ blocks: 1 });
    await snapshot.restore();
  }
  expect(await sandbox.fingerprint()).toEqual(before);
});

describe("while a block is being made", () => {
  let send: () => Promise<Hex>;

  beforeAll(async () => {
    const { private_key } = sandbox.description.wallets["buyer"] ?? {};
    const wallet = createWalletClient({
      account: privateKeyToAccount(private_key ?? "0x"),
      chain: foundry,
      transport: http(sandbox.description.urls.rpc),
    });
    // A creation that loops until its gas is used up: its block takes a while to make.
    const request = await wallet.prepareTransactionRequest({ data: "0x5b5f56", gas: 8_000_000n });
    const serializedTransaction = await wallet.signTransaction(request);
    send = async () => await wallet.sendRawTransaction({ serializedTransaction });
  });

  test.for([true, false])(
    "a restore waits for it and leaves nothing of it (automine: %s)",
    async (automine) => {
      const { client } = sandbox.chain;
      const snapshot = await sandbox.snapshot();
      const before = await sandbox.fingerprint();
      for (let round = 0; round < 10; round += 1) {
        await client.setAutomine(automine);
        const hash = await send();
        await client.setAutomine(true);
        await snapshot.restore();
        await expect(client.getTransactionReceipt({ hash })).rejects.toThrow("could not be found");
      }
      expect(await sandbox.fingerprint()).toEqual(before);
    },
  );

  test("a snapshot has all of a request or nothing of it", async () => {
    const { client } = sandbox.chain;
    const address = sandbox.description.wallets["buyer"]?.address ?? "0x";
    const read = async () => [await client.getBlockNumber(), await client.getTransactionCount({ address })];
    const snapshot = await sandbox.snapshot();
    const [height = 0n, count = 0] = await read();
    for (let round = 0; round < 10; round += 1) {
      await send();
      const during = await sandbox.snapshot();
      await during.restore();
      expect([
        [height, count],
        [BigInt(height) + 1n, Number(count) + 1],
      ]).toContainEqual(await read());
      await snapshot.restore();
    }
  });
});

describe("while the node is asked for a snapshot", () => {
  let watched: Sandbox;
  let beforeSnapshot = async () => {};

  beforeAll(async () => {
    watched = await createSandbox({
      seed: "watched",
      adaptChain: async (chain) => {
        const client = Object.create(chain.client);
        client.snapshot = async () => {
          const before = beforeSnapshot;
          beforeSnapshot = async () => {};
          await before();
          return await chain.client.snapshot();
        };
        return { ...chain, client };
      },
    });
  });

  afterAll(async () => await watched.close());

  test("a block is made by itself: it is asked again, and the snapshot is of that block", async () => {
    const { chain, clock } = watched;
    beforeSnapshot = async () => await chain.client.mine({ blocks: 1 });
    const snapshot = await watched.snapshot();
    const [before, now] = [await watched.fingerprint(), await clock.now()];
    await clock.travel({ days: 1 });
    await snapshot.restore();
    expect(await watched.fingerprint()).toEqual(before);
    await chain.client.mine({ blocks: 1 });
    expect(await clock.now()).toBe(now + 1);
  });

  test("a call over the chain RPC waits until it is taken", async () => {
    const { client } = watched.chain;
    const { rpc } = watched.description.urls;
    const address = "0x00000000000000000000000000000000000000a1";
    const params = [address, "0x5"];
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "anvil_setBalance", params });
    let answer: Promise<Response> | undefined;
    const balances: bigint[] = [];
    beforeSnapshot = async () => {
      answer = fetch(rpc, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      // Long enough for a call that does not wait.
      for (let looks = 0; looks < 40; looks += 1) balances.push(await client.getBalance({ address }));
    };
    const snapshot = await watched.snapshot();
    expect(new Set(balances)).toEqual(new Set([0n]));
    expect(await (await answer)?.json()).toEqual({ jsonrpc: "2.0", id: 1, result: null });
    expect(await client.getBalance({ address })).toBe(5n);
    await snapshot.restore();
    expect(await client.getBalance({ address })).toBe(0n);
  });
});

test("restoring while requests are in flight answers every one of them", async () => {
  const snapshot = await sandbox.snapshot();
  const url = `${sandbox.description.urls.api}/v1/routing/capabilities`;
  const answers = Array.from({ length: 20 }, async () => (await fetch(url)).status);
  await snapshot.restore();
  expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
});

test.each([1, 2, 4, 7])(
  "a call of the control API ends with a restore after %d of its requests, and does nothing afterwards",
  async (requests) => {
    const start = await sandbox.snapshot();
    // It empties the request log.
    await start.restore();
    const before = await sandbox.fingerprint();
    const given = fetch(`${sandbox.description.urls.control}/given`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ purchase: { state: "refunded" } }),
    });
    while (sandbox.requestLog.newest().length < requests) await new Promise(setImmediate);
    await start.restore();
    expect(await (await given).json()).toMatchObject({ status: 409, code: "undone" });
    expect(await sandbox.fingerprint()).toEqual(before);
    expect(sandbox.requestLog.newest()).toEqual([]);
  },
);

test.each([1, 2])(
  "a request that the control API sends ends with a restore after %d of its requests, and does nothing afterwards",
  async (requests) => {
    const start = await sandbox.snapshot();
    await start.restore();
    const before = await sandbox.fingerprint();
    const { urls } = sandbox.description;
    const path = "/v1/routing/programs/prg_demo/merchants";
    const { address: wallet } = sandbox.wallets.stranger;
    const answer = fetch(`${urls.control}/requests`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ method: "POST", path, idempotency_key: "left", body: { wallet } }),
    });
    while (sandbox.requestLog.newest().length < requests) await new Promise(setImmediate);
    await start.restore();
    await (await answer).text();
    expect(await sandbox.fingerprint()).toEqual(before);
    expect(sandbox.requestLog.newest()).toEqual([]);
  },
);

describe("calls over the chain RPC that a restore finds in progress", () => {
  const address = (number: number) => `0x${number.toString(16).padStart(40, "0")}` as const;
  const setBalance = (number: number) => ({
    jsonrpc: "2.0",
    id: number,
    method: "anvil_setBalance",
    params: [address(number), "0x5"],
  });
  const numbers = Array.from({ length: 3_000 }, (_, index) => 0xb000 + index);

  /** Restores once the first call has run, and returns the responses. */
  async function restoreDuring(send: () => Promise<object[]>): Promise<object[]> {
    const { client } = sandbox.chain;
    const start = await sandbox.snapshot();
    const before = await sandbox.fingerprint();
    const responses = send();
    while ((await client.getBalance({ address: address(0xb000) })) === 0n) await new Promise(setImmediate);
    await start.restore();
    const all = await responses;
    expect(await sandbox.fingerprint()).toEqual(before);
    expect(all).toContainEqual(notRun);
    return all;
  }

  const notRun = expect.objectContaining({
    error: {
      code: -32_603,
      message: "Not run: the sandbox was restored before this call could begin. Send it again.",
    },
  });

  test("the rest of a batch is not run", async () => {
    const responses = await restoreDuring(
      async () => await ask(sandbox.description.urls.rpc, numbers.map(setBalance)),
    );
    expect(responses[0]).toMatchObject({ result: null });
    expect(responses).toHaveLength(numbers.length);
  });

  test("messages that a WebSocket has sent are not run, also those that were not read yet, and later ones are", async () => {
    const socket = new WebSocket(sandbox.description.urls.rpc.replace(/^http/, "ws"));
    await once(socket, "open");
    const responses: object[] = [];
    socket.addEventListener("message", ({ data }) => responses.push(JSON.parse(data)));
    const start = await sandbox.snapshot();
    const before = await sandbox.fingerprint();
    socket.send(JSON.stringify(setBalance(1)));
    await once(socket, "message");
    // None of these is read before the restore begins, in the same turn.
    for (const number of numbers) socket.send(JSON.stringify(setBalance(number)));
    await start.restore();
    while (responses.length <= numbers.length) await once(socket, "message");
    expect(await sandbox.fingerprint()).toEqual(before);
    expect(responses).toContainEqual(notRun);
    socket.send(JSON.stringify(setBalance(1)));
    await once(socket, "message");
    expect(responses.at(-1)).toMatchObject({ id: 1, result: null });
    socket.close();
  });

  test("the calls after a restore that the batch itself asks for are run", async () => {
    const { rpc } = sandbox.description.urls;
    const start = await sandbox.snapshot();
    const [taken] = await ask(rpc, [{ jsonrpc: "2.0", id: 1, method: "evm_snapshot", params: [] }]);
    const { result } = z.object({ result: z.string() }).parse(taken);
    const revert = { jsonrpc: "2.0", id: 2, method: "evm_revert", params: [result] };
    const answers = await ask(rpc, [setBalance(0xb001), revert, setBalance(0xb002)]);
    expect(answers).toMatchObject([{ result: null }, { result: true }, { result: null }]);
    const balances = [0xb001, 0xb002].map(
      async (number) => await sandbox.chain.client.getBalance({ address: address(number) }),
    );
    expect(await Promise.all(balances)).toEqual([0n, 5n]);
    await start.restore();
  });
});

test("a reset refuses the requests that were sent before it, and the next user finds nothing of them", async () => {
  const { urls } = sandbox.description;
  const start = await sandbox.snapshot();
  await start.restore();
  const before = await sandbox.fingerprint();
  const { host, hostname, port } = new URL(urls.api);
  const key = sandbox.description.accounts[0].key;
  const sockets = Array.from({ length: 30 }, () => connect(Number(port), hostname));
  await Promise.all(sockets.map(async (socket) => await once(socket, "connect")));
  const body = "{}";
  const responses = sockets.map(async (socket, index) => {
    socket.write(
      `POST /v1/routing/access HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nIdempotency-Key: left-${index}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    return (await text(socket)).slice("HTTP/1.1 ".length, "HTTP/1.1 200".length);
  });
  await start.reset();
  const statuses = await Promise.all(responses);
  expect(statuses.filter((status) => status !== "201" && status !== "503")).toEqual([]);
  expect(sandbox.requestLog.newest()).toEqual([]);
  expect(sandbox.requestLog.inProgress()).toEqual([]);
  expect(await sandbox.fingerprint()).toEqual(before);
});

test("the ids of evm_snapshot count for the next user from those that it still has", async () => {
  const { rpc } = sandbox.description.urls;
  const take = async () => {
    const [answer] = await ask(rpc, [{ jsonrpc: "2.0", id: 1, method: "evm_snapshot", params: [] }]);
    return Number(z.object({ result: z.string() }).parse(answer).result);
  };
  const id = await take();
  const start = await sandbox.snapshot();
  expect(await take()).toBe(id + 1);
  await start.restore();
  expect(await take()).toBe(id + 2);
  await start.reset();
  expect(await take()).toBe(id + 1);
  await start.reset();
});

test("a duplicate that is sent while a sandbox is reset does not arrive afterwards", async () => {
  const { control } = sandbox.description.urls;
  const send = async (path: string, body: object) =>
    await fetch(`${control}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  const start = await sandbox.snapshot();
  await send("/given", { merchant: { state: "pending" } });
  await send("/deliver", {});
  const number = sandbox.receiver.deliveries()[0]?.number;
  const duplicates = Array.from({ length: 20 }, async () => await send("/receiver/resend", { number }));
  while (sandbox.receiver.deliveries().length < 3) await new Promise(setImmediate);
  await start.reset();
  await Promise.all(duplicates);
  expect(sandbox.receiver.deliveries()).toEqual([]);
});

/** Of an account of Anvil's. */
const transfer = {
  from: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  to: `0x${"ab".repeat(20)}`,
  value: "0x1",
};

test.each([
  ["rpc", "", { jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] }, '"code":-32603'],
  ...["eth_sendTransaction", "eth_sendTransactionSync", "eth_sendUnsignedTransaction"].map(
    (method) => ["rpc", "", { jsonrpc: "2.0", id: 1, method, params: [transfer] }, '"code":-32603'] as const,
  ),
  ["control", "/blocks", { blocks: 1 }, '"code":"undone"'],
  ["control", "/given", { merchant: { state: "pending" } }, '"code":"undone"'],
  ["api", "/v1/routing/access", {}, '"code":"service_closing"'],
] as const)(
  "a request whose body arrives after a reset is refused by %s%s",
  async (host, path, call, refusal) => {
    const { urls, accounts } = sandbox.description;
    const start = await sandbox.snapshot();
    const before = await sandbox.fingerprint();
    // The restored time is another one.
    await sandbox.given.merchant({ state: "funded" });
    const [{ key }] = accounts;
    const body = JSON.stringify(call);
    const headers = {
      "Content-Type": "application/json",
      "Content-Length": body.length,
      Authorization: `Bearer ${key}`,
      "Idempotency-Key": "late-body",
    };
    const asked = request(`${urls[host]}${path}`, { method: "POST", headers });
    asked.flushHeaders();
    const response = once(asked, "response");
    // The connection is open when the other end has read the headers.
    await fetch(`${urls[host]}/`).then(async (read) => await read.text());
    await start.reset();
    asked.end(body);
    const [answer] = await response;
    expect(await text(answer)).toContain(refusal);
    expect(sandbox.requestLog.newest()).toEqual([]);
    expect(await sandbox.fingerprint()).toEqual(before);
  },
);

test("a message of a WebSocket whose last fragment arrives after a reset is refused, and the next one is not", async () => {
  const { rpc } = sandbox.description.urls;
  const start = await sandbox.snapshot();
  const socket = new FragmentingSocket(rpc.replace("http", "ws"));
  await once(socket, "open");
  const answerOf = async (send: () => void) => {
    const message = once(socket, "message");
    send();
    const [data]: unknown[] = await message;
    return JSON.parse(String(data));
  };
  const mine = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] });
  expect(await answerOf(() => socket.send(mine))).toMatchObject({ result: "0x0" });
  socket.ping();
  await once(socket, "pong");
  socket.send(mine.slice(0, -1), { fin: false });
  // Control frames may come between the fragments, which have been read when they are answered.
  socket.ping();
  await once(socket, "pong");
  await start.reset();
  const before = await sandbox.fingerprint();
  socket.ping();
  await once(socket, "pong");
  expect(await answerOf(() => socket.send(mine.slice(-1)))).toMatchObject({ error: { code: -32_603 } });
  expect(await sandbox.fingerprint()).toEqual(before);
  socket.ping();
  await once(socket, "pong");
  await start.reset();
  expect(await answerOf(() => socket.send(mine))).toMatchObject({ result: "0x0" });
  socket.close();
});

async function ask(url: string, calls: readonly object[]): Promise<object[]> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(calls) });
  return JSON.parse(await response.text());
}

test("a snapshot from before a newer restore is refused", async () => {
  const older = await sandbox.snapshot();
  const newer = await sandbox.snapshot();
  await older.restore();
  await expect(newer.restore()).rejects.toThrow("because an older one was restored");
  await older.restore();
  expect(await sandbox.clock.now()).toBeGreaterThan(0);
});

test("a snapshot whose block a reorg took away is refused, and the chain continues as it was", async () => {
  const { client } = sandbox.chain;
  const first = await sandbox.snapshot();
  await client.mine({ blocks: 3 });
  const snapshot = await sandbox.snapshot();
  await client.request<Reorg>({ method: "anvil_reorg", params: [2, []] });
  await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "drop" });
  const before = await sandbox.fingerprint();
  await expect(snapshot.restore()).rejects.toMatchObject({
    code: "stale_snapshot",
    message: expect.stringContaining("because a reorg removed block"),
  });
  expect(await sandbox.fingerprint()).toEqual(before);
  expect(sandbox.faults.list()).toHaveLength(1);
  await first.restore();
});

test("a snapshot that the node no longer holds is refused, and nothing is changed", async () => {
  const { client } = sandbox.chain;
  const id = await client.snapshot();
  const snapshot = await sandbox.snapshot();
  await client.revert({ id });
  await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "drop" });
  const before = await sandbox.fingerprint();
  const faults = sandbox.faults.list();
  await expect(snapshot.restore()).rejects.toMatchObject({
    code: "stale_snapshot",
    message: "The node no longer has this snapshot. Take a new one.",
  });
  expect(await sandbox.fingerprint()).toEqual(before);
  expect(sandbox.faults.list()).toEqual(faults);
  await sandbox.faults.clear();
});

test("the client gets a credential of the restored time by itself", async () => {
  const snapshot = await sandbox.snapshot();
  const path = "/v1/routing/programs/{program}";
  const read = async () => await sandbox.client.GET(path, { params: { path: { program: "prg_demo" } } });
  expect((await read()).response.status).toBe(200);
  await snapshot.restore();
  expect((await read()).response.status).toBe(200);
});

test("a restore gives the client the credential that it had, so that what follows is the same each time", async () => {
  const read = async () => await sandbox.client.GET("/v1/routing/programs/{program}", { params: { path } });
  const path = { program: "prg_demo" };
  await read();
  const snapshot = await sandbox.snapshot();
  const continueOnce = async () => {
    await read();
    await sandbox.wallets.buyer.faucet(1n);
    return await sandbox.fingerprint();
  };
  const first = await continueOnce();
  await snapshot.restore();
  expect(await continueOnce()).toEqual(first);
});

test("a request that the client sends while a restore removes its credential is answered as if it were sent afterwards", async () => {
  const path = { program: "prg_demo" };
  const read = async () => await sandbox.client.GET("/v1/routing/programs/{program}", { params: { path } });
  const snapshot = await sandbox.snapshot();
  for (let round = 0; round < 10; round += 1) {
    await read();
    const [, ...answers] = await Promise.all([snapshot.restore(), read(), read(), read(), read()]);
    expect(answers.map(({ response }) => response.status)).toEqual([200, 200, 200, 200]);
  }
});

test("a restore during a wallet's send waits for it, and leaves no transaction pending", async () => {
  let restore = async () => {};
  const restores: Promise<void>[] = [];
  await using watched = await createSandbox({
    seed: "sending",
    adaptChain: async (chain) => {
      const client = Object.create(chain.client);
      client.getTransactionCount = async (asked: Parameters<typeof chain.client.getTransactionCount>[0]) => {
        const nonce = await chain.client.getTransactionCount(asked);
        restores.push(restore());
        // Long enough for a restore that does not wait for the wallet.
        for (let looks = 0; looks < 40; looks += 1) await chain.client.getBlockNumber({ cacheTime: 0 });
        return nonce;
      };
      return { ...chain, client };
    },
  });
  const { chain, wallets, description } = watched;
  const snapshot = await watched.snapshot();
  for (let round = 0; round < 10; round += 1) {
    await wallets.buyer.faucet(1n);
    restore = async () => await snapshot.restore();
    await wallets.buyer.submit({ to: description.contracts.token, data: "0x" });
    await Promise.all(restores.splice(0));
    restore = async () => {};
    expect(await chain.client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 });
  }
});
