import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { json, text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { poolOperations } from "../../../../testkit/pool/served/pool-operations.ts";
import { runCli, startCli } from "../../../cli/run-cli.ts";
import { controlSandbox } from "../../../kit/control.ts";
import { AnswerCheck } from "../../../server/openapi/fuzz/answer-check.ts";
import { parseDescription } from "../../../server/openapi/fuzz/description.ts";
import { closed } from "../../../server/openapi/records/record-check.ts";
import { healthOf, type Leased, leaseOf, type StartedPool, startPool } from "./started-pool.ts";

let pool: StartedPool;
let check: AnswerCheck;
const succeeded = new Set<string>();
beforeAll(async () => {
  pool = await startPool("--size", "2", "--wait", "0", "--seed", "pooled");
  const description = JSON.parse(await (await fetch(`${pool.url}/openapi.json`)).text());
  check = new AnswerCheck(parseDescription(JSON.stringify(closed(description))));
});
afterAll(async () => await pool[Symbol.asyncDispose]());

/** Sends a request, and compares its answer with the description. */
async function ask(method: string, path: string, body?: object) {
  const response = await fetch(`${pool.url}${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const { status, ok } = response;
  const text = await response.clone().text();
  const fault = check.fault(method, path, { status, headers: Object.fromEntries(response.headers), text });
  // A pool without a free sandbox answers 503.
  expect(status === 503 ? null : fault).toBeNull();
  if (ok) succeeded.add(`${method} ${path.replace(/lse_[^/]+/, "{id}")}`);
  return response;
}

async function lease(body?: object): Promise<Leased> {
  const response = await ask("POST", "/leases", body);
  expect(response.status).toBe(201);
  return JSON.parse(await response.text());
}

async function headOf({ sandbox }: Pick<Leased, "sandbox">): Promise<unknown> {
  const status = await controlSandbox(sandbox, "GET", "/status");
  return JSON.parse(JSON.stringify(status)).chain;
}

test("a lease has the content of sandbox.json, and ends once", async () => {
  await pool.free(2);
  const leased = await lease();
  const { sandbox, expires_at } = leased;
  expect(sandbox).toMatchObject({ version: 1, seed: "pooled", mode: "deterministic" });
  expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
  expect((await fetch(`${sandbox.urls.api}/v1/routing/capabilities`)).status).toBe(200);
  expect((await ask("DELETE", `/leases/${leased.id}`)).status).toBe(204);
  expect((await ask("DELETE", `/leases/${leased.id}`)).status).toBe(404);
});

test("leases have sandboxes of their own, and a request gets 503 with Retry-After when none is free", async () => {
  await pool.free(2);
  const [first, second] = await Promise.all([lease(), lease()]);
  expect(first.sandbox.urls.api).not.toBe(second.sandbox.urls.api);
  const refused = await ask("POST", "/leases");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await refused.json()).toMatchObject({ code: "pool_exhausted", status: 503 });
  await controlSandbox(first.sandbox, "POST", "/given", { purchase: { state: "paid" } });
  await controlSandbox(first.sandbox, "POST", "/faults", { intent: "node-down" });
  const clean = await headOf(second);
  const restored = await ask("POST", `/leases/${first.id}/restore`);
  const again: Leased = JSON.parse(await restored.text());
  expect(again).toMatchObject({ id: first.id, sandbox: { urls: first.sandbox.urls } });
  expect(await headOf(again)).toEqual(clean);
  expect(await controlSandbox(again.sandbox, "GET", "/faults")).toEqual({ data: [] });
  for (const { id } of [first, second]) await ask("DELETE", `/leases/${id}`);
});

test("a request for a sandbox of a pool in which none starts is refused with the reason", async () => {
  // An address that no machine has.
  await using failing = await startPool("--size", "1", "--wait", "1", "--listen", "192.0.2.1");
  const refused = await fetch(`${failing.url}/leases`, { method: "POST" });
  expect(await refused.json()).toMatchObject({
    code: "pool_exhausted",
    detail: expect.stringMatching(/The last start of one failed: .*192\.0\.2\.1/),
  });
});

test("the sandbox of a worker that crashed is fresh in the next lease, on ports that the worker does not know", async () => {
  await pool.free(2);
  const [crashed, other] = await Promise.all([lease({ seconds: 1 }), lease()]);
  const clean = await headOf(other);
  await controlSandbox(crashed.sandbox, "POST", "/faults", { intent: "node-down" });
  await controlSandbox(crashed.sandbox, "POST", "/blocks", { blocks: 3 });
  await pool.killAnvilOf(crashed.sandbox);
  await pool.free(1);
  const next = await lease();
  expect(next.sandbox.urls.api).not.toBe(crashed.sandbox.urls.api);
  expect(await headOf(next)).toEqual(clean);
  expect(await controlSandbox(next.sandbox, "GET", "/faults")).toEqual({ data: [] });
  expect((await ask("PUT", `/leases/${crashed.id}`)).status).toBe(404);
  for (const { id } of [next, other]) await ask("DELETE", `/leases/${id}`);
});

test("the next lease of a sandbox has none of the snapshots of the former one, and counts its own from 1", async () => {
  await pool.free(2);
  const [former, other] = await Promise.all([lease(), lease()]);
  await controlSandbox(former.sandbox, "POST", "/snapshots");
  await controlSandbox(former.sandbox, "POST", "/snapshots");
  await ask("DELETE", `/leases/${former.id}`);
  await pool.free(1);
  const next = await lease();
  expect(next.sandbox.urls.control).toBe(former.sandbox.urls.control);
  expect(await controlSandbox(next.sandbox, "GET", "/snapshots")).toEqual({ data: [] });
  const restored = await fetch(`${next.sandbox.urls.control}/snapshots/2/restore`, { method: "POST" });
  expect(await restored.json()).toMatchObject({ status: 404, code: "not_found" });
  expect(await controlSandbox(next.sandbox, "POST", "/snapshots")).toMatchObject({ number: 1 });
  expect(await controlSandbox(next.sandbox, "GET", "/snapshots")).toMatchObject({ data: [{ number: 1 }] });
  for (const { id } of [next, other]) await ask("DELETE", `/leases/${id}`);
});

test("a lease that is renewed continues, status --wait waits for the sandbox of an expired one, and GET / has the limits and metrics", async () => {
  await pool.free(2);
  const { id, expires_at } = await lease({ seconds: 3 });
  const renewal = await ask("PUT", `/leases/${id}`, { seconds: 600 });
  const renewed: Leased = JSON.parse(await renewal.text());
  expect(Date.parse(renewed.expires_at)).toBeGreaterThan(Date.parse(expires_at) + 500_000);
  const status = async () => JSON.parse(await (await ask("GET", "/")).text());
  const { expired } = (await status()).metrics;
  // A lease of the same length that began later expires.
  await lease({ seconds: 3 });
  await expect.poll(status).toMatchObject({ metrics: { expired: expired + 1 } });
  const waited = JSON.parse(await runCli("status", "--pool", pool.url, "--wait", "--json"));
  expect(waited).toMatchObject({ free: 1, preparing: 0 });
  expect(await status()).toMatchObject({
    size: 2,
    free: 1,
    leased: 1,
    limits: { lease_seconds: 60, most_lease_seconds: 3_600, wait_seconds: 0 },
    metrics: { failed_starts: 0 },
    leases: [{ id, expires_at: renewed.expires_at }],
  });
  await ask("DELETE", `/leases/${id}`);
});

test.each([
  ["GET", "/leases", 405],
  ["POST", "/lease", 404],
  ["PUT", "/leases/lse_unknown", 404],
])("the pool answers %s %s with %i and a problem that says what to do", async (method, path, status) => {
  const response = await ask(method, path);
  expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(await response.json()).toMatchObject({ status, detail: expect.any(String) });
});

test("the pool refuses an invalid lease duration and names its field", async () => {
  expect(await (await ask("POST", "/leases", { seconds: 0 })).json()).toMatchObject({
    status: 422,
    code: "validation_failed",
    errors: [{ pointer: "/seconds" }],
  });
});

test("every request of a pool has succeeded in these tests, with an answer as its description says", async () => {
  await ask("GET", "/openapi.json");
  expect([...succeeded].sort()).toEqual(
    poolOperations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).sort(),
  );
});

/** Ends each lease once it is there, and returns the order in which requests got theirs. */
async function endInTurn({ url }: StartedPool, requests: Promise<Leased>[]): Promise<number[]> {
  const order: number[] = [];
  const end = async (request: Promise<Leased>, index: number) => {
    const leased = await request;
    order.push(index);
    // On a busy machine, a part may not respond in the time that a health check gives it.
    await expect.poll(async () => await healthOf(leased), { timeout: 20_000 }).toEqual([200, 200]);
    await fetch(`${url}/leases/${leased.id}`, { method: "DELETE" });
  };
  await Promise.all(requests.map(end));
  return order;
}

test("waiting requests get sandboxes in the order in which they arrived", async () => {
  await using one = await startPool("--size", "1", "--wait", "60", "--seed", "pooled");
  const { id } = await leaseOf(one);
  const waiting: Promise<Leased>[] = [];
  for (let count = 1; count <= 3; count += 1) {
    waiting.push(leaseOf(one));
    await one.until((status) => status.waiting === count);
  }
  await fetch(`${one.url}/leases/${id}`, { method: "DELETE" });
  expect(await endInTurn(one, waiting)).toEqual([0, 1, 2]);
});

test("waiting requests get sandboxes in turn, even if that of the first one does not respond", {
  tags: "thorough",
}, async () => {
  await using one = await startPool("--size", "1", "--wait", "60", "--seed", "pooled");
  await one.free(1);
  await one.signalAnvils("SIGSTOP");
  const first = leaseOf(one);
  await one.until(({ free }) => free === 0);
  expect(await endInTurn(one, [first, leaseOf(one)])).toEqual([0, 1]);
});

test("clients that disconnect get no sandbox, and are not counted as refused", {
  tags: "thorough",
}, async () => {
  await using left = await startPool("--size", "2", "--seed", "pooled");
  await left.free(2);
  const { host, hostname, port } = new URL(left.url);
  for (let client = 0; client < 60; client += 1) {
    const socket = connect(Number(port), hostname);
    socket.write(`POST /leases HTTP/1.1\r\nHost: ${host}\r\n\r\n`, () => socket.destroy());
  }
  await left.until(({ metrics: { disconnected = 0, leases = 0 } }) => disconnected + leases === 60);
  expect(await left.status()).toMatchObject({
    free: 2,
    leased: 0,
    waiting: 0,
    metrics: { leases: 0, refused: 0, disconnected: 60 },
  });
});

/** Opens a connection that reads nothing until it is resumed. */
async function connectTo({ url }: StartedPool) {
  const { host, hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).pause();
  await once(socket, "connect");
  const askForLease = () => socket.write(`POST /leases HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  return { socket, askForLease };
}

/** Reads one response from a paused connection. */
async function readResponse(socket: Socket): Promise<string> {
  let text = "";
  for (socket.resume(); !text.endsWith("}"); ) text += String((await once(socket, "data"))[0]);
  return text;
}

test("a client that closes its connection after it has read the response keeps its lease, also if the connection is reset after a later request", {
  tags: "thorough",
}, async () => {
  await using read = await startPool("--size", "2", "--seed", "pooled");
  await read.free(2);
  const { socket, askForLease } = await connectTo(read);
  askForLease();
  const text = await readResponse(socket);
  const { id } = JSON.parse(text.slice(text.indexOf("{")));
  askForLease();
  await read.until(({ leased }) => leased === 2);
  socket.resetAndDestroy();
  await read.until(({ leased }) => leased === 1);
  const renewed = await fetch(`${read.url}/leases/${id}`, { method: "PUT" });
  expect(renewed.status).toBe(200);
  const other = await connectTo(read);
  other.askForLease();
  await read.until(({ leased }) => leased === 2);
  other.socket.resume().end();
  await once(other.socket, "close");
  expect(await read.status()).toMatchObject({ leased: 2 });
});

test.each<[body: string, status: number, code: string, detail: string]>([
  ["null", 422, "validation_failed", "The body must be an object, not null"],
  [
    '{"seconds":1,"seconds":2}',
    400,
    "body_malformed",
    'Duplicate key "seconds". Send each key of an object once.',
  ],
  [
    JSON.stringify({ seconds: "6".repeat(2_000) }),
    413,
    "body_too_large",
    "The body has at least 2014 bytes; 1024 are allowed. Send a smaller body.",
  ],
])("the pool refuses the body %s with %i %s", async (body, status, code, detail) => {
  const response = await fetch(`${pool.url}/leases`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(await response.json()).toEqual(
    expect.objectContaining({ type: "about:blank", status, code, detail }),
  );
});

test("the pool refuses a body with a Content-Encoding, and a path that is not valid percent-encoding", async () => {
  const encoded = await fetch(`${pool.url}/leases`, {
    method: "POST",
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
    body: "{}",
  });
  expect(await encoded.json()).toEqual({
    type: "about:blank",
    status: 415,
    code: "content_encoding_unsupported",
    detail: "The body has a Content-Encoding. Send it without one.",
  });
  const path = await fetch(`${pool.url}/leases/%ZZ`, { method: "PUT" });
  expect(await path.json()).toEqual({
    type: "about:blank",
    status: 400,
    code: "request_malformed",
    detail: "The path is not valid percent-encoding. Send a percent sign as %25.",
  });
});

test("the command says where it leases sandboxes, and ends with 0 when it is interrupted", async () => {
  const { stdout, exited, kill } = startCli(["pool", "--size", "1", "--port", "0"]);
  const [line] = await once(createInterface(stdout), "line");
  expect(line).toMatch(
    /^1 sandbox can be leased with POST http:\/\/127\.0\.0\.1:\d+\/leases\. Ctrl-C stops everything\.$/,
  );
  kill("SIGINT");
  expect(await exited).toBe(0);
});

test("each logged line of a sandbox has its number in the pool and the id of its lease", async () => {
  const options = ["--size", "2", "--port", "0", "--log-level", "info", "--log-format", "json", "--json"];
  const { stdout, stderr, exited, kill } = startCli(["pool", ...options]);
  const logged = text(stderr);
  const [line] = await once(createInterface(stdout), "line");
  const { url } = JSON.parse(String(line));
  const leased = await Promise.all([leaseOf({ url }), leaseOf({ url })]);
  const requested = await Promise.all(
    leased.map(async ({ id, sandbox }) => {
      await controlSandbox(sandbox, "POST", "/given", { purchase: { state: "paid" } });
      const response = await fetch(`${sandbox.urls.api}/v1/routing/nothing`);
      return { request_id: response.headers.get("x-request-id"), lease: id };
    }),
  );
  const restored = await fetch(`${url}/leases/${leased[0].id}/restore`, { method: "POST" });
  expect(restored.status).toBe(200);
  await fetch(`${leased[0].sandbox.urls.api}/v1/routing/again`);
  for (const { id } of leased) await fetch(`${url}/leases/${id}`, { method: "DELETE" });
  await expect.poll(async () => await (await fetch(url)).json()).toMatchObject({ free: 2 });
  await fetch(`${leased[0].sandbox.urls.api}/v1/routing/late`);
  kill("SIGTERM");
  expect(await exited).toBe(0);
  const lines = (await logged)
    .trim()
    .split("\n")
    .map((written) => JSON.parse(written));
  for (const one of lines) expect([1, 2]).toContain(one.sandbox);
  for (const request of requested) expect(lines).toContainEqual(expect.objectContaining(request));
  const numbers = leased.map(
    ({ id }) => new Set(lines.filter(({ lease }) => lease === id).map(({ sandbox }) => sandbox)),
  );
  expect(numbers.map(({ size }) => size)).toEqual([1, 1]);
  expect(numbers[0]).not.toEqual(numbers[1]);
  const [again, late] = ["again", "late"].map((name) => lines.find(({ path }) => path?.endsWith(name)));
  expect([again.lease, "lease" in late, late.sandbox]).toEqual([leased[0].id, false, again.sandbox]);
});

test.each([
  [{ host: "evil.example" }, "host_not_allowed"],
  [{ origin: "http://evil.example" }, "page_not_allowed"],
  [{ "sec-fetch-site": "cross-site" }, "page_not_allowed"],
])("the pool refuses a request with %j as %s", async (headers, code) => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request(`${pool.url}/leases`, { method: "POST", headers }, resolve).on("error", reject).end();
  const refused = await promise;
  expect(refused.statusCode).toBe(403);
  expect(await json(refused)).toMatchObject({ status: 403, code, detail: expect.any(String) });
});
