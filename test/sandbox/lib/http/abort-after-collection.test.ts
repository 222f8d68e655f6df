import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { retryingFetch, waitInRealTime } from "../../../../sandbox/client/retrying-fetch.ts";
import { fetchDirect } from "../../../../sandbox/lib/http/direct/fetch-direct.ts";

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

// Its response to /events begins, and never ends; to anything else it does not respond.
const server = createServer(({ url }, response) => {
  if (url === "/events") response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
});
beforeAll(async () => void (await once(server.listen(0, "127.0.0.1"), "listening")));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
const urlOf = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

/** Collects what nothing refers to, in turns of their own, in which weak references are cleared. */
async function collectAll(): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    collect();
    await setTimeout(5);
  }
}

test("a signal ends a stream of events also when its request has been collected", async () => {
  const caller = new AbortController();
  const { body } = await fetchDirect(urlOf("/events"), { signal: caller.signal });
  await collectAll();
  const reading = body?.getReader().read();
  caller.abort(new Error("left"));
  await expect(reading).rejects.toThrow();
});

test("a signal ends a repeated request also when its copy has been collected", async () => {
  const caller = new AbortController();
  const send = retryingFetch({ mostRequests: 2, wait: waitInRealTime }, fetchDirect);
  const sent = send(new Request(urlOf("/silent"), { signal: caller.signal }));
  await collectAll();
  caller.abort(new Error("left"));
  await expect(sent).rejects.toThrow("left");
});
