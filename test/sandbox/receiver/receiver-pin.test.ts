import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test, vi } from "vitest";
import { unwrap } from "../../../sandbox/client/api-client.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { openReceiver } from "../../kit/external-receiver.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

/** A receiver of a test's own, which answers 204 and keeps what it got. */
async function startReceiver() {
  const deliveries: { headers: { [name: string]: string }; body: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    deliveries.push({ headers, body: await buffer(request) });
    response.writeHead(204).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/webhooks`, deliveries };
}

const paths = {
  program: "/v1/routing/programs/{program}",
  receipts: "/v1/routing/programs/{program}/notification-receipts",
} as const;
const params = { path: { program: "prg_demo" } };

test("a receiver that starts after the sandbox is pinned, and gets every event with the sandbox's signature", async () => {
  const dataDirectory = await temporaryFolder();
  await using sandbox = await createSandbox({ dataDirectory, mode: "live" });
  const { url, deliveries } = await startReceiver();
  await sandbox.given.merchant({ state: "pending" });
  await sandbox.receiver.pin(new URL(url));
  const [notification] = await sandbox.deliverAll();
  expect(notification?.status).toBe("delivered");
  const [{ headers, body } = { headers: {}, body: Buffer.alloc(0) }] = deliveries;
  const { description, client } = sandbox;
  expect(new Webhook(description.receiver.hmac_secret).verify(body, headers)).toMatchObject({
    type: "merchant.created",
  });
  expect([description.receiver.url, sandbox.receiver.url]).toEqual([url, url]);
  const published = JSON.parse(await readFile(join(dataDirectory, "sandbox.json"), "utf8"));
  expect(published.receiver.url).toBe(url);
  expect(await readFile(join(dataDirectory, ".env"), "utf8")).toContain(url);
  expect(unwrap(await client.GET(paths.program, { params })).receiver.url).toBe(url);
  const receipts = unwrap(await client.GET(paths.receipts, { params }));
  expect(receipts.data.map(({ receiver }) => receiver)).toEqual([url]);
  const own = await fetch(`${description.urls.api}/v1/routing/notification-receiver`, {
    method: "POST",
    body,
    headers,
  });
  expect([own.status, await own.json()]).toMatchObject([403, { code: "receiver_not_pinned" }]);
});

test("a resolver that answers no IP address is refused at the start", async () => {
  for (const address of ["zz", "", "http://127.0.0.1/"])
    await expect(
      createSandbox({
        receiverUrl: "http://receiver.test/",
        resolveHost: async () => [
          { address: "127.0.0.1", family: 4 },
          { address, family: 4 },
        ],
      }),
    ).rejects.toMatchObject({
      code: "receiver_unresolved",
      message: expect.stringContaining("The option resolveHost returned ["),
    });
  const none = async () => [];
  await expect(
    createSandbox({ receiverUrl: "http://receiver.test/", resolveHost: none }),
  ).rejects.toMatchObject({ code: "receiver_unresolved" });
});

test("the family of a resolved address is that of its text", async () => {
  const { url, deliveries } = await startReceiver();
  const receiverUrl = url.replace("127.0.0.1", "receiver.test");
  for (const resolved of [{ address: "127.0.0.1" }, { address: "127.0.0.1", family: 6 }]) {
    await using sandbox = await createSandbox({ receiverUrl, resolveHost: async () => resolved });
    await sandbox.given.merchant({ state: "pending" });
    const before = deliveries.length;
    await sandbox.deliverAll();
    expect(deliveries.length).toBeGreaterThan(before);
  }
});

test("a receiver is pinned once, and a refused one changes nothing", async () => {
  const sandbox = await freshSandbox();
  const own = sandbox.receiver.url;
  const { url } = await startReceiver();
  await expect(sandbox.receiver.pin("ftp://127.0.0.1/")).rejects.toMatchObject({ code: "receiver_invalid" });
  await expect(sandbox.receiver.pin("http://receiver.invalid/")).rejects.toMatchObject({
    code: "receiver_unresolved",
  });
  expect([sandbox.receiver.url, sandbox.description.receiver.url]).toEqual([own, own]);
  await sandbox.receiver.pin(url);
  await expect(sandbox.receiver.pin(own)).rejects.toMatchObject({
    code: "receiver_pinned",
    message: `Notifications go to ${url} already. Pin a receiver once, and only when the start names none (the option receiverUrl).`,
  });
  expect(sandbox.receiver.url).toBe(url);
});

test("resend sends a delivery of the test receiver there again, also while another receiver is pinned", async () => {
  const sandbox = await freshSandbox();
  const { url, deliveries } = await startReceiver();
  await sandbox.receiver.pin(url);
  const headers = { "webhook-id": "evt_1", "webhook-timestamp": "1", "webhook-signature": "v1a,AA==" };
  const own = `${sandbox.description.urls.api}/v1/routing/notification-receiver`;
  await fetch(own, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: "{}",
  });
  const { status } = await sandbox.receiver.resend(await sandbox.receiver.next());
  expect([status, deliveries]).toEqual([403, []]);
});

test("resend sends an event to the pinned receiver again, and does not count as an attempt", async () => {
  await using receiver = await openReceiver();
  await using sandbox = await createSandbox({ receiverUrl: receiver.url });
  const { merchant } = await sandbox.given.merchant({ state: "pending" });
  const undelivered = merchant.event_id;
  await expect(sandbox.receiver.resend(undelivered)).rejects.toThrow(
    `The event ${undelivered} was never sent. Deliver it first, as deliverAll() does.`,
  );
  await expect(sandbox.receiver.resend("evt_none")).rejects.toThrow('There is no event "evt_none".');
  const [notification] = await sandbox.deliverAll();
  if (notification === undefined) throw new Error("An event must have been delivered.");
  await sandbox.clock.travel(60);
  expect(await sandbox.receiver.resend(notification)).toEqual({ status: 204, body: "" });
  const [first, again] = receiver.received;
  expect(again?.body).toBe(first?.body);
  expect(again?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
  expect(Number(again?.headers["webhook-timestamp"])).toBeGreaterThan(
    Number(first?.headers["webhook-timestamp"]),
  );
  const secret = new Webhook(sandbox.description.receiver.hmac_secret);
  vi.setSystemTime((await sandbox.clock.now()) * 1_000);
  expect(secret.verify(again?.body ?? "", again?.headers ?? {})).toMatchObject({ type: "merchant.created" });
  vi.useRealTimers();
  const before = await sandbox.fingerprint();
  receiver.answer = (_, response) => response.destroy();
  expect(await sandbox.receiver.resend(notification.event_id)).toEqual({ status: null, body: "" });
  expect(await sandbox.fingerprint()).toEqual(before);
  const resent = await fetch(new URL("/receiver/resend", sandbox.description.urls.control), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ event_id: notification.event_id }),
  });
  expect([resent.status, await resent.json()]).toEqual([200, { status: null, body: "" }]);
  expect(receiver.received).toHaveLength(4);
});

test("a receiver that is not a string is refused with what to pass", async () => {
  const sandbox = await freshSandbox();
  for (const [url, shown] of [
    [null, "null"],
    [5, "5"],
  ] as const)
    await expect(Reflect.apply(sandbox.receiver.pin, sandbox.receiver, [url])).rejects.toMatchObject({
      code: "argument_invalid",
      message: `receiver.pin takes a URL, not ${shown}. Pass one such as "http://127.0.0.1:3000/webhooks".`,
    });
});

test("two calls at once pin one receiver", async () => {
  const sandbox = await freshSandbox();
  const [first, second] = [await startReceiver(), await startReceiver()];
  const outcomes = await Promise.allSettled([
    sandbox.receiver.pin(first.url),
    sandbox.receiver.pin(second.url),
  ]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  const pinned = outcomes[0]?.status === "fulfilled" ? first : second;
  expect([sandbox.receiver.url, sandbox.description.receiver.url]).toEqual([pinned.url, pinned.url]);
});

test("after a delivery, and when the start names a receiver, none is pinned", async () => {
  const { url } = await startReceiver();
  await using delivered = await createSandbox();
  await delivered.given.merchant({ state: "pending" });
  await delivered.deliverAll();
  await expect(delivered.receiver.pin(url)).rejects.toMatchObject({
    code: "receiver_pinned",
    message: `A notification was delivered to ${delivered.receiver.url} already. Pin a receiver before the first delivery.`,
  });
  await using named = await createSandbox({ receiverUrl: url });
  await expect(named.receiver.pin(delivered.receiver.url)).rejects.toMatchObject({ code: "receiver_pinned" });
  expect(named.receiver.url).toBe(url);
});

test("a restore undoes the pin, so that every test can pin a receiver", async () => {
  const sandbox = await freshSandbox();
  const own = sandbox.receiver.url;
  const snapshot = await sandbox.snapshot();
  for (const _ of ["first", "second"]) {
    const { url, deliveries } = await startReceiver();
    await sandbox.receiver.pin(url);
    await sandbox.given.merchant({ state: "pending" });
    await sandbox.deliverAll();
    expect(deliveries).toHaveLength(1);
    await snapshot.restore();
    expect([sandbox.receiver.url, sandbox.description.receiver.url]).toEqual([own, own]);
  }
  await sandbox.given.merchant({ state: "pending" });
  const [notification] = await sandbox.deliverAll();
  expect(notification?.status).toBe("delivered");
  expect(sandbox.receiver.deliveries()).toHaveLength(1);
});

test("the control API pins a receiver for clients in any language", async () => {
  const sandbox = await freshSandbox();
  const { url } = await startReceiver();
  const pin = async (body: object) => {
    const answer = await fetch(`${sandbox.description.urls.control}/receiver/pin`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.json() };
  };
  expect(await pin({})).toMatchObject({ status: 422, body: { code: "validation_failed" } });
  expect(await pin({ url })).toEqual({ status: 200, body: { url } });
  expect(await pin({ url })).toMatchObject({ status: 422, body: { code: "receiver_pinned" } });
  expect(sandbox.description.receiver.url).toBe(url);
});
