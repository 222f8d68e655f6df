import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { mostRpcSnapshots } from "../../../../sandbox/snapshots/rpc-snapshots.ts";
import { rpcOf } from "../../../end-to-end/rpc.ts";
import { controlSandbox } from "../../../kit/control.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "rpc-memory" });
});

afterAll(async () => await sandbox.close());

const response = z.object({
  id: z.int(),
  result: z.unknown().optional(),
  error: z.object({ code: z.int(), message: z.string() }).optional(),
});

/** A batch with responses of 41 KB each: block 1 has a contract's creation. */
const batch = (length: number) =>
  JSON.stringify(
    Array.from({ length }, (_, id) => ({
      jsonrpc: "2.0",
      id,
      method: "eth_getBlockByNumber",
      params: ["0x1", true],
    })),
  );

/** Sends a body; the response is read when its reader reads it. */
async function post(body: string): Promise<IncomingMessage> {
  const headers = { "Content-Type": "application/json" };
  const asking = request(sandbox.description.urls.rpc, { method: "POST", headers, agent: false });
  const answered = once(asking, "response");
  asking.end(body);
  const [answer] = await answered;
  return answer;
}

async function one(method: string, params: unknown[] = []): Promise<z.output<typeof response>> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return response.parse(JSON.parse((await buffer(await post(body))).toString()));
}

async function answersTo(body: string): Promise<z.output<typeof response>[]> {
  return z.array(response).parse(JSON.parse((await buffer(await post(body))).toString()));
}

test("responses that their callers do not read are held up to a limit, and further ones get an error until some are read", {
  timeout: 300_000,
}, async () => {
  const unread: IncomingMessage[] = [];
  onTestFinished(() => {
    for (const answer of unread) answer.destroy();
  });
  // Five of about 60 MB: the last of them does not fit.
  for (let count = 0; count < 5; count += 1) unread.push(await post(batch(1_500)));
  const refused = (await answersTo(batch(1_500))).flatMap(({ error }) => error ?? []);
  expect(new Set(refused.map(({ code }) => code))).toEqual(new Set([-32_005]));
  // After the first one, no more calls are run: six large batches together would keep Anvil busy for minutes.
  expect([...new Set(refused.map(({ message }) => message))]).toEqual([
    "The chain RPC holds 268435456 bytes of responses that their callers have not read. Read them, then send the request again.",
    "Not run: the response to an earlier call of this request could not be held. Ask for less at once.",
  ]);
  expect(refused.filter(({ message }) => message.startsWith("The chain RPC")).length).toBeLessThan(50);
  for (const answer of unread.splice(0)) answer.destroy();
  const isAnswered = async () => (await answersTo(batch(1_500))).every(({ error }) => error === undefined);
  await expect.poll(isAnswered, { timeout: 100_000 }).toBe(true);
});

test("a WebSocket that reads its answers late gets all of them", { timeout: 300_000 }, async () => {
  const socket = new WebSocket(sandbox.description.urls.rpc.replace("http", "ws"));
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  socket.pause();
  const counts: number[] = [];
  socket.on("message", (text) => counts.push(z.array(response).parse(JSON.parse(String(text))).length));
  for (let message = 1; message <= 150; message += 1) socket.send(batch(50));
  const { rpc } = sandbox.description.urls;
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
  expect(
    (await fetch(rpc, { method: "POST", headers: { "Content-Type": "application/json" }, body })).ok,
  ).toBe(true);
  socket.resume();
  await expect.poll(() => counts.length, { timeout: 200_000 }).toBe(150);
  expect(counts.every((count) => count === 50)).toBe(true);
});

test("two thousand snapshots and reverts leave no copy of the state with Anvil", {
  timeout: 300_000,
}, async () => {
  const held = async () =>
    Object.keys((await sandbox.chain.client.request({ method: "anvil_metadata" })).snapshots).length;
  const before = await held();
  for (let count = 0; count < 2_000; count += 1) {
    const { result } = await one("evm_snapshot");
    expect(await one("evm_revert", [result])).toMatchObject({ result: true });
  }
  expect(await held()).toBe(before);
});

test("snapshots that wait for their revert have a limit, and the error says what to do", async () => {
  const { result: first } = await one("evm_snapshot");
  for (let count = 1; count < mostRpcSnapshots; count += 1) await one("evm_snapshot");
  expect((await one("evm_snapshot")).error?.message).toBe(
    "1000 snapshots wait for their revert. Revert to one of them with evm_revert, which also deletes the later ones.",
  );
  expect(await one("evm_revert", [first])).toMatchObject({ result: true });
  expect(await one("evm_snapshot")).toMatchObject({ result: expect.stringMatching(/^0x/) });
});
/** LOG0 without data, and again while over 8,192 gas are left. */
const loggingCode = "0x5b60006000a06120005a1160005700";

test.each([
  [1, 13, false],
  // More than the system's buffers of a connection hold.
  [128, 39, true],
])(
  "of %i clients, one that does not read %i MB of notifications is disconnected: %s",
  {
    timeout: 300_000,
  },
  async (clients, megabytes, isDisconnected) => {
    const rpc = rpcOf(sandbox.description);
    const url = sandbox.description.urls.rpc.replace("http", "ws");
    const sockets = Array.from({ length: clients }, () => new WebSocket(url));
    onTestFinished(() => {
      for (const socket of sockets) socket.terminate();
    });
    await Promise.all(sockets.map(async (socket) => await once(socket, "open")));
    const [subscriber, reader = subscriber] = sockets;
    if (subscriber === undefined || reader === undefined) throw new Error("There is no subscriber.");
    let read = 0;
    for (const socket of new Set([subscriber, reader])) {
      socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",{}]}');
      await once(socket, "message");
    }
    reader.on("message", () => {
      read += 1;
    });
    subscriber.pause();
    const logger = "0x00000000000000000000000000000000000000ee";
    await rpc("anvil_setCode", logger, loggingCode);
    const from = sandbox.description.wallets["stranger"]?.address;
    const logs: unknown[] = [];
    for (let sent = 0; sent < megabytes; sent += 13) {
      const hash = String(await rpc("eth_sendTransaction", { from, to: logger, gas: "0xf42400" }));
      await controlSandbox(sandbox.description, "POST", "/blocks", { blocks: 1 });
      const receipt = await rpc("eth_getTransactionReceipt", hash);
      logs.push(...z.object({ logs: z.array(z.unknown()) }).parse(receipt).logs);
    }
    // Another client has read all of them: they were sent to this one too.
    const isRead = () => read === logs.length || reader.readyState === WebSocket.CLOSED;
    if (reader !== subscriber) await expect.poll(isRead, { timeout: 100_000 }).toBe(true);
    let count = 0;
    subscriber.on("message", () => {
      count += 1;
    });
    subscriber.resume();
    const isOver = () => count === logs.length || subscriber.readyState === WebSocket.CLOSED;
    await expect.poll(isOver, { timeout: 100_000 }).toBe(true);
    expect(count < logs.length).toBe(isDisconnected);
  },
);

test.runIf(process.platform === "linux")(
  "a hundred subscriptions to the logs of a transaction with 30,000 logs take Anvil no more memory than a few",
  { timeout: 300_000 },
  async () => {
    const rpc = rpcOf(sandbox.description);
    const logger = "0x00000000000000000000000000000000000000ee";
    await rpc("anvil_setCode", logger, loggingCode);
    const from = sandbox.description.wallets["stranger"]?.address;
    const peak = async () =>
      Number(
        /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${sandbox.chain.anvil.pid}/status`, "utf8"))?.[1],
      ) / 1_024;
    const sockets = Array.from(
      { length: 100 },
      () => new WebSocket(sandbox.description.urls.rpc.replace("http", "ws")),
    );
    onTestFinished(() => {
      for (const socket of sockets) socket.terminate();
    });
    const reads = sockets.map(() => 0);
    for (const [index, socket] of sockets.entries()) {
      if (socket.readyState !== WebSocket.OPEN) await once(socket, "open");
      socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["logs",{}]}');
      await once(socket, "message");
      socket.on("message", () => {
        reads[index] = (reads[index] ?? 0) + 1;
      });
    }
    const before = await peak();
    const hash = String(await rpc("eth_sendTransaction", { from, to: logger, gas: "0xf42400" }));
    await controlSandbox(sandbox.description, "POST", "/blocks", { blocks: 1 });
    const receipt = await rpc("eth_getTransactionReceipt", hash);
    const { length } = z.object({ logs: z.array(z.unknown()) }).parse(receipt).logs;
    // A client that reads too slowly is disconnected.
    const isOver = (socket: WebSocket, index: number) =>
      reads[index] === length || socket.readyState === WebSocket.CLOSED;
    await expect.poll(() => sockets.every(isOver), { timeout: 100_000 }).toBe(true);
    expect((await peak()) - before).toBeLessThan(200);
  },
);
