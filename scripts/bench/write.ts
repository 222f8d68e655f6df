/** A purchase's creation and its replay, one after the other on one connection, compared with a bare Express that signs and syncs. */
import { Agent, request as requestHttp } from "node:http";
import { text } from "node:stream/consumers";
import { type Benchmark, elapsed } from "./benchmark.ts";
import { purchaseCreation } from "./purchase-creation.ts";
import { serveExpress, serveSandbox } from "./serve.ts";

const requests = 100;
const opened = new AsyncDisposableStack();
const { description } = opened.use(await serveSandbox());
const { session, path, body } = await purchaseCreation(description);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
opened.defer(() => agent.destroy());

async function post(url: string, key: string): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const request = requestHttp(`${url}${path}`, {
    agent,
    method: "POST",
    headers: {
      Authorization: `Bearer ${session.credential}`,
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(body),
      "Idempotency-Key": key,
    },
  });
  request.once("error", reject).once("response", async (response) => {
    resolve({ status: response.statusCode ?? 0, body: await text(response) });
  });
  request.end(body);
  return await promise;
}

let keys = 0;

/** Milliseconds for each of many requests. */
async function each(url: string, key: () => string): Promise<number> {
  const took = await elapsed(async () => {
    for (let count = 0; count < requests; count += 1) {
      const { status, body: refusal } = await post(url, key());
      if (status !== 201) throw new Error(`A write was answered with ${status}: ${refusal}`);
    }
  });
  return took / requests;
}

const fresh = () => {
  keys += 1;
  return `bench-write-${keys}`;
};
const { api } = description.urls;
const signing = opened.use(await serveExpress("signAndSync", {})).url;
const { body: answered } = await post(api, "bench-replayed");
const echoing = opened.use(await serveExpress("created", { body: answered })).url;
const replay = "a repeated purchase request";
const express = "Express that parses, answers the same";

/** The benchmark `write`. */
export const benchmark: Benchmark = {
  title: `Milliseconds for each of ${requests} purchases created one after the other, store on disk, and for each replay`,
  baseline: "Express that parses, signs and syncs",
  rounds: 9,
  subjects: {
    "Express that parses, signs and syncs": async () => await each(signing, fresh),
    "a purchase created": async () => await each(api, fresh),
    [express]: async () => await each(echoing, () => "bench-replayed"),
    [replay]: async () => await each(api, () => "bench-replayed"),
  },
  comparedTo: { [express]: express, [replay]: express },
  bars: { "a purchase created": { atMost: 1.5 } },
  close: async () => await opened.disposeAsync(),
};
