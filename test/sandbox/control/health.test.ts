import { afterAll, beforeAll, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { askControl } from "../../../sandbox/service/ask-control.ts";
import { stopProcess } from "../../kit/stop-process.ts";

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "health", mode: "deterministic" });
});

afterAll(async () => await sandbox.close());

async function ask(method: "GET" | "POST", path: string) {
  const answer = await askControl(sandbox.description.urls.control, method, path);
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

async function nextRequestId(): Promise<string | null> {
  const { urls } = sandbox.description;
  return (await fetch(`${urls.api}/v1/routing/capabilities`)).headers.get("X-Request-Id");
}

test("GET /health answers 200 when API, store, relayer and Anvil answer, and changes nothing", async () => {
  const before = await sandbox.snapshot();
  const id = await nextRequestId();
  await before.restore();
  for (const _ of [1, 2])
    expect(await ask("GET", "/health")).toMatchObject({
      status: 200,
      body: { status: "ok", parts: ["api", "store", "relayer", "anvil"] },
    });
  expect(await nextRequestId()).toBe(id);
});

test("GET /health answers 503 with the silent part, without waiting for a snapshot", async () => {
  const { pid } = sandbox.chain.anvil;
  await stopProcess(pid);
  const snapshot = ask("POST", "/snapshots");
  const first = await Promise.race([snapshot, ask("GET", "/health")]);
  process.kill(pid, "SIGCONT");
  expect(first).toMatchObject({
    status: 503,
    body: {
      code: "unhealthy",
      detail: "No response from anvil. Send the request again; if that fails too, start the sandbox again.",
    },
  });
  expect(first.headers.get("Retry-After")).toBe("1");
  expect((await snapshot).status).toBe(201);
  expect((await ask("GET", "/health")).status).toBe(200);
});
