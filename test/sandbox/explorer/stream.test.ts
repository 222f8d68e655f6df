import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { ChangeFeed } from "../../../sandbox/activity/change-feed.ts";
import { EventStream } from "../../../sandbox/activity/event-stream.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { TestKit } from "../../kit/test-kit.ts";
import { type OpenStream, openStream } from "./read-stream.ts";

let kit: TestKit;
let control: string;

beforeAll(async () => {
  kit = await TestKit.shared();
  control = kit.sandbox.description.urls.control;
});

async function open(url = `${control}/stream`, headers: { [name: string]: string } = {}) {
  const stream = await openStream(url, headers);
  onTestFinished(() => stream.close());
  return stream;
}

/** A feed behind a server of its own, with a short heartbeat. */
async function serve(feed: ChangeFeed, heartbeatMs: number): Promise<string> {
  const stream = new EventStream(feed, heartbeatMs);
  const app = express();
  app.get("/stream", (incoming, response) => stream.open(incoming, response));
  const server = createServer(app).listen(0, "127.0.0.1");
  onTestFinished(() => {
    stream.close();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/stream`;
}

async function readyId(stream: OpenStream): Promise<string> {
  const ready = await stream.next(({ event }) => event === "ready");
  if (ready?.id == null) throw new Error("The stream did not say where it begins.");
  return ready.id;
}

test("the stream reports commits, blocks, faults, keys and refusals where they happen, and the purchases that they concern", async () => {
  const merchant = await kit.enrolledMerchant();
  const stream = await open();
  expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const purchase = await kit.createPurchase(merchant);
  expect((await stream.change("purchases")).purchases).toEqual([purchase.id]);
  await kit.activate(purchase);
  expect((await stream.change("operations")).purchases).toEqual([purchase.id]);
  await kit.sandbox.clock.travel(60);
  await stream.change("blocks");
  await kit.sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "drop" });
  await stream.change("faults");
  await kit.sandbox.faults.clear();
  await stream.change("faults");
  await kit.sandbox.rotateKeys("notifications");
  await stream.change("keys");
  const hash = await kit.act("buyer", "purchase", purchase.id, "approve");
  await kit.post(kit.path(`/purchases/${purchase.id}/reconcile`), { transaction_hashes: [hash] });
  expect((await stream.change("refusals")).purchases).toContain(purchase.id);
});

test("the stream does not repeat to a reconnected client the changes that it has seen", async () => {
  const first = await open();
  await readyId(first);
  await kit.sandbox.rotateKeys("receipts");
  const seen = await first.next(({ event, data }) => event === "change" && data.includes("keys"));
  first.close();
  await kit.createMerchant("1000", "other_merchant");
  const again = await open(undefined, { "Last-Event-ID": seen?.id ?? "" });
  const missed = await again.next(({ event }) => event === "change");
  expect(missed?.id).not.toBe(seen?.id);
  expect(JSON.parse(missed?.data ?? "")).toMatchObject({ topics: expect.arrayContaining(["merchants"]) });
});

test("the stream sends a reconnected client only the changes that it missed", async () => {
  const first = await open();
  const seen = await readyId(first);
  first.close();
  await kit.createMerchant("1000", "other_merchant");
  const again = await open(undefined, { "Last-Event-ID": seen });
  expect((await again.change("merchants")).topics).not.toContain("everything");
  const byQuery = await open(`${control}/stream?last_event_id=${seen}`);
  await byQuery.change("merchants");
});

test.each(["gone-1", "", "0123456789ab-1"])(
  "the stream tells a client with the unknown id %j to read everything",
  async (id) => {
    const stream = await open(`${control}/stream?last_event_id=${id}`);
    expect(await stream.change("everything")).toEqual({ topics: ["everything"], purchases: null });
  },
);

test("the stream sends a client the last 256 changes that it missed, and asks one that missed more to read everything", async () => {
  const feed = new ChangeFeed();
  const url = await serve(feed, 60_000);
  const ids: string[] = [];
  for (let count = 1; count <= 300; count += 1) {
    feed.note("purchases", [`pur_${count}`]);
    feed.since("now");
    ids.push(feed.latest());
  }
  const missed256 = await open(`${url}?last_event_id=${ids[43]}`);
  expect(await missed256.change("everything")).toEqual({ topics: ["everything"], purchases: null });
  const missed255 = await open(`${url}?last_event_id=${ids[44]}`);
  for (let count = 46; count <= 300; count += 1)
    expect(await missed255.change("purchases")).toEqual({
      topics: ["purchases"],
      purchases: [`pur_${count}`],
    });
});

test("the stream asks every page to read everything when a snapshot is restored, and forgets the refusals", async () => {
  const snapshot = await kit.sandbox.snapshot();
  await kit.post(kit.path("/merchants/mer_none/enrollment"), {
    transaction_hash: `0x${"00".repeat(32)}`,
  });
  const stream = await open();
  await readyId(stream);
  await snapshot.restore();
  await stream.change("everything");
  const refusals = await fetch(`${control}/explorer/refusals`);
  expect(await refusals.json()).toEqual({ data: [], next_cursor: null });
});

test("the stream reports a burst as one change, and does not name more than fifty purchases", async () => {
  const feed = new ChangeFeed();
  const stream = await open(await serve(feed, 60_000));
  await readyId(stream);
  for (let index = 0; index < 50; index += 1) feed.note("purchases", [`pur_${index}`]);
  feed.note("blocks");
  const burst = await stream.change("purchases");
  expect([burst.topics, burst.purchases?.length]).toEqual([["purchases", "blocks"], 50]);
  for (let index = 0; index < 51; index += 1) feed.note("purchases", [`pur_${index}`]);
  expect((await stream.change("purchases")).purchases).toBeNull();
});

test("the stream serves sixty-four clients, asks a further one to retry later, and accepts it when one has left", async () => {
  const url = await serve(new ChangeFeed(), 60_000);
  const streams = await Promise.all(Array.from({ length: 64 }, async () => await open(url)));
  const refused = await fetch(url);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
  streams[0]?.close();
  await expect.poll(async () => (await open(url)).status, { timeout: 5_000 }).toBe(200);
});

test("the stream sends comments while nothing happens", async () => {
  const stream = await open(await serve(new ChangeFeed(), 20));
  for (const _ of [1, 2]) expect(await stream.next(({ event }) => event === "comment")).not.toBeNull();
});

test("the stream stores nothing for a client that does not read, and later asks it to read everything", async () => {
  const feed = new ChangeFeed();
  const url = await serve(feed, 60_000);
  const outgoing = request(url).end();
  const [response] = await once(outgoing, "response");
  response.pause();
  const ids = Array.from({ length: 50 }, (_, index) => `pur_${String(index).padStart(20, "0")}`);
  const note = () => {
    feed.note("purchases", ids);
    feed.since("now");
  };
  for (let changes = 0; changes < 20_000; changes += 1) note();
  let received = 0;
  let last = "";
  for await (const chunk of response) {
    received += chunk.length;
    last = (last + chunk).slice(-2_000);
    if (last.includes("everything")) break;
  }
  // 20,000 changes are about 25 MB.
  expect(received).toBeLessThan(12_000_000);
});

test.each([
  ["a foreign origin", { Origin: "http://127.0.0.1:1" }],
  ["an opaque origin", { Origin: "null" }],
  ["a script of another site", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors" }],
  ["a page on another port", { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors" }],
])("the stream is refused to %s, like all of the control API", async (_, headers) => {
  for (const path of ["/stream", "/explorer/overview", "/status"]) {
    const { status } = await fetch(control + path, { headers });
    expect(status).toBe(403);
  }
});

test("the control API answers its own origin, and changes things for it", async () => {
  const headers = { Origin: control, "Content-Type": "application/json" };
  const mined = await fetch(`${control}/blocks`, { method: "POST", headers, body: '{"blocks":2}' });
  expect(mined.status).toBe(200);
  const local = control.replace("127.0.0.1", "localhost");
  const other = await fetch(`${control}/blocks`, { method: "POST", headers: { ...headers, Origin: local } });
  expect(other.status).toBe(403);
});

test("closing a sandbox does not wait for open streams, and ends them", async () => {
  const sandbox = await createSandbox({ seed: "closing" });
  const url = `${sandbox.description.urls.control}/stream`;
  const streams = await Promise.all([openStream(url), openStream(url), openStream(url)]);
  await sandbox.close();
  for (const stream of streams) expect(await stream.next(() => false)).toBeNull();
});
