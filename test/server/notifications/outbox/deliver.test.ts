import { compactVerify, createRemoteJWKSet, jwtVerify } from "jose";
import { Webhook } from "standardwebhooks";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Snapshot } from "../../../../sandbox/snapshots/snapshot.ts";
import { TestKit } from "../../../kit/test-kit.ts";

let kit: TestKit;
let other: TestKit;
let start: Snapshot;

beforeAll(async () => {
  kit = await TestKit.shared({ seed: "deliver" });
  other = await TestKit.of(kit.sandbox, 1);
  start = await kit.sandbox.snapshot();
});

beforeEach(async () => {
  await start.restore();
});

describe("a delivery to the test receiver", () => {
  test("arrives signed, with the frozen body, and is receipted", async () => {
    const event = await kit.events.write();
    const { notification, receipt } = await kit.events.deliver(event);
    const arrival = await kit.sandbox.receiver.next();
    expect(arrival).toMatchObject({ number: 1, body: event.body, verified: true, status: 200 });
    expect(arrival.headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": event.id,
      "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}= v1a,[A-Za-z0-9+/]{86}==$/),
    });
    expect(notification).toMatchObject({
      event_id: event.id,
      status: "delivered",
      attempts: [{ number: 1, status_code: 200, error: null, duration_ms: 0 }],
    });
    expect(receipt).toMatchObject({
      event_id: event.id,
      body_sha256: event.body_sha256,
      receiver: kit.sandbox.description.receiver.url,
      deliveries: 1,
    });
    expect((await kit.events.read(event.id)).body).toBe(event.body);
  });

  test("is verified by stock standardwebhooks with the published secret", async () => {
    await kit.events.deliver(await kit.events.write());
    const { headers, body } = await kit.sandbox.receiver.next();
    const webhook = new Webhook(kit.sandbox.description.receiver.hmac_secret);
    // The package judges the time by the wall clock; the sandbox has its own.
    vi.useFakeTimers({ toFake: ["Date"], now: (await kit.sandbox.clock.now()) * 1_000 });
    try {
      expect(webhook.verify(body, headers)).toEqual(JSON.parse(body));
      expect(() => webhook.verify(body.replace("Corner", "corner").concat(" "), headers)).toThrow(
        "signature",
      );
    } finally {
      vi.useRealTimers();
    }
  });

  test("leaves a receipt that jose verifies from the JWKS", async () => {
    const event = await kit.events.write();
    const { receipt } = await kit.events.deliver(event);
    const jwks = createRemoteJWKSet(new URL("/.well-known/jwks.json", kit.base));
    const jws = receipt?.jws ?? "";
    const { payload, protectedHeader } = await compactVerify(jws, jwks, { algorithms: ["EdDSA"] });
    expect(protectedHeader).toMatchObject({ alg: "EdDSA", typ: "routing-receipt+jws" });
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual({
      receipt_id: receipt?.id,
      event_id: event.id,
      body_sha256: event.body_sha256,
      receiver: receipt?.receiver,
      received_at: receipt?.received_at,
    });
    const [header, , signature] = jws.split(".");
    const forged = Buffer.from(JSON.stringify({ event_id: "evt_of_somebody_else" })).toString("base64url");
    await expect(compactVerify([header, forged, signature].join("."), jwks)).rejects.toThrow("signature");
    await expect(jwtVerify(jws, jwks, { typ: "JWT" })).rejects.toThrow("typ");
  });

  test("that was made is answered again and not made again", async () => {
    const event = await kit.events.write();
    const first = await kit.events.deliver(event, "the-first-key");
    const again = await kit.post(
      kit.path("/notifications"),
      { event_id: event.id },
      { "Idempotency-Key": "the-first-key" },
    );
    expect(again.headers["idempotent-replayed"]).toBe("true");
    expect(JSON.parse(again.text)).toEqual(first);
    expect(await kit.events.deliver(event)).toEqual(first);
    expect(kit.sandbox.receiver.deliveries()).toHaveLength(1);
  });
});

describe("without an event", () => {
  test("the program's oldest undelivered event is sent, then the next, until there is none", async () => {
    const events = [await kit.events.write(), await kit.events.write()];
    await other.events.write();
    const delivered = [await kit.events.deliver(null), await kit.events.deliver(null)];
    expect(delivered.map(({ notification }) => notification.event_id)).toEqual(events.map(({ id }) => id));
    expect(await kit.events.refusedDelivery(null)).toMatchObject({ status: 404, code: "outbox_empty" });
    const { data } = await kit.events.receipts();
    expect(data.map(({ event_id }) => event_id)).toEqual(events.map(({ id }) => id));
  });

  test("concurrent requests deliver different events, each once", async () => {
    const events = [await kit.events.write(), await kit.events.write(), await kit.events.write()];
    const delivered = await Promise.all(events.map(async () => await kit.events.deliver(null)));
    expect(new Set(delivered.map(({ notification }) => notification.event_id))).toEqual(
      new Set(events.map(({ id }) => id)),
    );
    expect(kit.sandbox.receiver.deliveries()).toHaveLength(3);
  });
});

test("another program's event is not found", async () => {
  const foreign = await other.events.write();
  expect(await kit.events.refusedDelivery(foreign)).toMatchObject({ status: 404, code: "not_found" });
  expect(await kit.events.refusedDelivery({ id: "evt_abcdefghij234567abcd" })).toMatchObject({
    code: "not_found",
  });
  expect(kit.sandbox.receiver.deliveries()).toEqual([]);
});

test("a program's events are numbered without gaps, and two programs count apart", async () => {
  const before = (await kit.sandbox.store.list("events", {})).length;
  await kit.events.write();
  await kit.post(kit.path("/merchants"), { wallet: "no-address" });
  await other.events.write();
  await kit.events.write();
  const events = (await kit.sandbox.store.list("events", {})).map(({ value }) => value);
  expect(before).toBe(0);
  expect(events.map(({ program, sequence }) => [program, sequence])).toEqual([
    ["prg_demo", 1],
    ["prg_other", 1],
    ["prg_demo", 2],
  ]);
});

describe("a receiver that fails", () => {
  test("gets five attempts and no more, whatever is called", async () => {
    const event = await kit.events.write();
    await kit.sandbox.faults.set({
      layer: "delivery",
      action: "answer",
      status: 503,
      body: "try later",
      count: 100,
    });
    const { notification, receipt } = await kit.events.deliver(event, "the-one-key");
    expect(notification.status).toBe("exhausted");
    expect(notification.attempts.map(({ number, status_code }) => [number, status_code])).toEqual(
      [1, 2, 3, 4, 5].map((number) => [number, 503]),
    );
    expect(notification.attempts[0]?.response_body).toBe("try later");
    expect(receipt).toBeNull();
    expect(await kit.events.refusedDelivery(event)).toMatchObject({
      status: 409,
      code: "delivery_exhausted",
      detail: `${event.id} has had its 5 attempts, so no further attempt is made. Read the object of the event instead, such as the purchase.`,
      event_id: event.id,
      attempts: 5,
    });
    expect(await kit.events.refusedDelivery(null)).toMatchObject({ code: "outbox_empty" });
    expect((await kit.events.deliver(event, "the-one-key")).notification).toEqual(notification);
    expect(kit.sandbox.receiver.deliveries()).toHaveLength(5);
    expect((await kit.events.receipts()).data).toEqual([]);
  });

  test("and then recovers gets the event at the next attempt, under one id and signed for its own time", async () => {
    const event = await kit.events.write();
    await kit.sandbox.faults.set({ layer: "delivery", action: "answer", status: 500, count: 2 });
    const { notification } = await kit.events.deliver(event);
    expect(notification.attempts.map(({ status_code }) => status_code)).toEqual([500, 500, 200]);
    const arrivals = kit.sandbox.receiver.deliveries();
    expect(arrivals.map(({ headers }) => headers["webhook-id"])).toEqual([event.id, event.id, event.id]);
    const times = arrivals.map(({ headers }) => Number(headers["webhook-timestamp"]));
    expect(times).toEqual(notification.attempts.map(({ at }) => Date.parse(at) / 1_000));
    expect(new Set(times).size).toBe(3);
    expect(arrivals.every(({ verified, body }) => verified && body === event.body)).toBe(true);
  });

  test("is waited for in sandbox time, longer each time, equally long in equal runs", async () => {
    const run = async () => {
      const event = await kit.events.write();
      await kit.sandbox.faults.set({ layer: "delivery", action: "answer", status: 500, count: 5 });
      const { notification } = await kit.events.deliver(event);
      return notification.attempts.map(({ at }) => Date.parse(at) / 1_000);
    };
    const first = await run();
    await start.restore();
    expect(await run()).toEqual(first);
    const pauses = first.slice(1).map((at, index) => at - (first[index] ?? 0));
    // Half a second, one, two and four, each and a bit, in whole seconds of sandbox time.
    expect(pauses).toEqual([1, 2, 3, 5]);
  });

  test.each([
    ["3", 3],
    ["86400", 10],
    ["86400000000", 10],
    ["0", 1],
    ["soon", 1],
    ["Mon, 05 Jan 2026 00:00:04 GMT", 4],
    ["Monday, 05-Jan-26 00:00:04 GMT", 4],
    ["Mon Jan  5 00:00:04 2026", 4],
    ["Mon, 05 Jan 2026 00:00:11 GMT", 10],
    ["Sun, 04 Jan 2026 23:59:56 GMT", 1],
  ])("and says Retry-After: %s is left alone for %i s from 5 January 2026", async (value, seconds) => {
    vi.stubEnv("TZ", "Asia/Tokyo");
    onTestFinished(() => void vi.unstubAllEnvs());
    await kit.sandbox.clock.travelTo(Date.parse("2026-01-05T00:00:00Z") / 1_000);
    const event = await kit.events.write();
    await kit.sandbox.faults.set({
      layer: "delivery",
      action: "answer",
      status: 429,
      headers: { "retry-after": value },
    });
    const { notification } = await kit.events.deliver(event);
    const [first = 0, second = 0] = notification.attempts.map(({ at }) => Date.parse(at) / 1_000);
    expect(second - first).toBe(seconds);
    expect(notification.status).toBe("delivered");
  });

  test("with 410 is not asked again", async () => {
    const event = await kit.events.write();
    await kit.sandbox.faults.set({ layer: "delivery", action: "answer", status: 410 });
    const { notification } = await kit.events.deliver(event);
    expect(notification).toMatchObject({ status: "exhausted", attempts: [{ number: 1, status_code: 410 }] });
    expect(await kit.events.refusedDelivery(event)).toMatchObject({
      status: 409,
      code: "delivery_exhausted",
      detail: `The receiver responded with 410 to ${event.id}, so no further attempt is made. Read the object of the event instead, such as the purchase.`,
      event_id: event.id,
      attempts: 1,
    });
    expect(kit.sandbox.receiver.deliveries()).toHaveLength(1);
  });

  test("by dropping the connection has no status", async () => {
    const event = await kit.events.write();
    await kit.sandbox.faults.set({ layer: "delivery", action: "reset" });
    const { notification } = await kit.events.deliver(event);
    expect(notification.attempts).toMatchObject([
      { status_code: null, error: "connection dropped", response_body: null },
      { status_code: 200, error: null },
    ]);
    expect(await kit.sandbox.receiver.next()).toMatchObject({ status: null, verified: true });
  });

  test("by not answering in time is not waited for", async () => {
    await using hurried = await TestKit.open({ deliveryTimeoutMs: 200 });
    const event = await hurried.events.write();
    await hurried.sandbox.faults.set({ layer: "delivery", action: "delay", delay_ms: 60_000 });
    const { notification } = await hurried.events.deliver(event);
    expect(notification.status).toBe("delivered");
    expect(notification.attempts[0]).toMatchObject({
      status_code: null,
      error: "no complete response within 200 ms",
    });
  });

  test("with a long answer has its beginning kept", async () => {
    const event = await kit.events.write();
    await kit.sandbox.faults.set({
      layer: "delivery",
      action: "answer",
      status: 500,
      body: "é".repeat(40_000),
    });
    const { notification } = await kit.events.deliver(event);
    expect(notification.attempts[0]?.response_body).toBe("é".repeat(1_024));
  });

  test.each([
    ...[300, 301, 302, 303, 307, 308, 399].map(
      (status) => [status, "the response is a redirect, which is not followed"] as const,
    ),
    ...[400, 401, 404, 500].map((status) => [status, null] as const),
  ])("with %i has not taken the event, and a redirect is reported as one", async (status, error) => {
    const event = await kit.events.write();
    await kit.sandbox.faults.set({ layer: "delivery", action: "answer", status });
    const { notification } = await kit.events.deliver(event);
    expect(notification.attempts).toMatchObject([
      { status_code: status, error },
      { status_code: 200, error: null },
    ]);
  });
});

test("an event with a delivery receipt is delivered, even if every answer was lost", async () => {
  const event = await kit.events.write();
  await kit.events.receive({ ...(await kit.events.sign(event.id, event.body)) }, event.body);
  await kit.sandbox.faults.set({ layer: "delivery", action: "reset", count: 5 });
  const { notification, receipt } = await kit.events.deliver(event);
  expect(notification.status).toBe("delivered");
  expect(notification.attempts.map(({ status_code }) => status_code)).toEqual([null, null, null, null, null]);
  expect(receipt).toMatchObject({ event_id: event.id, deliveries: 1 });
});

test("equal runs with failing deliveries are equal, to the last stored byte", async () => {
  const tell = async (run: TestKit) => {
    const event = await run.events.write();
    await run.sandbox.faults.set({ layer: "delivery", action: "reset" });
    await run.sandbox.faults.set({
      layer: "delivery",
      action: "answer",
      status: 503,
      headers: { "retry-after": "4" },
      count: 2,
    });
    await run.events.deliver(event);
    return await run.sandbox.fingerprint();
  };
  await using first = await TestKit.open({ seed: "equal deliveries" });
  await using second = await TestKit.open({ seed: "equal deliveries" });
  expect(await tell(second)).toEqual(await tell(first));
});

test("a delivery during which a snapshot is taken ends like any other", async () => {
  const event = await kit.events.write();
  await kit.sandbox.faults.set({ layer: "delivery", action: "answer", status: 500, count: 2 });
  const delivering = kit.events.deliver(event);
  await kit.sandbox.receiver.next();
  const [{ notification }] = await Promise.all([delivering, kit.sandbox.snapshot()]);
  expect(notification.attempts.map(({ status_code }) => status_code)).toEqual([500, 500, 200]);
});
