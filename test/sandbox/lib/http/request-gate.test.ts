import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { SandboxError } from "../../../../sandbox/lib/errors/sandbox-error.ts";
import { RequestGate } from "../../../../sandbox/lib/http/request-gate.ts";
import type { SandboxOptions } from "../../../../sandbox/options/options.ts";
import { ask } from "../../../ask.ts";
import { problem } from "../../../kit/answer.ts";
import { type ExternalReceiver, openReceiver } from "../../../kit/external-receiver.ts";
import { TestKit } from "../../../kit/test-kit.ts";

/** So long that what waits for it never ends within a test. */
const forever = 60_000;
const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

async function openKit(options: SandboxOptions = {}): Promise<TestKit> {
  const limits = { requestMs: forever * 10, headersMs: forever * 10 };
  const kit = await TestKit.open({
    seed: "gate",
    connectionLimits: limits,
    deliveryTimeoutMs: forever,
    ...options,
  });
  opened.push(kit);
  return kit;
}

/** A connection that has sent so much and no more. */
async function openSocket(url: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // Before the sandbox, which would wait for the connection.
  opened.push({ [Symbol.asyncDispose]: async () => void socket.destroy() });
  socket.on("error", () => {});
  await once(socket, "connect");
  await new Promise<void>((resolve) => socket.write(text, () => resolve()));
  return socket;
}

function requestText(
  url: string,
  line: string,
  headers: { [name: string]: string | number },
  body = "",
): string {
  const { host } = new URL(url);
  const all = { Host: host, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${line} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

/** The first response on a connection. */
async function responseOn(socket: Socket): Promise<{ status: number; body: unknown }> {
  let text = "";
  for await (const chunk of socket) {
    text += String(chunk);
    const [head = "", body = ""] = text.split("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (Buffer.byteLength(body) >= length)
      return { status: Number(head.slice(9, 12)), body: JSON.parse(body) };
  }
  throw new Error(`The connection ended after ${JSON.stringify(text)}.`);
}

async function expectAnswers(kit: TestKit): Promise<void> {
  const { api, control, rpc } = kit.sandbox.description.urls;
  expect((await fetch(`${api}/v1/routing/capabilities`)).status).toBe(200);
  expect((await kit.post(kit.path("/merchants"), merchantOf(kit))).status).toBe(201);
  expect((await fetch(`${control}/blocks`, { method: "POST" })).status).toBe(200);
  const headers = { "Content-Type": "application/json" };
  const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
  expect((await ask(rpc, { method: "POST", headers, body })).text).toContain("0x7a69");
}

function merchantOf({ sandbox }: TestKit) {
  return { wallet: sandbox.wallets.merchant.address, name: "Corner Books", funding_cap: "100000000" };
}

describe("an unfinished body holds up no snapshot and no other request", () => {
  const targets: [
    string,
    (kit: TestKit) => { url: string; line: string; headers: { [name: string]: string } },
  ][] = [
    [
      "of a write to the API",
      (kit) => ({
        url: kit.sandbox.description.urls.api,
        line: `POST ${kit.path("/merchants")}`,
        headers: { Authorization: `Bearer ${kit.credential}`, "Idempotency-Key": "unfinished-1" },
      }),
    ],
    [
      "of a signed event",
      (kit) => ({
        url: kit.sandbox.description.urls.api,
        line: "POST /v1/routing/notification-receiver",
        headers: {},
      }),
    ],
    [
      "of a call to the control API",
      (kit) => ({ url: kit.sandbox.description.urls.control, line: "POST /blocks", headers: {} }),
    ],
    [
      "of a call to the chain",
      (kit) => ({ url: kit.sandbox.description.urls.rpc, line: "POST /", headers: {} }),
    ],
  ];

  test.each(targets)("%s", async (_, target) => {
    const kit = await openKit();
    const { url, line, headers } = target(kit);
    const sent = requestText(
      url,
      line,
      { ...headers, "Content-Type": "application/json", "Content-Length": 100 },
      '{"',
    );
    await openSocket(url, sent);
    const snapshot = await kit.sandbox.snapshot();
    await expectAnswers(kit);
    await snapshot.restore();
    await expectAnswers(kit);
  });
});

test("a request whose body arrives after a restore is answered as if it had arrived after it", async () => {
  const kit = await openKit();
  const snapshot = await kit.sandbox.snapshot();
  const before = await kit.sandbox.fingerprint();
  const later = await TestKit.of(kit.sandbox);
  const body = JSON.stringify(merchantOf(kit));
  const { api } = kit.sandbox.description.urls;
  const headers = {
    Authorization: `Bearer ${later.credential}`,
    "Idempotency-Key": "late-body-1",
    "Content-Type": "application/json",
    "Content-Length": body.length,
  };
  const socket = await openSocket(
    api,
    requestText(api, `POST ${kit.path("/merchants")}`, headers, body.slice(0, 10)),
  );
  // The service has seen the credential by now: a refusal would not wait for the body.
  expect((await fetch(`${api}/v1/routing/capabilities`)).status).toBe(200);
  await snapshot.restore();
  socket.write(body.slice(10));
  expect(await responseOn(socket)).toMatchObject({ status: 401, body: { code: "credential_invalid" } });
  expect(await kit.sandbox.fingerprint()).toEqual(before);
});

describe("a delivery waits for its receiver outside of the gate", () => {
  /** A receiver that takes deliveries and answers none, and a sandbox that begins one. */
  async function openSilent(): Promise<{ kit: TestKit; receiver: ExternalReceiver; arrived: Promise<void> }> {
    const receiver = await openReceiver();
    opened.push(receiver);
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    receiver.answer = () => resolve();
    const kit = await openKit({ receiverUrl: receiver.url });
    return { kit, receiver, arrived };
  }

  test("so that a silent one holds up no snapshot and no other request", async () => {
    const { kit, arrived } = await openSilent();
    await kit.events.write();
    const delivery = kit.post(kit.path("/notifications"), {});
    await arrived;
    const snapshot = await kit.sandbox.snapshot();
    await expectAnswers(kit);
    await snapshot.restore();
    expect((await delivery).status).toBe(409);
  });

  test("while it waits for its turn", { tags: "thorough" }, async () => {
    const { kit, receiver, arrived } = await openSilent();
    await kit.events.write();
    const first = kit.post(kit.path("/notifications"), {}, { "Idempotency-Key": "delivery-1" });
    await arrived;
    const second = kit.post(kit.path("/notifications"), {}, { "Idempotency-Key": "delivery-2" });
    await kit.sandbox.snapshot();
    const snapshot = await kit.sandbox.snapshot();
    await expectAnswers(kit);
    receiver.answer = (_, response) => response.writeHead(204).end();
    await snapshot.restore();
    expect([(await first).status, (await second).status]).toEqual([409, 200]);
  });

  test("while it pauses between its attempts in real time", { tags: "thorough" }, async () => {
    const receiver = await openReceiver();
    opened.push(receiver);
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    receiver.answer = (_, response) => response.writeHead(503, { "retry-after": "10" }).end(() => resolve());
    const kit = await openKit({ receiverUrl: receiver.url, mode: "live" });
    const event = await kit.events.write();
    const delivery = kit.post(kit.path("/notifications"), {});
    await arrived;
    await expect
      .poll(async () => (await kit.sandbox.store.get("notifications", event.id))?.value.attempts[0]?.outcome)
      .toMatchObject({ status_code: 503 });
    const snapshot = await kit.sandbox.snapshot();
    await expectAnswers(kit);
    await snapshot.restore();
    expect(problem(await delivery)).toMatchObject({ code: "outcome_unknown" });
  });

  test("so that a restore ends it and leaves nothing of it behind", async () => {
    const { kit, arrived } = await openSilent();
    const snapshot = await kit.sandbox.snapshot();
    const before = await kit.sandbox.fingerprint();
    await kit.events.write();
    const delivery = kit.post(kit.path("/notifications"), {});
    await arrived;
    await snapshot.restore();
    expect(problem(await delivery)).toMatchObject({
      status: 409,
      code: "outcome_unknown",
      detail:
        "The sandbox was restored during this delivery. Send the request again if its event still exists.",
      retryable: true,
    });
    expect(await kit.sandbox.fingerprint()).toEqual(before);
    expect(await kit.events.refusedDelivery(null)).toMatchObject({ code: "outbox_empty" });
  });

  test("and continues with its next attempt after a snapshot taken meanwhile is restored", async () => {
    const { kit, receiver, arrived } = await openSilent();
    await kit.events.write();
    const delivery = kit.post(kit.path("/notifications"), {}, { "Idempotency-Key": "delivery-1" });
    await arrived;
    const snapshot = await kit.sandbox.snapshot();
    await snapshot.restore();
    expect(problem(await delivery)).toMatchObject({ code: "outcome_unknown" });
    receiver.answer = (_, response) => response.writeHead(204).end();
    const { notification } = await kit.events.deliver(null, "delivery-1");
    expect(notification.attempts.map(({ number, status_code }) => [number, status_code])).toEqual([
      [1, null],
      [2, 204],
    ]);
  });
});

describe("a client that does not read its answers holds up no snapshot", () => {
  test("of the API, with any number of requests in progress", async () => {
    const kit = await openKit();
    const { api } = kit.sandbox.description.urls;
    const socket = await openSocket(api, requestText(api, "GET /v1/routing/openapi.json", {}).repeat(30));
    socket.pause();
    const snapshot = await kit.sandbox.snapshot();
    await expectAnswers(kit);
    await snapshot.restore();
  });

  test("of the chain", async () => {
    const kit = await openKit();
    const { urls, contracts } = kit.sandbox.description;
    const code = { jsonrpc: "2.0", id: 1, method: "eth_getCode", params: [contracts.registrar, "latest"] };
    const body = JSON.stringify(Array.from({ length: 400 }, () => code));
    const headers = { "Content-Type": "application/json", "Content-Length": body.length };
    const socket = await openSocket(urls.rpc, requestText(urls.rpc, "POST /", headers, body));
    socket.pause();
    const snapshot = await kit.sandbox.snapshot();
    await expectAnswers(kit);
    await snapshot.restore();
  });
});

test("a request that is pipelined behind one that waits holds up no snapshot", {
  tags: "thorough",
}, async () => {
  const receiver = await openReceiver();
  opened.push(receiver);
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  receiver.answer = () => resolve();
  const kit = await openKit({ receiverUrl: receiver.url });
  await kit.events.write();
  const { api } = kit.sandbox.description.urls;
  const headers = {
    Authorization: `Bearer ${kit.credential}`,
    "Idempotency-Key": "pipelined-1",
    "Content-Type": "application/json",
    "Content-Length": 2,
  };
  const delivery = requestText(api, `POST ${kit.path("/notifications")}`, headers, "{}");
  await openSocket(api, delivery + requestText(api, "GET /v1/routing/capabilities", {}).repeat(2));
  await arrived;
  const snapshot = await kit.sandbox.snapshot();
  await expectAnswers(kit);
  await snapshot.restore();
});

describe("a snapshot that cannot begin in time is refused and says what it waited for", () => {
  /** Opens a sandbox with a request in progress, which waits for the address of a receiver. */
  async function holdUp(snapshotTimeoutMs: number) {
    const [asked, resolved] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const kit = await openKit({
      snapshotTimeoutMs,
      async resolveHost() {
        asked.resolve();
        await resolved.promise;
        return { address: "127.0.0.1", family: 4 };
      },
    });
    const early = await kit.sandbox.snapshot();
    const pinned = fetch(`${kit.sandbox.description.urls.control}/receiver/pin`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ url: "http://receiver.test/" }),
    });
    await asked.promise;
    const release = async () => {
      resolved.resolve();
      expect((await pinned).status).toBe(200);
    };
    return { kit, early, release };
  }

  test("while others are answered, and one can be taken when that has ended", {
    tags: "thorough",
  }, async () => {
    const { kit, early, release } = await holdUp(1_500);
    const { api } = kit.sandbox.description.urls;
    const others = fetch(`${api}/v1/routing/capabilities`).then(({ status }) => status);
    const refused = kit.sandbox.snapshot().then(
      () => "taken",
      (error: unknown) => error,
    );
    expect(await Promise.race([refused, others])).toBe(200);
    const error = await refused;
    expect(error).toBeInstanceOf(SandboxError);
    expect(error).toMatchObject({
      code: "snapshot_timeout",
      message: expect.stringMatching(
        /^Nothing was changed: POST \/receiver\/pin of the control API has been under way for \d+ s\. Let it end, then try again\.$/,
      ),
    });
    await expect(early.restore()).rejects.toMatchObject({ code: "snapshot_timeout" });
    await expect(kit.sandbox.save("/dev/null")).rejects.toMatchObject({ code: "snapshot_timeout" });
    await release();
    await early.restore();
    await expectAnswers(kit);
  });

  test("over the control API with its code", async () => {
    const { kit, release } = await holdUp(100);
    const { control } = kit.sandbox.description.urls;
    for (const [method, path] of [
      ["POST", "/snapshots"],
      ["GET", "/snapshot"],
    ]) {
      const answer = await fetch(`${control}${path}`, { method: String(method) });
      expect([answer.status, answer.headers.get("retry-after"), await answer.json()]).toEqual([
        503,
        "1",
        {
          type: "about:blank",
          status: 503,
          code: "snapshot_timeout",
          detail: expect.stringContaining("POST /receiver/pin of the control API has been under way"),
        },
      ]);
    }
    await release();
  });
});

describe("the gate itself", () => {
  const milliseconds = { timeoutMs: 1_000, closedMs: 200 };

  test("lets requests continue while it waits for a long request, and closes when that has ended", async () => {
    const gate = new RequestGate(milliseconds);
    const long = Promise.withResolvers<void>();
    const order: string[] = [];
    const running = gate.runShared("long", async () => await long.promise);
    const exclusive = gate.runExclusive(async () => order.push("exclusive"));
    await gate.runShared("short", async () => order.push("short"));
    long.resolve();
    await Promise.all([running, exclusive]);
    expect(order).toEqual(["short", "exclusive"]);
  });

  test("runs exclusive work alone, one at a time", async () => {
    const gate = new RequestGate(milliseconds);
    let inside = 0;
    const steps = Array.from({ length: 20 }, async (_, index) => {
      const step = async () => {
        inside += 1;
        await new Promise(setImmediate);
        const alone = inside;
        inside -= 1;
        return alone;
      };
      return index % 4 === 0 ? await gate.runExclusive(step) : await gate.runShared("step", step);
    });
    const seen = await Promise.all(steps);
    expect(seen.filter((_, index) => index % 4 === 0)).toEqual([1, 1, 1, 1, 1]);
  });

  test("opens again if an earlier request does not end, and names this request", async () => {
    const gate = new RequestGate({ timeoutMs: 50, closedMs: 20 });
    const long = Promise.withResolvers<void>();
    const running = [
      gate.runShared("POST /one", async () => await long.promise),
      gate.runShared("POST /two", async () => await long.promise),
    ];
    await expect(gate.runExclusive(async () => {})).rejects.toThrow(
      "Nothing was changed: POST /one and 1 more have been under way for up to 0 s. Let it end, then try again.",
    );
    expect(await gate.runShared("short", async () => "answered")).toBe("answered");
    long.resolve();
    await Promise.all(running);
    expect(await gate.runExclusive(async () => "taken")).toBe("taken");
  });

  test("holds back requests while exclusive work runs", async () => {
    const gate = new RequestGate(milliseconds);
    const order: string[] = [];
    let late: Promise<unknown> = Promise.resolve();
    await gate.runExclusive(async () => {
      late = gate.runShared("late", async () => order.push("late"));
      await new Promise(setImmediate);
      order.push("exclusive");
    });
    await late;
    expect(order).toEqual(["exclusive", "late"]);
  });

  test("opens again if an earlier request takes too long, and closes later", async () => {
    const gate = new RequestGate({ timeoutMs: 60_000, closedMs: 20 });
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const running = [gate.runShared("first", async () => await first.promise)];
    const exclusive = gate.runExclusive(async () => "taken");
    await new Promise(setImmediate);
    running.push(gate.runShared("second", async () => await second.promise));
    await new Promise(setImmediate);
    first.resolve();
    await new Promise(setImmediate);
    expect(await gate.runShared("third", async () => "answered")).toBe("answered");
    second.resolve();
    expect(await exclusive).toBe("taken");
    await Promise.all(running);
  });

  test("tells a request that waits outside the gate that a restore has happened", async () => {
    const gate = new RequestGate(milliseconds);
    const waits = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    const running = gate.runShared(
      "POST /one",
      async (turn) =>
        await turn.releaseGate(async (undone) => {
          signals.push(undone);
          await waits.promise;
        }),
    );
    await gate.runExclusive(async () => "a snapshot");
    expect(signals[0]?.aborted).toBe(false);
    await gate.runExclusive(async () => gate.undo());
    expect(signals[0]?.aborted).toBe(true);
    waits.resolve();
    await expect(running).rejects.toMatchObject({ name: "UndoneError" });
  });
});

test("every option of the gate is checked", async () => {
  await expect(openKit({ snapshotTimeoutMs: 0 })).rejects.toThrow(
    "snapshotTimeoutMs must be a whole number of milliseconds from 1 to 600000, not 0.",
  );
});
