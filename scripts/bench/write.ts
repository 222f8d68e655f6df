/** A purchase's creation and its replay, one after the other on one connection, compared with a bare Express that signs and syncs. */
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request as requestHttp } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../../sandbox/lib/package-root.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { actorsOf } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { Session } from "../../testkit/demo/session.ts";
import { enrollMerchant } from "../../testkit/demo/show-merchant.ts";
import { type Benchmark, elapsed } from "./benchmark.ts";
import { startGroup } from "./process-group.ts";

const requests = 100;
const opened = new AsyncDisposableStack();
const description = await serveSandbox();
const { api } = description.urls;
const actors = actorsOf(description);
const session = await Session.open(actors, silentPrinter);
const body = JSON.stringify({
  merchant_id: (await enrollMerchant(session)).id,
  buyer: actors.buyer.address,
  beneficiary: actors.beneficiary.address,
  amount: "25000000",
  terms: { title: "A course on settlement", sku: "course-42" },
});
const path = `/v1/routing/programs/${actors.program}/purchases`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
opened.defer(() => agent.destroy());

/** Starts a sandbox in a process of its own, as `npm start` does, with its store on disk. */
async function serveSandbox(): Promise<SandboxDescription> {
  const folder = await mkdtemp(join(tmpdir(), "routing-sandbox-bench-"));
  opened.defer(async () => await rm(folder, { recursive: true, force: true }));
  const ports = ["api", "docs", "rpc", "control"].flatMap((name) => [`--${name}-port`, "0"]);
  const cli = join(packageRoot(), ".bundle", "cli", "main.cjs");
  const group = opened.use(
    startGroup(process.execPath, [cli, "start", "--json", "--data-dir", folder, ...ports]),
  );
  const [printed] = await group.printed(/^\{.*\}$/m);
  return JSON.parse(printed);
}

/** Starts the Express that the sandbox is compared with, and returns its URL. */
async function serveExpress(created: string): Promise<string> {
  const script = fileURLToPath(new URL("bare-express.ts", import.meta.url));
  const group = opened.use(startGroup(process.execPath, [script, created]));
  const [, url = ""] = await group.printed(/listening on (http:\/\/[\d.:]+)/);
  return url;
}

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
const bare = await serveExpress((await post(api, "bench-replayed")).body);
const replay = "a repeated purchase request";
const express = "Express that parses, answers the same";

/** The benchmark `write`. */
export const benchmark: Benchmark = {
  title: `Milliseconds for each of ${requests} purchases created one after the other, store on disk, and for each replay`,
  baseline: "Express that parses, signs and syncs",
  rounds: 9,
  subjects: {
    "Express that parses, signs and syncs": async () => await each(bare, fresh),
    "a purchase created": async () => await each(api, fresh),
    [express]: async () => await each(`${bare}/same`, () => "bench-replayed"),
    [replay]: async () => await each(api, () => "bench-replayed"),
  },
  comparedTo: { [express]: express, [replay]: express },
  bars: { "a purchase created": { atMost: 1.5 } },
  close: async () => await opened.disposeAsync(),
};
