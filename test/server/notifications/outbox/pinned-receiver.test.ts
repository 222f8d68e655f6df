import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { pinReceiver } from "../../../../sandbox/lib/http/pin-receiver.ts";
import type { Snapshot } from "../../../../sandbox/snapshots/snapshot.ts";
import { operations } from "../../../../server/operations.ts";
import type { EventRecord } from "../../../../server/store/records.ts";
import { problem } from "../../../kit/answer.ts";
import { type ExternalReceiver, openReceiver } from "../../../kit/external-receiver.ts";
import { TestKit } from "../../../kit/test-kit.ts";

/** A name that no DNS has; the test says what it resolves to. */
const name = "receiver.test";
const answers = ["127.0.0.1", "127.0.0.2"];
const asked: string[] = [];

let kit: TestKit;
let start: Snapshot;
/** The pinned receiver. */
let receiver: ExternalReceiver;
/** The same port on the address that DNS moves to, and a port of its own: nothing may ever arrive there. */
let moved: ExternalReceiver;
let trap: ExternalReceiver;

beforeAll(async () => {
  receiver = await openReceiver();
  moved = await openReceiver("127.0.0.2", receiver.port);
  trap = await openReceiver();
  kit = await TestKit.open({
    seed: "pinned",
    receiverUrl: `http://${name}:${receiver.port}/hooks?from=sandbox`,
    resolveHost: async (hostname) => {
      asked.push(hostname);
      return { address: answers.shift() ?? "", family: 4 };
    },
  });
  start = await kit.sandbox.snapshot();
});

beforeEach(async () => {
  await start.restore();
  receiver.received.length = 0;
  receiver.answer = (_, response) => response.writeHead(204).end();
});

afterAll(async () => {
  expect([...moved.received, ...trap.received]).toEqual([]);
  await kit.sandbox.close();
  for (const one of [receiver, moved, trap]) await one[Symbol.asyncDispose]();
});

test.each([
  ["1999-12-31T23:59:58Z", "Sat, 01 Jan 2000 00:00:02 GMT", 4],
  ["2099-06-01T12:00:00Z", "Mon, 01 Jun 2099 12:00:07 GMT", 7],
  ["1999-12-31T23:59:58Z", "Fri, 31 Dec 1999 23:59:00 GMT", 1],
  ["2099-06-01T12:00:00Z", "3", 3],
  ["2099-06-01T12:00:00Z", "9".repeat(25), 10],
])(
  "a receiver whose clock says %s and that asks for a pause until %s gets the next attempt after %i s",
  async (clock, asked, seconds) => {
    const event = await kit.events.write();
    receiver.answer = (_, response) => {
      receiver.answer = (_again, next) => next.writeHead(204).end();
      response.writeHead(503, { date: new Date(clock).toUTCString(), "retry-after": asked }).end();
    };
    const { notification } = await kit.events.deliver(event);
    const [first = 0, second = 0] = notification.attempts.map(({ at }) => Date.parse(at) / 1_000);
    expect(second - first).toBe(seconds);
  },
);

test("a receiver that reads the sandbox's clock gets the next attempt at the date that it asks for", async () => {
  const event = await kit.events.write();
  const due = new Date((await kit.sandbox.clock.now()) * 1_000 + 4_000).toUTCString();
  receiver.answer = (_, response) => {
    receiver.answer = (_again, next) => next.writeHead(204).end();
    response.writeHead(503, { "retry-after": due }).end();
  };
  const { notification } = await kit.events.deliver(event);
  expect(new Date(notification.attempts[1]?.at ?? "").toUTCString()).toBe(due);
});

test("the receiver that was named at the start gets the event, at its path and under its name", async () => {
  const event = await kit.events.write();
  const { notification } = await kit.events.deliver(event);
  expect(notification).toMatchObject({ status: "delivered", attempts: [{ status_code: 204 }] });
  expect(receiver.received).toMatchObject([
    {
      method: "POST",
      url: "/hooks?from=sandbox",
      body: event.body,
      headers: { host: `${name}:${receiver.port}`, "webhook-id": event.id },
    },
  ]);
});

test("the service signs a delivery receipt for each delivery that the pinned receiver accepts", async () => {
  const event = await kit.events.write();
  const { receipt } = await kit.events.deliver(event);
  expect(receipt).toMatchObject({
    event_id: event.id,
    receiver: `http://${name}:${receiver.port}/hooks?from=sandbox`,
    body_sha256: event.body_sha256,
    deliveries: 1,
  });
  expect((await kit.events.receipts()).data).toEqual([receipt]);
});

describe("while another URL is pinned, POST …/notification-receiver", () => {
  const toOperation17 = async (event: EventRecord) =>
    await kit.events.receive({ ...(await kit.events.sign(event.id, event.body)) }, event.body);
  const refusal = () => ({
    status: 403,
    body: {
      code: "receiver_not_pinned",
      detail: `Notifications go to ${kit.sandbox.description.receiver.url}, not to this operation. Send the event there, or use a sandbox without a receiver URL.`,
      retryable: false,
    },
  });

  test("refuses an event that the pinned receiver refused, and gives no receipt of it", async () => {
    receiver.answer = (_, response) => response.writeHead(500).end();
    const event = await kit.events.write();
    expect((await kit.events.deliver(event)).notification.status).toBe("exhausted");
    expect(await toOperation17(event)).toMatchObject(refusal());
    expect((await kit.events.receipts()).data).toEqual([]);
  });

  test("refuses a delivered event, and its receipt counts only what the pinned receiver accepted", async () => {
    const event = await kit.events.write();
    await kit.events.deliver(event);
    expect(await toOperation17(event)).toMatchObject(refusal());
    expect((await kit.events.receipts()).data).toMatchObject([{ event_id: event.id, deliveries: 1 }]);
  });

  test("refuses before it looks at signatures, and writes nothing", async () => {
    const before = await kit.sandbox.fingerprint();
    expect(await kit.events.receive({}, "{}")).toMatchObject(refusal());
    expect(await kit.sandbox.fingerprint()).toEqual(before);
  });
});

test("the test receiver may be pinned by its URL, under any of its names", async () => {
  const free = await openReceiver();
  const { port: api } = free;
  await free[Symbol.asyncDispose]();
  for (const host of ["127.0.0.1", "localhost"]) {
    const receiverUrl = `http://${host}:${api}/v1/routing/notification-receiver`;
    await using own = await TestKit.open({ ports: { api }, receiverUrl });
    const { notification, receipt } = await own.events.deliver(await own.events.write());
    expect(notification).toMatchObject({ status: "delivered", attempts: [{ status_code: 200 }] });
    expect(receipt).toMatchObject({ receiver: receiverUrl, deliveries: 1 });
  }
});

test("the receiver's name is resolved once, at the start, even if DNS changes later", async () => {
  for (let attempt = 0; attempt < 3; attempt += 1) await kit.events.deliver(await kit.events.write());
  expect(receiver.received).toHaveLength(3);
  expect(asked).toEqual([name]);
});

describe("a receiver whose name has several addresses", () => {
  const v4 = { address: "127.0.0.2", family: 4 };
  const v6 = { address: "::1", family: 6 };

  /** A sandbox whose receiver's name has these addresses, with the port of a receiver. */
  async function openNamed(addresses: readonly { address: string; family: number }[], port: number) {
    const receiverUrl = `http://${name}:${port}/`;
    return await TestKit.open({ seed: "addresses", receiverUrl, resolveHost: async () => addresses });
  }

  test("gets the event at the first address that takes the connection, once", async () => {
    await using listening = await openReceiver("::1");
    await using named = await openNamed([v4, v6], listening.port);
    const { notification } = await named.events.deliver(await named.events.write());
    expect(notification).toMatchObject({
      status: "delivered",
      attempts: [{ status_code: 204, error: null }],
    });
    listening.answer = (_, response) => response.writeHead(500).end();
    const failed = await named.events.deliver(await named.events.write());
    expect(failed.notification.attempts).toMatchObject(Array(5).fill({ status_code: 500, error: null }));
    expect(listening.received).toHaveLength(6);
  });

  test("is tried at all of them in each attempt, and the attempt says which refused", async () => {
    const listening = await openReceiver("::1");
    await listening[Symbol.asyncDispose]();
    await using named = await openNamed([v4, v6], listening.port);
    const { notification } = await named.events.deliver(await named.events.write());
    const error = "connection refused by 127.0.0.2, connection refused by ::1";
    expect(notification).toMatchObject({ status: "exhausted", attempts: Array(5).fill({ error }) });
  });
});

test.each([301, 302, 303, 307, 308])("a redirect with %i is recorded and not followed", async (status) => {
  receiver.answer = (_, response) => response.writeHead(status, { location: trap.url }).end();
  const { notification } = await kit.events.deliver(await kit.events.write());
  expect(notification.status).toBe("exhausted");
  expect(notification.attempts).toHaveLength(5);
  expect(notification.attempts[0]).toMatchObject({
    status_code: status,
    error: "the response is a redirect, which is not followed",
  });
});

test("an endless answer is cut off, and an incomplete answer does not count", async () => {
  receiver.answer = ({ headers }, response) => {
    response.writeHead(headers["webhook-id"] === endless.id ? 200 : 500);
    const pour = () => {
      while (response.write("x".repeat(65_536)));
      response.once("drain", pour);
    };
    pour();
  };
  const endless = await kit.events.write();
  const { notification } = await kit.events.deliver(endless);
  expect(notification).toMatchObject({
    status: "delivered",
    attempts: [{ response_body: "x".repeat(2_048) }],
  });

  receiver.answer = (_, response) => {
    response.writeHead(200, { "content-length": "100" }).write("half");
    setImmediate(() => response.destroy());
  };
  const broken = await kit.events.deliver(await kit.events.write());
  expect(broken.notification).toMatchObject({ status: "exhausted" });
  expect(broken.receipt).toBeNull();
  expect(broken.notification.attempts[0]).toMatchObject({ status_code: null, error: "connection dropped" });
});

describe("no request names another destination", () => {
  const names = ["callback", "callback_url", "url", "receiver", "receiver_url", "webhook_url", "destination"];
  const writes = operations.filter(({ method, body }) => method === "post" && body !== undefined);

  test.each(writes)(
    "in the body of $id, which refuses a callback of any name",
    async ({ path, authorization, idempotent }) => {
      const filled = path
        .replace("{program}", kit.program)
        .replace("{id}", path.includes("merchant") ? "mer_abcdefghij234567abcd" : "pur_abcdefghij234567abcd");
      const [account] = kit.sandbox.description.accounts;
      const bearer = authorization.kind === "account" ? account?.key : kit.credential;
      const body = Object.fromEntries(names.map((one) => [one, trap.url]));
      const text = JSON.stringify(body);
      const answer = await kit.raw(filled, {
        method: "POST",
        headers: {
          ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
          ...(idempotent ? { "Idempotency-Key": kit.key() } : {}),
          "Content-Type": "application/json",
          "Content-Length": String(Buffer.byteLength(text)),
        },
        body: text,
      });
      expect(problem(answer)).toMatchObject({
        status: 422,
        code: "validation_failed",
        errors: expect.arrayContaining(
          names.map((one) => expect.objectContaining({ pointer: `/${one}`, code: "unknown_field" })),
        ),
      });
    },
  );

  test("in a header or in the name of a merchant", async () => {
    const { address } = kit.sandbox.wallets.merchant;
    const merchant = { wallet: address, name: trap.url, funding_cap: "1", reference: trap.url };
    expect(await kit.post(kit.path("/merchants"), merchant)).toMatchObject({ status: 201 });
    const headers = [
      "callback-url",
      "x-callback-url",
      "x-forwarded-host",
      "forwarded",
      "link",
      "location",
      "origin",
    ];
    const response = await fetch(new URL(kit.path("/notifications"), kit.base), {
      method: "POST",
      headers: {
        ...Object.fromEntries(headers.map((header) => [header, trap.url])),
        authorization: `Bearer ${kit.credential}`,
        "idempotency-key": kit.key(),
        "content-type": "application/json",
      },
      body: "{}",
    });
    expect(response.status).toBe(200);
    expect(receiver.received).toHaveLength(1);
  });

  test("in its query", async () => {
    await kit.events.write();
    const answer = await kit.post(kit.path(`/notifications?receiver=${encodeURIComponent(trap.url)}`), {});
    expect(problem(answer)).toMatchObject({ status: 422, code: "validation_failed" });
    expect(receiver.received).toEqual([]);
  });
});

describe("a receiver's URL is refused at the start", () => {
  const elsewhere = async () => ({ address: "127.0.0.1", family: 4 });

  test.each([
    ["http://user@127.0.0.1:4040/", "user name or password"],
    ["http://user:secret@127.0.0.1:4040/", "user name or password"],
    ["http://@127.0.0.1:4040/", "user name or password"],
    ["http://127.0.0.1:4020@evil.test/", "user name or password"],
    ["http://127.0.0.1:4040/#hooks", "fragment"],
    ["http://127.0.0.1:4040/#", "fragment"],
    ["ftp://127.0.0.1/", "http or https"],
    ["file:///etc/passwd", "http or https"],
    ["javascript:alert(1)", "http or https"],
    ["127.0.0.1:4040", "http or https"],
    ["//127.0.0.1/", "http or https"],
    ["", "http or https"],
    ["http://", "not a URL"],
    ["http:/127.0.0.1/", "not a URL"],
    ["http://127.0.0.1:99999/", "not a URL"],
    ["http://127.0.0.1:0/", "port 0"],
    [" http://127.0.0.1/", "http or https"],
    ["http://127.0.0.1/ hooks", "space"],
    ["http://127.0.0.1\\@evil.test/", "backslash"],
    ["http://127.0.0.1\n.evil.test/", "space"],
    ["http://2130706433/", "write 127.0.0.1"],
    ["http://0x7f000001:4040/", "write 127.0.0.1"],
    ["http://0177.0.0.1/", "write 127.0.0.1"],
    ["http://127.1/", "write 127.0.0.1"],
    ["http://%31%32%37.0.0.1/", "write 127.0.0.1"],
    ["http://[::ffff:127.0.0.1]:4040/", "write 127.0.0.1"],
    ["http://[::ffff:7f00:1]/", "write 127.0.0.1"],
    ["http://[0:0:0:0:0:0:0:1]/", "write [::1]"],
  ])("when it is %j, because of: %s", async (url, reason) => {
    await expect(pinReceiver(url, elsewhere)).rejects.toThrow(reason);
    await expect(pinReceiver(url, elsewhere)).rejects.toMatchObject({ code: "receiver_invalid" });
  });

  test.each([
    "http://127.0.0.1:4040/hooks?a=b",
    "https://receiver.test/",
    "http://[::1]:4040/",
    "HTTP://LOCALHOST/",
  ])("but not when it is %j", async (url) => {
    const pinned = await pinReceiver(url, elsewhere);
    expect(pinned.url.href).toBe(new URL(url).href);
    expect(pinned.addresses.map(({ address }) => address)).toEqual([url.includes("[") ? "::1" : "127.0.0.1"]);
  });

  test("before anything is started, even if its name has no address", async () => {
    await expect(createSandbox({ receiverUrl: "http://a:b@127.0.0.1/" })).rejects.toThrow(
      "user name or password",
    );
    const resolveHost = async () => await Promise.reject(new Error("ENOTFOUND"));
    await expect(createSandbox({ receiverUrl: "http://nowhere.test/", resolveHost })).rejects.toThrow(
      "The receiver's name nowhere.test has no address. Correct the name, or make it",
    );
  });
});
