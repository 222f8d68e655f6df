import { afterAll, beforeAll, expect, test } from "vitest";
import { controlOperations } from "../../../sandbox/control/table.ts";
import { type ControlCode, describeCode } from "../../../sandbox/lib/control/codes.ts";
import type { SandboxDescription } from "../../../sandbox/options/description.ts";
import { errorCodes } from "../../../server/errors/catalogue.ts";
import {
  createExplorableSandbox,
  type ExplorableSandbox,
} from "../../../testkit/explore/explorable-sandbox.ts";
import { AnswerCheck } from "../../server/openapi/fuzz/answer-check.ts";
import { parseDescription } from "../../server/openapi/fuzz/description.ts";
import { closed } from "../../server/openapi/records/record-check.ts";

let sandbox: ExplorableSandbox;
let walk: ControlWalk;
beforeAll(async () => {
  sandbox = await createExplorableSandbox({ seed: "control-answers" });
  walk = await ControlWalk.open(sandbox.description);
});
afterAll(async () => await sandbox.close());

/** Sends requests to the control API, compares each answer with the description, and notes the routes that have succeeded. */
class ControlWalk {
  readonly #url: string;
  readonly #check: AnswerCheck;
  readonly #answered = new Set<string>();

  private constructor(url: string, check: AnswerCheck) {
    this.#url = url;
    this.#check = check;
  }

  static async open({ urls: { control } }: SandboxDescription): Promise<ControlWalk> {
    const description = await (await fetch(`${control}/openapi.json`)).text();
    const strict = JSON.stringify(closed(JSON.parse(description)));
    return new ControlWalk(control, new AnswerCheck(parseDescription(strict)));
  }

  /** The routes that have not succeeded yet. */
  missing(): string[] {
    return controlOperations
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
      .filter((route) => !this.#answered.has(route));
  }

  /** @param line - with a route of the table, whose parameters are in `values`. */
  async send(line: string, body?: object, values: { [name: string]: string } = {}) {
    const [method = "", route = ""] = line.split(" ");
    const target = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
    const { query = "" } = values;
    const response = await fetch(`${this.#url}${target}${query}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    const headers = Object.fromEntries(response.headers);
    const streams = String(headers["content-type"]).startsWith("text/event-stream");
    const text = streams ? "" : await response.text();
    if (streams) await response.body?.cancel();
    expect(this.#check.fault(method, target, { status: response.status, headers, text })).toBeNull();
    if (response.ok) this.#answered.add(`${method} ${route}`);
    const isJson = String(headers["content-type"]).includes("json");
    return { status: response.status, answer: isJson ? JSON.parse(text) : text };
  }
}

/** A refusal as a joined process sends it. */
function refusalOf(subject: string, transaction_hash: string) {
  return {
    at: 1,
    request_id: "req_1",
    operation: "reconcilePurchase",
    program: "prg_demo",
    subject,
    step: "payment",
    code: "binding_mismatch",
    detail: "The transaction pays another purchase.",
    transaction_hash,
    is_used: false,
    checks: [{ name: "calldata", ok: false, expected: "pay", actual: null }],
  };
}

test("every route of the control API succeeds as its description says, without unknown members", async () => {
  await walk.send("GET /status");
  await walk.send("GET /health");
  await walk.send("GET /metrics");
  const { answer: fingerprint } = await walk.send("GET /fingerprint");
  expect(fingerprint).toEqual(await sandbox.fingerprint());
  await walk.send("GET /openapi.json");
  await walk.send("POST /scenario", { title: "Control" });
  await walk.send("POST /given", { merchant: { state: "funded" } });
  await walk.send("POST /receiver/pin", { url: sandbox.receiver.url });
  await walk.send("GET /scenario");
  await walk.send("DELETE /scenario");

  await walk.send("POST /requests", { method: "GET", path: "/v1/routing/capabilities" });

  const { answer: given } = await walk.send("POST /given", { purchase: { state: "refunded" } });
  const hash = given.payments[0].transaction_hash;
  await walk.send("GET /explain/{hash}", undefined, { hash });
  const call = { from: given.purchase.buyer, to: sandbox.description.contracts.token };
  await walk.send("POST /explain", { call });
  await walk.send("POST /deliver");
  await walk.send("GET /receiver/deliveries");
  await walk.send("POST /receiver/resend", { number: 1 });
  await walk.send("POST /keys/rotate", { uses: ["notifications"] });
  await walk.send("POST /keys/rotate");

  await walk.send("POST /clock", { seconds: 60 });
  await walk.send("POST /blocks");
  await walk.send("POST /mining", { every: 5 });
  await walk.send("POST /mining", { every: "transaction" });
  await walk.send("POST /snapshots");
  await walk.send("GET /snapshots");
  await walk.send("POST /snapshots/{number}/restore", undefined, { number: "1" });
  await walk.send("GET /snapshot");

  await walk.send("POST /faults", { layer: "relayer", point: "nonce", action: "foreign_nonce" });
  await walk.send("GET /faults");
  const refused = await walk.send("POST /given", { purchase: { state: "active" } });
  expect(refused).toMatchObject({ status: 422, answer: { code: "retry_limit" } });
  const query = "?status=needs_attention";
  const { answer: stopped } = await walk.send("GET /explorer/operations", undefined, { query });
  await walk.send("POST /operations/{id}/resume", {}, { id: stopped.data[0].id });
  await walk.send("DELETE /faults");

  await walk.send("POST /refusals", refusalOf(given.purchase.id, hash));
  await walk.send("POST /chain/kept", { commits: 0 });
  await walk.send("GET /explorer/overview");
  await walk.send("GET /explorer/purchases");
  await walk.send("GET /explorer/purchases/{id}", undefined, { id: given.purchase.id });
  await walk.send("GET /explorer/merchants");
  await walk.send("GET /explorer/events");
  await walk.send("GET /explorer/refusals");
  await walk.send("GET /explorer/blocks");
  await walk.send("GET /explorer/search", undefined, { query: `?q=${hash}` });
  await walk.send("GET /requests");
  await walk.send("GET /trace");
  await walk.send("GET /stream");
  expect(walk.missing()).toEqual([]);
});

test.each<[line: string, status: number, code: string, body?: object]>([
  ["GET /nothing", 404, "route_not_found"],
  ["GET /status/", 404, "route_not_found"],
  ["PUT /status", 405, "method_not_allowed"],
  ["OPTIONS /scenario", 405, "method_not_allowed"],
  ["POST /explorer/overview", 405, "method_not_allowed"],
  ["GET /explain/0x12", 422, "validation_failed"],
  ["POST /explain", 422, "argument_invalid", { call: 5 }],
  ["POST /clock", 422, "time_invalid", { to: 1 }],
  ["POST /faults", 422, "fault_invalid", { layer: "delivery", action: "crash" }],
  ["POST /given", 422, "given_invalid", { purchase: { state: "sold" } }],
  ["POST /snapshots/99/restore", 404, "not_found"],
  ["DELETE /scenario", 422, "scenario_refused"],
  ["POST /receiver/resend", 404, "not_found", { number: 999 }],
  ["POST /receiver/pin", 422, "receiver_pinned", { url: "http://127.0.0.1:9/" }],
  ["POST /operations/op_x/resume", 422, "operation_unknown"],
  ["POST /refusals", 422, "validation_failed", {}],
  ["POST /chain/kept", 413, "body_too_large", { commits: "9".repeat(2_000) }],
  ["GET /explorer/purchases/pur_x", 404, "not_found"],
  ["GET /explorer/events?status=lost", 422, "validation_failed"],
])("%s is refused with %i %s, as its description says", async (line, status, code, body) => {
  expect(await walk.send(line, body)).toMatchObject({ status, answer: { status, code } });
});

test("a node that is down refuses every operation that needs it with the same status and code", async () => {
  await sandbox.given.merchant({ state: "pending", wallet: "stranger" });
  await sandbox.faults.set("node-down");
  const send = async (path: string, body = {}) => {
    const response = await fetch(`${sandbox.description.urls.control}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, answer: (await response.json()) as { detail?: string } };
  };
  const answers = [
    await send("/given", { purchase: { state: "paid" } }),
    await send("/given", { merchant: { state: "enrolled", wallet: "stranger" } }),
    await send("/deliver"),
  ];
  await sandbox.faults.clear();
  const unavailable = { status: 503, answer: { status: 503, code: "rpc_unavailable" } };
  expect(answers).toMatchObject(answers.map(() => unavailable));
  expect(answers[0]?.answer.detail).toMatch(
    /503 rpc_unavailable: The chain does not respond[^.]*\. Clear the faults that hold it/,
  );
});

test("the refusals that only the control API has are described with their status", async () => {
  const { components } = JSON.parse(
    await (await fetch(`${sandbox.description.urls.control}/openapi.json`)).text(),
  );
  const codes: ControlCode[] = components.schemas.Problem.properties.code.anyOf[0].enum;
  const shared: readonly ControlCode[] = errorCodes;
  const own = codes.filter((code) => !shared.includes(code));
  expect(Object.fromEntries(own.map((code) => [code, describeCode(code).status]))).toEqual({
    fault_invalid: 422,
    given_invalid: 422,
    given_refused: 422,
    needs_own_chain: 409,
    retry_limit: 422,
    time_invalid: 422,
    argument_invalid: 422,
    scenario_refused: 422,
    receiver_invalid: 422,
    receiver_unresolved: 422,
    receiver_pinned: 422,
    operation_unknown: 422,
    operation_not_resumable: 422,
    operation_not_abandonable: 422,
    sandbox_shared: 422,
    stale_snapshot: 422,
    snapshot_refused: 422,
    part_failed: 422,
    unhealthy: 503,
    snapshot_timeout: 503,
    undone: 409,
    wallet_unfunded: 422,
  });
});
