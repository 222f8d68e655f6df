import { expect, test } from "vitest";
import { unwrap } from "../../../sandbox/client/api-client.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { openPool } from "../../../testkit/pool/pool.ts";
import { sandboxTest } from "../../../testkit/vitest.ts";
import { openReceiver } from "../../kit/external-receiver.ts";

const inSandbox = sandboxTest({ seed: "deliveries" });

inSandbox("deliverAll delivers every undelivered event once, the oldest first", async ({ sandbox }) => {
  const { given, receiver, store } = sandbox;
  await given.purchase({ state: "reconciled" });
  const { merchant } = await given.merchant({ state: "pending", program: "prg_other" });
  const events = await store.list("events", {}, { limit: 100 });
  const notifications = await sandbox.deliverAll();
  expect(notifications.length).toBeGreaterThan(4);
  expect(notifications).toHaveLength(events.length);
  expect(new Set(notifications.map(({ status }) => status))).toEqual(new Set(["delivered"]));
  const arrived = receiver.deliveries().map(({ headers }) => headers["webhook-id"]);
  expect(arrived).toEqual(notifications.map(({ event_id }) => event_id));
  expect(arrived.at(-1)).toBe(merchant.event_id);
  const sequences = notifications.map(({ event_id }) => {
    const { value } = events.find(({ key }) => key === event_id) ?? {};
    return [value?.program, value?.sequence];
  });
  const own = sequences.filter(([program]) => program === "prg_demo");
  expect(own).toEqual(own.map((_, index) => ["prg_demo", index + 1]));
  expect(await sandbox.deliverAll()).toEqual([]);
});

inSandbox(
  "deliverAll returns an event that the receiver never took as exhausted, and continues",
  async ({ sandbox: { given, faults, deliverAll } }) => {
    await given.merchant({ state: "enrolled" });
    await faults.set({ layer: "delivery", action: "answer", status: 503, count: 5 });
    const [first, second] = await deliverAll();
    expect(first).toMatchObject({ status: "exhausted", attempts: { length: 5 } });
    expect(second).toMatchObject({ status: "delivered", attempts: { length: 1 } });
    expect(await deliverAll()).toEqual([]);
  },
);

inSandbox("deliverAll continues while others make blocks", { tags: "thorough" }, async ({ sandbox }) => {
  const { given, faults, deliverAll } = sandbox;
  for (let run = 0; run < 8; run += 1) {
    await given.purchase({ state: "created" });
    await faults.set({ layer: "delivery", action: "answer", status: 503, count: 3 });
    const [notifications] = await Promise.all([deliverAll(), given.purchase({ state: "refunded" })]);
    expect(new Set(notifications.map(({ status }) => status))).toEqual(new Set(["delivered"]));
    await deliverAll();
  }
});

inSandbox.for([
  ["reset", "after_commit"],
  ["partial", "after_commit"],
  ["429", "before_commit"],
  ["503", "before_commit"],
] as const)(
  "deliverAll and POST /deliver return a notification whose response was lost or refused (%s)",
  async ([action, point], { sandbox }) => {
    const { given, faults, deliverAll, description } = sandbox;
    const spoil = async () =>
      await faults.set({ layer: "api", action, point, match: { operation: "deliverNotification" } });
    const delivered = { status: "delivered", attempts: { length: 1 } };
    const { merchant } = await given.merchant({ state: "pending" });
    await spoil();
    expect(await deliverAll()).toMatchObject([{ event_id: merchant.event_id, ...delivered }]);
    const { purchase } = await given.purchase({ state: "created" });
    await spoil();
    const answer = await fetch(`${description.urls.control}/deliver`, { method: "POST" });
    const { notifications } = JSON.parse(await answer.text());
    expect(notifications.at(-1)).toMatchObject({ event_id: purchase.event_id, ...delivered });
    expect(await deliverAll()).toEqual([]);
  },
);

inSandbox("a resent delivery that gets no response has the status null", async ({ sandbox }) => {
  const { given, faults, deliverAll, receiver } = sandbox;
  await given.merchant({ state: "pending" });
  await deliverAll();
  const [delivery] = receiver.deliveries();
  if (delivery === undefined) throw new Error("Nothing was delivered.");
  await faults.set({ layer: "delivery", action: "reset" });
  expect(await receiver.resend(delivery)).toEqual({ status: null, body: "" });
});

inSandbox("two calls of deliverAll deliver each event once", async ({ sandbox }) => {
  await sandbox.given.merchant({ state: "enrolled" });
  const both = await Promise.all([sandbox.deliverAll(), sandbox.deliverAll()]);
  expect(both.map((notifications) => notifications.length)).toEqual([2, 0]);
  expect(sandbox.receiver.deliveries()).toHaveLength(2);
});

inSandbox("deliverAll leaves a test's credential valid", async ({ sandbox }) => {
  const { client } = sandbox;
  const params = { path: { program: "prg_demo" } };
  unwrap(await client.GET("/v1/routing/programs/{program}", { params }));
  await sandbox.given.merchant({ state: "pending" });
  await sandbox.deliverAll();
  expect(unwrap(await client.GET("/v1/routing/programs/{program}", { params })).id).toBe("prg_demo");
});

inSandbox("POST /deliver of the control API delivers the same", async ({ sandbox }) => {
  const { given, description } = sandbox;
  const { merchant } = await given.merchant({ state: "pending" });
  const deliver = async () => {
    const answer = await fetch(`${description.urls.control}/deliver`, { method: "POST" });
    return { status: answer.status, body: await answer.json() };
  };
  expect(await deliver()).toMatchObject({
    status: 200,
    body: { notifications: [{ event_id: merchant.event_id, status: "delivered" }] },
  });
  expect(await deliver()).toEqual({ status: 200, body: { notifications: [] } });
});

test("a test that has ended delivers nothing", async () => {
  const pool = openPool({ seed: "deliveries" }, "worker");
  const { sandbox, end } = await pool.lease();
  await end();
  expect(() => sandbox.deliverAll()).toThrow(expect.objectContaining({ code: "not_leased" }));
  await pool.close();
});

test("with autoDeliver every event arrives without a call", async () => {
  await using sandbox = await createSandbox({ seed: "deliveries", autoDeliver: true });
  const { receiver, given, deliverAll } = sandbox;
  const { merchant } = await given.merchant({ state: "pending" });
  const first = await receiver.next();
  expect(first.headers["webhook-id"]).toBe(merchant.event_id);
  const { purchase } = await given.purchase({ state: "created" });
  const isOf = ({ headers }: typeof first) => headers["webhook-id"] === purchase.event_id;
  expect((await receiver.next(isOf)).status).toBe(200);
  // Waits for the delivery under way.
  expect(await deliverAll()).toEqual([]);
});

test("with autoDeliver events continue to arrive after a restore and after a delivery that failed", async () => {
  const logged: string[] = [];
  const log = { info() {}, error: (_: object, message: string) => logged.push(message) };
  await using sandbox = await createSandbox({ seed: "deliveries", autoDeliver: true, log });
  const { receiver, faults, given, snapshot, deliverAll } = sandbox;
  const start = await snapshot();
  await given.merchant({ state: "pending" });
  const before = await receiver.next();
  await deliverAll();
  await start.restore();
  await faults.set({ layer: "delivery", action: "answer", status: 503, count: 5 });
  const { merchant } = await given.merchant({ state: "pending" });
  const exhausted = await receiver.next(({ number }) => number === 5);
  expect(exhausted.headers["webhook-id"]).toBe(merchant.event_id);
  expect(exhausted.headers["webhook-id"]).toBe(before.headers["webhook-id"]);
  const { purchase } = await given.purchase({ state: "created" });
  const isOf = ({ headers }: typeof before) => headers["webhook-id"] === purchase.event_id;
  expect((await receiver.next(isOf)).status).toBe(200);
  expect(logged).toEqual([]);
});

test("a sandbox with autoDeliver closes while its receiver does not answer", async () => {
  await using silent = await openReceiver();
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  silent.answer = () => resolve();
  const sandbox = await createSandbox({
    seed: "deliveries",
    autoDeliver: true,
    receiverUrl: silent.url,
    deliveryTimeoutMs: 60_000,
  });
  await sandbox.given.merchant({ state: "pending" });
  await arrived;
  await sandbox.close();
  expect(silent.received).toHaveLength(1);
});
