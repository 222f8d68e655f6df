import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { unwrap } from "../../../sandbox/client/api-client.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";

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

test("a delivery has the trace of its own request if the request that caused the event had none", async () => {
  const { event } = await createPurchase({});
  const delivered = await sandbox.client.POST("/v1/routing/programs/{program}/notifications", {
    params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": "notification-1" } },
    body: { event_id: event },
    headers: { traceparent },
  });
  unwrap(delivered);
  expect((await arrivedOf(event))?.["traceparent"]).toBe(traceparent);
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
