import { once } from "node:events";
import { request } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { unwrap } from "../../../sandbox/client/api-client.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { startCli } from "../../cli/run-cli.ts";
import { openReceiver } from "../../kit/external-receiver.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

let sandbox: Sandbox;
let start: Snapshot;
const lines: { [name: string]: unknown }[] = [];

beforeAll(async () => {
  const write = (fields: { [name: string]: unknown }, message: string) => lines.push({ ...fields, message });
  sandbox = await createSandbox({ log: { info: write, error: write } });
  start = await sandbox.snapshot();
});
afterAll(async () => await sandbox.close());
beforeEach(async () => {
  await start.restore();
  lines.length = 0;
});

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const other = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/** Creates a merchant's purchase with these headers, and returns the request id and the event of the purchase. */
async function createPurchase(headers: { [name: string]: string }) {
  const { merchant } = await sandbox.given.merchant({ state: "funded" });
  const { response, data } = await sandbox.client.POST("/v1/routing/programs/{program}/purchases", {
    params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": "purchase-1" } },
    body: {
      merchant_id: merchant.id,
      buyer: sandbox.wallets.buyer.address,
      amount: "25000000",
      terms: { sku: "course-42" },
    },
    headers,
  });
  return { requestId: response.headers.get("X-Request-Id"), event: data?.event_id ?? "" };
}

async function arrivedOf(event: string) {
  await sandbox.deliverAll();
  return sandbox.receiver.deliveries().find(({ headers }) => headers["webhook-id"] === event)?.headers;
}

test("the trace of the request that caused an event is in its log line and in the delivery of the event", async () => {
  const { requestId, event } = await createPurchase({ traceparent, tracestate: "shop=1" });
  const line = lines.find(({ request_id }) => request_id === requestId);
  expect(line).toMatchObject({ message: "request", traceparent, method: "POST", status: 201 });
  expect(await arrivedOf(event)).toMatchObject({ traceparent, tracestate: "shop=1" });
});

test.each([
  ["the trace of its own request if the request that caused the event had none", {}, traceparent],
  [
    "the trace of the request that caused the event, even if its own request has another one",
    { traceparent: other },
    other,
  ],
])("a delivery has %s", async (_, headers, expected) => {
  const { event } = await createPurchase(headers);
  const delivered = await sandbox.client.POST("/v1/routing/programs/{program}/notifications", {
    params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": "notification-1" } },
    body: { event_id: event },
    headers: { traceparent },
  });
  unwrap(delivered);
  expect((await arrivedOf(event))?.["traceparent"]).toBe(expected);
});

test.each([
  ["an all-zero trace id", "00-00000000000000000000000000000000-b7ad6b7169203331-01"],
  ["an all-zero parent id", "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"],
  ["upper-case digits", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01"],
  ["the version ff", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
  ["more fields than version 00 has", `${traceparent}-00`],
  ["two headers", `${traceparent}, ${traceparent}`],
  ["no fields", "yes"],
])("a traceparent with %s is ignored, with its tracestate", async (_, invalid) => {
  const { requestId, event } = await createPurchase({ traceparent: invalid, tracestate: "shop=1" });
  expect(lines.find(({ request_id }) => request_id === requestId)).not.toHaveProperty("traceparent");
  const headers = await arrivedOf(event);
  expect(headers).toBeDefined();
  expect(Object.keys(headers ?? {}).filter((name) => name.startsWith("trace"))).toEqual([]);
});

test("a later version of traceparent may have more fields, and is passed on as it is", async () => {
  const later = "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future-adds";
  const { event } = await createPurchase({ traceparent: later, tracestate: "x".repeat(513) });
  const headers = await arrivedOf(event);
  expect([headers?.["traceparent"], headers?.["tracestate"]]).toEqual([later, undefined]);
});

test.each([
  ["", undefined],
  ["junk", undefined],
  ["=1", undefined],
  ["Shop=1", undefined],
  ["shop=1=2", undefined],
  ["shop=1,shop=2", undefined],
  ["shop=1,junk", undefined],
  [Array.from({ length: 33 }, (_, at) => `k${at}=1`).join(), undefined],
  ["shop=1, ,tenant@vendor=a b", "shop=1, ,tenant@vendor=a b"],
])(
  "of a request with a valid traceparent, the tracestate %j is passed on as %j",
  async (tracestate, passed) => {
    const { event } = await createPurchase({ traceparent, tracestate });
    const headers = await arrivedOf(event);
    expect([headers?.["traceparent"], headers?.["tracestate"]]).toEqual([traceparent, passed]);
  },
);

test.each([
  ["the host evil.example", { host: "evil.example" }, 403],
  ["an expectation", { expect: "200-ok" }, 417],
  ["headers that are too large", { "x-long": "x".repeat(20_000) }, 431],
])(
  "the log line of a request that is refused for %s has its trace, if it was read",
  async (_, headers, status) => {
    const url = `${sandbox.description.urls.api}/v1/routing/capabilities`;
    const asked = request(url, { headers: { traceparent, ...headers } }).end();
    const [response] = await once(asked, "response");
    asked.destroy();
    expect(response.statusCode).toBe(status);
    expect(lines).toEqual([
      expect.objectContaining({
        request_id: response.headers["x-request-id"],
        ...(status === 431 ? {} : { traceparent }),
      }),
    ]);
  },
);

/** Starts a sandbox that logs each request as JSON, and delivers events to a server as they happen. */
async function startLogging(receiverUrl: string) {
  const ports = ["api", "docs", "control", "rpc"].flatMap((part) => [`--${part}-port`, "0"]);
  const logging = ["--log-level", "info", "--log-format", "json"];
  const delivering = ["--receiver-url", receiverUrl, "--auto-deliver"];
  const others = ["--mode", "deterministic", "--data-dir", await temporaryFolder(), "--json"];
  const { stdout, stderr, exited, kill } = startCli([
    "start",
    ...ports,
    ...logging,
    ...delivering,
    ...others,
  ]);
  const written = text(stderr);
  const [line] = await once(createInterface(stdout), "line");
  const { urls, accounts, wallets } = JSON.parse(String(line));
  const post = async (path: string, headers: { [name: string]: string }, body?: object) => {
    const sent = { "content-type": "application/json", ...headers };
    const init = { method: "POST", headers: sent, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${urls.api}/v1/routing${path}`, init);
    return { id: response.headers.get("x-request-id"), answer: JSON.parse(await response.text()) };
  };
  const key = { authorization: `Bearer ${accounts[0].key}`, "idempotency-key": "access-0001" };
  const { credential } = (await post("/access", key)).answer;
  return {
    async enroll(wallet: string, headers: { [name: string]: string }) {
      const own = { authorization: `Bearer ${credential}`, "idempotency-key": `enroll-${wallet}` };
      const body = { wallet: wallets[wallet].address, name: "Corner Books", funding_cap: "1" };
      const { id, answer } = await post("/programs/prg_demo/merchants", { ...own, ...headers }, body);
      return { id, event: String(answer.event_id) };
    },
    /** Stops the sandbox, and returns what it has logged. */
    async stop(): Promise<{ [name: string]: unknown }[]> {
      kill("SIGTERM");
      expect(await exited).toBe(0);
      const lines = (await written).trim().split("\n");
      return lines.map((one) => JSON.parse(one));
    },
  };
}

test("each attempt to deliver an event to another server has the trace of the request that caused the event, as has each logged line", async () => {
  await using receiver = await openReceiver();
  let failures = 2;
  receiver.answer = (_, response) => {
    failures -= 1;
    response.writeHead(failures >= 0 ? 500 : 204).end();
  };
  const started = await startLogging(receiver.url);
  // The automatic delivery that the first request starts is at work when the others come.
  const traced = await started.enroll("other_merchant", { traceparent, tracestate: "shop=1" });
  const others = [
    await started.enroll("stranger", {}),
    await started.enroll("buyer", { traceparent: "junk", tracestate: "shop=1" }),
  ];
  await expect.poll(() => receiver.received.length).toBe(5);
  const logged = await started.stop();
  const traces = receiver.received.map(({ headers }) => [
    headers["webhook-id"],
    headers["traceparent"],
    headers["tracestate"],
  ]);
  expect(traces).toEqual([
    ...Array(3).fill([traced.event, traceparent, "shop=1"]),
    ...others.map(({ event }) => [event, undefined, undefined]),
  ]);
  for (const one of logged) expect(one["request_id"]).toMatch(/^req_[a-z2-7]{20}$/);
  const named = ({ id }: { id: string | null }) => logged.filter(({ request_id }) => request_id === id);
  expect(named(traced)).toMatchObject([{ traceparent, status: 201 }]);
  for (const other of others) expect(named(other)).toEqual([expect.not.objectContaining({ traceparent })]);
});

test("a trace does not change the fingerprint", async () => {
  const state = async (headers: { [name: string]: string }) => {
    await start.restore();
    await createPurchase(headers);
    await sandbox.deliverAll();
    return await sandbox.fingerprint();
  };
  expect(await state({ traceparent })).toEqual(await state({}));
});

test("every line that is logged during a request names the request", async () => {
  await createPurchase({});
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line["request_id"]).toMatch(/^req_[a-z2-7]{20}$/);
});
