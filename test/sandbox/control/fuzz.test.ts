import { type IncomingHttpHeaders, request as send } from "node:http";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { unreadableCodes } from "../../../sandbox/lib/control/codes.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import type { Answer } from "../../kit/answer.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
import { AnswerCheck } from "../../server/openapi/fuzz/answer-check.ts";
import { type Description, parseDescription } from "../../server/openapi/fuzz/description.ts";
import { type FuzzRequest, requestArbitrary } from "../../server/openapi/fuzz/request-arbitrary.ts";

/** FUZZ_REQUESTS and FUZZ_SEED make a deeper run or repeat one. */
const requests = Number(process.env["FUZZ_REQUESTS"] ?? 100);
const seed = Number(process.env["FUZZ_SEED"] ?? 20_260_102);

let sandbox: Sandbox;
let snapshot: Snapshot;
let pool: string[];
let description: Description;

beforeAll(async () => {
  sandbox = await freshSandbox();
  const { merchant, purchase, payments, claim } = await sandbox.given.purchase({ state: "refunded" });
  const hashes = payments.map(({ transaction_hash }) => transaction_hash);
  const { wallets } = sandbox.description;
  pool = [
    merchant.id,
    purchase.id,
    claim.id,
    ...hashes,
    ...Object.values(wallets).map(({ address }) => address),
    sandbox.receiver.url,
    "1",
    "10000000",
  ];
  description = parseDescription(
    await (await fetch(`${sandbox.description.urls.control}/openapi.json`)).text(),
  );
  snapshot = await sandbox.snapshot();
});

/** Sends a request; a stream of events ends with its head. @throws when no answer comes in time. */
async function ask({ method, path, headers, body }: FuzzRequest): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const answer = (status = 0, headersOfAnswer: IncomingHttpHeaders, text: string) =>
    resolve({ status, headers: headersOfAnswer, text });
  const length = { "Content-Length": String(Buffer.byteLength(body)) };
  const options = { method, agent: false, headers: { ...headers, ...length } };
  const outgoing = send(sandbox.description.urls.control + path, options, (incoming) => {
    const { statusCode, headers: answered } = incoming;
    if (String(answered["content-type"]).startsWith("text/event-stream")) {
      answer(statusCode, answered, "");
      return void outgoing.destroy();
    }
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.once("error", reject);
    incoming.once("end", () => answer(statusCode, answered, Buffer.concat(chunks).toString()));
  });
  outgoing.once("error", reject);
  outgoing.setTimeout(60_000, () => outgoing.destroy(new Error(`${method} ${path} ${body}: no response`)));
  outgoing.end(body);
  return await promise;
}

test(`${requests} requests to the control API: no 500, no hang, every answer as described, no change by a refusal`, {
  tags: "thorough",
  timeout: 3_600_000,
}, async () => {
  const check = new AnswerCheck(description, [...unreadableCodes, "request_malformed"]);
  const statuses = new Map<number, number>();
  const known = { program: "prg_demo", credential: "x", accountKey: "x", foreign: "x", pool };
  // A crash ends the process of the test, as it should; Anvil takes seconds to dump hundreds of blocks.
  const requestsOfTable = requestArbitrary(description, known).filter(
    ({ body }) => !/crash|"blocks":\d{3}/i.test(body),
  );
  const before = await sandbox.fingerprint();
  await fc.assert(
    fc.asyncProperty(requestsOfTable, async (request) => {
      const answer = await ask(request);
      const { method, path } = request;
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      expect(check.fault(method, path, answer), `${method} ${path} ${request.body}`).toBeNull();
      if (answer.status >= 400)
        expect(await sandbox.fingerprint(), `${answer.status} ${answer.text}`).toEqual(before);
      else if (method !== "GET" && method !== "HEAD") {
        if (path.startsWith("/scenario"))
          await fetch(`${sandbox.description.urls.control}/scenario`, { method: "DELETE" });
        await snapshot.restore();
      }
    }),
    { numRuns: requests, seed, endOnFailure: requests > 5_000 },
  );
  if (process.env["FUZZ_REPORT"]) console.log(Object.fromEntries(statuses));
  expect(await sandbox.fingerprint()).toEqual(before);
  expect((await sandbox.given.purchase({ state: "refunded" })).refund.status).toBe("collected");
  // The fuzzer reached behind the checks of form: successes and refusals of the handlers were among the answers.
  for (const status of [200, 201, 400, 404, 405, 422]) expect([...statuses.keys()]).toContain(status);
});
