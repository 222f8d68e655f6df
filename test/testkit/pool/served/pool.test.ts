import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SandboxDescription } from "../../../../sandbox/state/description.ts";
import { controlSandbox } from "../../../kit/control.ts";
import { type StartedPool, startPool } from "./started-pool.ts";

let pool: StartedPool;
beforeAll(async () => {
  pool = await startPool("--size", "2", "--wait", "0", "--seed", "pooled");
}, 60_000);
afterAll(async () => await pool[Symbol.asyncDispose]());

interface Leased {
  id: string;
  sandbox: SandboxDescription;
  expires_at: string;
}

async function ask(method: string, path: string, body?: object) {
  return await fetch(`${pool.url}${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
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

test("a lease of a waiting sandbox takes at most 50 ms, and has the content of sandbox.json", async () => {
  await pool.free(2);
  const began = performance.now();
  const leased = await lease();
  expect(performance.now() - began).toBeLessThan(50);
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

test("a lease that is renewed continues, and GET / has the limits and metrics", async () => {
  await pool.free(2);
  const { id, expires_at } = await lease({ seconds: 5 });
  const renewal = await ask("PUT", `/leases/${id}`, { seconds: 600 });
  const renewed: Leased = JSON.parse(await renewal.text());
  expect(Date.parse(renewed.expires_at)).toBeGreaterThan(Date.parse(expires_at) + 500_000);
  expect(await (await ask("GET", "/")).json()).toMatchObject({
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

test.each([{ host: "evil.example" }, { origin: "http://evil.example" }])(
  "the pool refuses a request with %j",
  async (headers) => {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    request(`${pool.url}/leases`, { method: "POST", headers }, ({ statusCode }) => resolve(statusCode))
      .on("error", reject)
      .end();
    expect(await promise).toBe(403);
  },
);

test.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
  "a pool that gets %s while a sandbox is leased leaves no process and no file",
  async (signal) => {
    await using ended = await startPool("--size", "1");
    await fetch(`${ended.url}/leases`, { method: "POST" });
    await ended.end(signal);
    expect(await ended.left()).toEqual([]);
  },
  60_000,
);
