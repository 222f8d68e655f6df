import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { controlSandbox } from "../../../kit/control.ts";
import { healthOf, type Leased, leaseOf, type StartedPool, startPool } from "./started-pool.ts";

let pool: StartedPool;
beforeAll(async () => {
  pool = await startPool("--size", "2", "--wait", "0", "--seed", "pooled");
});
afterAll(async () => await pool[Symbol.asyncDispose]());

test("eight workers lease at once, each has its own sandbox, and a ninth gets a refusal that says what to do", async () => {
  await using large = await startPool("--size", "8", "--wait", "0", "--seed", "pooled");
  await large.free(8);
  const post = async () => await fetch(`${large.url}/leases`, { method: "POST" });
  const leases: Leased[] = await Promise.all(
    Array.from({ length: 8 }, async () => JSON.parse(await (await post()).text())),
  );
  expect(new Set(leases.map(({ sandbox }) => sandbox.urls.rpc)).size).toBe(8);
  expect(await (await post()).json()).toMatchObject({
    code: "pool_exhausted",
    detail: expect.stringContaining("None of the 8 sandboxes"),
  });
  const hashes = leases.map(async ({ sandbox }) => {
    const given = await controlSandbox(sandbox, "POST", "/given", { purchase: { state: "paid" } });
    return JSON.parse(JSON.stringify(given)).payments[0].transaction_hash;
  });
  // Each has started from the same state, and has seen no request of another.
  expect(new Set(await Promise.all(hashes)).size).toBe(1);
  for (const { id } of leases) await fetch(`${large.url}/leases/${id}`, { method: "DELETE" });
  await large.free(8);
  expect(await (await fetch(large.url)).json()).toMatchObject({
    leased: 0,
    metrics: { leases: 8, ended: 8, expired: 0, refused: 1, failed_starts: 0 },
  });
}, 240_000);

test("a lease is a working sandbox also after every Anvil of the pool was killed, and `free` counts no dead sandbox", async () => {
  await using killed = await startPool("--size", "2", "--seed", "pooled");
  await killed.free(2);
  await killed.signalAnvils("SIGKILL");
  const [first, second] = await Promise.all([leaseOf(killed), leaseOf(killed)]);
  expect(await healthOf(first)).toEqual([200, 200]);
  expect(await healthOf(second)).toEqual([200, 200]);
  for (const { id } of [first, second]) await fetch(`${killed.url}/leases/${id}`, { method: "DELETE" });
  await killed.free(2);
  await killed.signalAnvils("SIGKILL");
  await killed.until(({ free }) => free < 2);
  await killed.free(2);
  expect(await healthOf(await leaseOf(killed))).toEqual([200, 200]);
}, 120_000);

/** Opens a connection that reads nothing until it is resumed. */
async function connectTo({ url }: StartedPool) {
  const { host, hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  await once(socket, "connect");
  const askForLease = () => socket.write(`POST /leases HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return { socket, askForLease };
}

test("a client that closes its connection at any time before it reads the response keeps no lease", async () => {
  await using left = await startPool("--size", "2", "--seed", "pooled");
  for (let client = 0; client < 80; client += 1) {
    await left.free(2);
    const { socket, askForLease } = await connectTo(left);
    askForLease();
    const closeAt = performance.now() + (client % 40) * 0.15;
    while (performance.now() < closeAt);
    socket.destroy();
    await left.until(
      ({ leased, metrics: { disconnected = 0, leases = 0 } }) =>
        leased === 0 && disconnected + leases === client + 1,
    );
  }
  expect(await left.status()).toMatchObject({ metrics: { refused: 0, expired: 0 } });
}, 60_000);

test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const)(
  "a pool that gets %s while a sandbox is leased leaves no process and no file",
  async (signal) => {
    await using ended = await startPool("--size", "1");
    await fetch(`${ended.url}/leases`, { method: "POST" });
    await ended.end(signal);
    expect(await ended.left()).toEqual([]);
  },
  60_000,
);
