import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { limits } from "../../../server/limits.ts";
import { openReceiver } from "../../kit/external-receiver.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { startListening } from "../../server/notifications/outbox/listening.ts";

let kit: TestKit;
let start: Snapshot;

beforeAll(async () => {
  kit = await TestKit.shared();
  start = await kit.sandbox.snapshot();
});

beforeEach(async () => {
  await start.restore();
});

async function control(method: string, path: string, body?: unknown) {
  const response = await fetch(new URL(path, kit.sandbox.description.urls.control), {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

describe("sandbox.receiver", () => {
  test("returns each delivery once and in order, whether next() is called before or after it arrives", async () => {
    const { receiver } = kit.sandbox;
    const early = [receiver.next(() => true, 50_000), receiver.next(() => true, 50_000)];
    const events = [await kit.events.write(), await kit.events.write(), await kit.events.write()];
    for (const event of events) await kit.events.deliver(event);
    const returned = [...(await Promise.all(early)), await receiver.next()];
    expect(returned.map(({ headers }) => headers["webhook-id"])).toEqual(events.map(({ id }) => id));
    expect(receiver.deliveries()).toEqual(returned);
    await expect(receiver.next(undefined, 20)).rejects.toMatchObject({ code: "no_delivery" });
  });

  test("returns the first delivery that matches", async () => {
    const event = await kit.events.write();
    await kit.sandbox.faults.set({ layer: "delivery", action: "answer", status: 500, count: 2 });
    await kit.events.deliver(event);
    const accepted = await kit.sandbox.receiver.next(({ status }) => status === 200);
    expect(accepted.number).toBe(3);
    expect((await kit.sandbox.receiver.next()).number).toBe(1);
  });

  test("throws if nothing arrives, instead of waiting forever", async () => {
    await expect(kit.sandbox.receiver.next(undefined, 20)).rejects.toMatchObject({ code: "no_delivery" });
  });

  test("reads what has arrived while the process was blocked longer than the timeout", async () => {
    const event = await kit.events.write();
    const next = kit.sandbox.receiver.next(undefined, 1_000);
    const delivered = kit.events.deliver(event);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
    expect((await next).headers["webhook-id"]).toBe(event.id);
    await delivered;
  });

  test("rejects only the caller whose own function throws", async () => {
    const { receiver } = kit.sandbox;
    const asked = receiver.next(() => {
      throw new Error("not what was expected");
    });
    const refused = expect(asked).rejects.toThrow("not what was expected");
    const next = receiver.next();
    await kit.events.deliver(await kit.events.write());
    await refused;
    expect((await next).number).toBe(1);
  });

  test("shows a delivery that does not verify as unverified", async () => {
    const event = await kit.events.write();
    const signed = await kit.events.sign(event.id, event.body);
    await kit.events.receive({ ...signed }, `${event.body} `);
    expect(await kit.sandbox.receiver.next()).toMatchObject({
      verified: false,
      status: 422,
      body: `${event.body} `,
    });
  });

  test("lets faults act in their order and forgets them when they are cleared", async () => {
    const { faults } = kit.sandbox;
    await faults.set({ layer: "delivery", action: "answer", status: 500 });
    await faults.set({ layer: "delivery", action: "reset" });
    const { notification } = await kit.events.deliver(await kit.events.write());
    expect(notification.attempts.map(({ status_code }) => status_code)).toEqual([500, null, 200]);
    await faults.set({ layer: "delivery", action: "answer", status: 500, count: 5 });
    await faults.clear();
    expect((await kit.events.deliver(await kit.events.write())).notification.attempts).toHaveLength(1);
  });

  test("is restored with a snapshot: deliveries, which of them were returned, their numbers and faults", async () => {
    await kit.events.deliver(await kit.events.write());
    await kit.sandbox.receiver.next();
    await kit.sandbox.faults.set({ layer: "delivery", action: "answer", status: 500 });
    const snapshot = await kit.sandbox.snapshot();
    const before = kit.sandbox.receiver.capture();
    const faults = kit.sandbox.faults.list();
    await kit.events.deliver(await kit.events.write());
    expect(kit.sandbox.receiver.deliveries()).toHaveLength(3);
    await snapshot.restore();
    expect(before.taken).toEqual([1]);
    expect(kit.sandbox.receiver.capture()).toEqual(before);
    expect(kit.sandbox.faults.list()).toEqual(faults);
  });

  test("is listed without the credentials and account keys that a client has sent to it", async () => {
    const { receiver, description } = kit.sandbox;
    const [key = ""] = description.accounts.map((account) => account.key);
    const body = JSON.stringify({ a: key });
    await fetch(receiver.url, { method: "POST", body, headers: { "webhook-id": key } });
    const listed = await control("GET", "/receiver/deliveries");
    const redacted = expect.stringMatching(/^\{"a":"rsk_redacted_[0-9a-f]{8}"\}$/);
    expect(listed.body).toMatchObject({ data: [{ body: redacted }] });
    expect(JSON.stringify(listed)).not.toContain(key);
  });

  test("lists the last 1,000 deliveries", async () => {
    const { receiver } = kit.sandbox;
    const arrival = { headers: {}, body: "", verified: false, status: 422 };
    const arrivals = Array.from({ length: 1_000 }, (_, index) => ({ number: index + 1, ...arrival }));
    receiver.restore({ count: 1_000, arrivals, taken: [] });
    await kit.events.deliver(await kit.events.write());
    const last = Array.from({ length: 1_000 }, (_, index) => index + 2);
    expect(receiver.deliveries().map(({ number }) => number)).toEqual(last);
    const { body } = await control("GET", "/receiver/deliveries");
    expect(body).toMatchObject({ data: last.map((number) => ({ number })) });
  });

  test("has no status for a delivery whose connection was closed before the response", async () => {
    const { port } = new URL(kit.base);
    const { pathname } = new URL(kit.sandbox.description.receiver.url);
    const head = `POST ${pathname} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n`;
    const socket = connect(Number(port), "127.0.0.1");
    const closed = kit.sandbox.receiver.next(() => true, 50_000);
    socket.write(`${head}Content-Length: 4\r\n\r\n{}`, () => socket.destroy());
    expect(await closed).toMatchObject({ number: 1, status: null, verified: false, body: "{}" });
    const { body } = await control("GET", "/receiver/deliveries");
    expect(body).toMatchObject({ data: [{ number: 1, status: null }] });
  });

  test("refuses an invalid failure", async () => {
    const { faults } = kit.sandbox;
    await expect(faults.set({ layer: "delivery", action: "answer", status: 200 })).rejects.toThrow("300");
    await expect(faults.set({ layer: "delivery", action: "reset", count: 0 })).rejects.toThrow("at least 1");
  });

  test("cannot make an external receiver fail, and says who can", async () => {
    await using foreign = await openReceiver();
    await using elsewhere = await TestKit.open({ receiverUrl: foreign.url });
    const { receiver, faults } = elsewhere.sandbox;
    await expect(faults.set({ layer: "delivery", action: "answer", status: 500 })).rejects.toThrow(
      "routing-sandbox listen --fail",
    );
    await expect(receiver.next(undefined, 10)).rejects.toThrow(`Notifications go to ${foreign.url}`);
  });
});

describe("the control API", () => {
  test("shows deliveries, sends one again and makes the next ones fail", async () => {
    const event = await kit.events.write();
    const fault = { layer: "delivery", action: "answer", status: 503 };
    expect(await control("POST", "/faults", { ...fault, count: 2 })).toEqual({
      status: 201,
      body: { ...fault, point: "at_receiver", match: {}, remaining: 2, hits: 0 },
    });
    await kit.events.deliver(event);
    const { body } = await control("GET", "/receiver/deliveries");
    expect(body).toMatchObject({
      url: kit.sandbox.description.receiver.url,
      data: [
        { number: 1, status: 503 },
        { number: 2, status: 503 },
        { number: 3, status: 200, verified: true },
      ],
    });
    const again = await control("POST", "/receiver/resend", { number: 3 });
    expect(again).toMatchObject({ status: 200, body: { status: 200 } });
    expect((await kit.events.receipts()).data).toMatchObject([{ event_id: event.id, deliveries: 2 }]);
    expect(await control("POST", "/receiver/resend", { number: 9 })).toEqual({
      status: 404,
      body: {
        type: "about:blank",
        status: 404,
        code: "not_found",
        detail: "No delivery 9 has arrived. GET /receiver/deliveries lists those that have.",
      },
    });
  });

  test.each([
    { action: "delay", delay_ms: 5 },
    { action: "reset" },
    { action: "answer", status: 302, headers: { location: "http://127.0.0.1/" } },
  ])("takes the fault %j and takes it away", async (fault) => {
    const set = await control("POST", "/faults", { layer: "delivery", ...fault });
    expect(set).toMatchObject({ status: 201, body: { ...fault, remaining: 1 } });
    expect(await control("GET", "/faults")).toMatchObject({ body: { data: [set.body] } });
    expect(await control("DELETE", "/faults")).toEqual({ status: 200, body: { data: [] } });
  });

  test.each([
    {},
    { action: "answer", status: 200 },
    { action: "drop" },
    { action: "reset", count: 0 },
    { action: "reset", status: 503 },
    { action: "crash" },
    { action: "crash", point: "sometime" },
    { action: "crash", point: "at_receiver" },
    { action: "answer", status: 503, headers: { "retry after": "3" } },
    { action: "answer", status: 503, headers: { "retry-after": "3\n" } },
  ])("refuses the fault %j", async (fault) => {
    expect(await control("POST", "/faults", { layer: "delivery", ...fault })).toMatchObject({ status: 422 });
  });
});

test("routing-sandbox listen prints verified deliveries and lets the first ones fail", async () => {
  const { hmac_secret } = kit.sandbox.description.receiver;
  await using listening = await startListening("--secret", hmac_secret, "--fail", "2", "--status", "503");
  await using sending = await TestKit.open({
    seed: kit.sandbox.description.seed,
    receiverUrl: listening.url,
  });
  const event = await sending.events.write();
  const { notification } = await sending.events.deliver(event);
  expect(notification.attempts.map(({ status_code }) => status_code)).toEqual([503, 503, 204]);
  const heard = [await listening.next(), await listening.next(), await listening.next()];
  expect(heard).toMatchObject(
    [503, 503, 204].map((status, index) => ({ number: index + 1, verified: true, status, body: event.body })),
  );
  const signed = { ...(await sending.events.sign(event.id, event.body)) };
  for (const [number, headers] of [[4, signed] as const, [5, {}] as const]) {
    const forged = await fetch(listening.url, { method: "POST", headers, body: `${event.body} ` });
    expect(forged.status).toBe(401);
    expect(await listening.next()).toMatchObject({ number, verified: false, status: 401 });
  }
});

test("routing-sandbox listen without a secret takes what it cannot verify", async () => {
  await using listening = await startListening();
  const accepted = await fetch(listening.url, { method: "POST", body: "{}" });
  expect(accepted.status).toBe(204);
  expect(await listening.next()).toMatchObject({ number: 1, verified: null, status: 204 });
});

test("routing-sandbox listen refuses a body that is longer than any delivery, also one without an end", async () => {
  await using listening = await startListening("--secret", kit.sandbox.description.receiver.hmac_secret);
  const sent = request(listening.url, { method: "POST" });
  sent.write(Buffer.alloc(limits.body_bytes + 1, "x"));
  const [answer]: [IncomingMessage] = await once(sent, "response").then(([response]) => [response]);
  expect(answer.statusCode).toBe(413);
  sent.destroy();
  expect(await listening.next()).toMatchObject({ number: 1, verified: false, status: 413 });
});
