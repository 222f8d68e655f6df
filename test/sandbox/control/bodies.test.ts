import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Ajv2020 } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import { beforeAll, describe, expect, test } from "vitest";
import { faultPlacements } from "../../../relayer/relayer.ts";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { faultIntentNames, faultLayers } from "../../../sandbox/faults/fault-matrix.ts";
import { writeOperations } from "../../../sandbox/faults/fault-request.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await freshSandbox();
});

async function post(path: string, body: unknown): Promise<{ status: number; answer: unknown }> {
  const response = await fetch(`${sandbox.description.urls.control}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  return { status: response.status, answer: await response.json() };
}

const someone = `0x${"1".repeat(40)}`;
const listed = (values: readonly string[]) => values.map((value) => JSON.stringify(value)).join(", ");
const actions = listed(Object.keys(faultPlacements));
const layers = listed(faultLayers);
const intents = listed(faultIntentNames);
const writes = listed(writeOperations);
const unsent = 'must be {"call": …}, {"typed_data": …} or {"decision": …}';
/** A refusal as a joined process sends it, without its time. */
const refusal = {
  request_id: "req_1",
  operation: "reconcilePurchase",
  program: "prg_demo",
  subject: "pur_1",
  step: "payment",
  code: "binding_mismatch",
  detail: "The transaction pays another purchase.",
  transaction_hash: `0x${"1".repeat(64)}`,
  checks: [],
};

test.each<[path: string, body: object, isTaken: boolean]>([
  ["/given", { purchase: { state: "active", amount: "0" } }, false],
  ["/given", { purchase: { state: "active", amount: "1".repeat(40) } }, false],
  ["/given", { purchase: { state: "active", amount: `${2n ** 128n}` } }, false],
  ["/given", { purchase: { state: "denied", award: "0" } }, true],
  ["/given", { purchase: { state: "active", reference: "" } }, false],
  ["/given", { purchase: { state: "active", reference: "a".repeat(101) } }, false],
  ["/given", { purchase: { state: "claimed", reason: "a".repeat(2_001) } }, false],
  ["/explain", { call: { from: someone, to: someone, value: "0x1" } }, true],
  ["/explain", { call: { from: someone, to: someone, chain_id: 31_337, function: "pay", args: {} } }, true],
  ["/explain", { call: { from: someone, to: someone, value: "-1" } }, false],
  ["/explain", { call: { from: someone, to: someone, data: "0x1" } }, false],
  ["/receiver/resend", {}, false],
  ["/receiver/resend", { number: 1, event_id: "evt_1" }, false],
])("%s takes %j as its description says: %s", async (path, body, isTaken) => {
  const { control } = sandbox.description.urls;
  const description = JSON.parse(await (await fetch(`${control}/openapi.json`)).text());
  const ajv = formatsPlugin.default(new Ajv2020({ strict: false }));
  ajv.addSchema({ ...description, $id: "control" });
  const place = `/paths/${path.replaceAll("/", "~1")}/post/requestBody/content/application~1json/schema`;
  expect(ajv.validate({ $ref: `control#${place}` }, body)).toBe(isTaken);
  const { status } = await fetch(`${control}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(status < 300).toBe(isTaken);
});

describe("the control API names the field that is wrong, and what it must be", () => {
  test.each<[path: string, body: unknown, pointer: string, detail: string]>([
    ["/clock", { seconds: "60" }, "/seconds", 'must be a whole number, not the string "60"'],
    ["/clock", { seconds: 0 }, "/seconds", "must be more than 0, not 0"],
    ["/clock", { seconds: 1.5 }, "/seconds", "must be a whole number, not 1.5"],
    ["/clock", { day: 8 }, "", 'must be {"seconds": …} or {"to": …} with Unix seconds, not {"day":8}'],
    ["/clock", [], "", 'must be {"seconds": …} or {"to": …} with Unix seconds, not []'],
    ["/blocks", { blocks: 0 }, "/blocks", "must be at least 1, not 0"],
    ["/blocks", { block: 2 }, "/block", "is not a field of this request; use blocks"],
    [
      "/mining",
      {},
      "/every",
      'is missing; send "transaction", "never" or a whole number of seconds from 1 to 3600',
    ],
    [
      "/mining",
      { every: "sometimes" },
      "/every",
      'must be "transaction", "never" or a whole number of seconds from 1 to 3600, not "sometimes"',
    ],
    [
      "/faults",
      { layer: "relayer", point: "before_intent" },
      "/action",
      `is missing; send one of ${actions}`,
    ],
    [
      "/faults",
      { layer: "relayer", point: "broadcast", action: "dropp" },
      "/action",
      `must be one of ${actions}, not "dropp"`,
    ],
    [
      "/faults",
      { layer: "relayer", point: "broadcast", action: "drop", count: 0 },
      "/count",
      "must be at least 1, or null to act until it is cleared, not 0",
    ],
    ["/faults", [], "", "must be an object, not an array"],
    ["/faults", null, "", "must be an object, not null"],
    ["/faults", 5, "", "must be an object, not 5"],
    ["/operations/x/resume", { abandon: "yes" }, "/abandon", 'must be true or false, not the string "yes"'],
    ["/scenario", {}, "/title", "is missing; send a string"],
    ["/scenario", { title: "" }, "/title", "must have at least 1 character, not 0"],
    ["/receiver/resend", { number: null }, "/number", "must be a whole number, not null"],
    ["/receiver/resend", {}, "", 'must be {"number": …} or {"event_id": …}, not {}'],
    [
      "/faults",
      { point: "broadcast" },
      "/layer",
      `is missing; send one of ${layers}, or intent instead, such as "answer-lost"`,
    ],
    [
      "/faults",
      { layer: "delivery", action: "answer", status: 200 },
      "/status",
      "must be at least 300, not 200",
    ],
    [
      "/faults",
      { layer: "delivery", action: "answer", headers: { "retry after": "3" } },
      "/headers/retry after",
      "is not the name of an HTTP header; rename it",
    ],
    [
      "/faults",
      { layer: "delivery", action: "answer", headers: { "x-note": "a\nb" } },
      "/headers/x-note",
      "has a character that no value of an HTTP header has; remove it",
    ],
    ["/faults", { intent: "slow", delay_ms: 0 }, "/delay_ms", "must be at least 1, not 0"],
    ["/faults", { intent: "lost" }, "/intent", `must be one of ${intents}, not "lost"`],
    [
      "/faults",
      { intent: "slow", operation: "readPurchase" },
      "/operation",
      `must be one of ${writes}, not "readPurchase"`,
    ],
    ["/faults", {}, "/layer", `is missing; send one of ${layers}, or intent instead, such as "answer-lost"`],
    ["/blocks", null, "", "must be an object, not null"],
    ["/explain", {}, "", `${unsent}, not {}`],
    ["/explain", { signature: "0x" }, "", `${unsent}, not {"signature":"0x"}`],
    ["/explain", { call: {}, typed_data: {} }, "", `${unsent}, not {"call":{},"typed_data":{}}`],
    [
      "/refusals",
      { ...refusal, at: -9_007_199_254_740_990 },
      "/at",
      "must be at least 0, not -9007199254740990",
    ],
    [
      "/refusals",
      { ...refusal, at: 253_402_300_800 },
      "/at",
      "must be at most 253402300799, not 253402300800",
    ],
    ["/chain/kept", { commits: -1 }, "/commits", "must be at least 0, not -1"],
    ["/keys/rotate", { uses: [] }, "/uses", "must have at least 1 item, not 0"],
    [
      "/keys/rotate",
      { uses: ["x"] },
      "/uses/0",
      'must be one of "notifications", "receipts", "reviewer", not "x"',
    ],
  ])("in POST %s %j: %s", async (path, body, pointer, detail) => {
    expect(await post(path, body)).toMatchObject({
      status: 422,
      answer: {
        code: "validation_failed",
        detail: `${pointer || "The body"} ${detail}`,
        errors: expect.arrayContaining([expect.objectContaining({ pointer, detail })]),
      },
    });
  });
});

test.each([
  [
    { layer: "relayer", point: "broadcast", action: "drop", match: { program: "prg_nope" } },
    'The option program is "prg_nope", which is not a program of this sandbox. Use prg_demo or prg_other.',
  ],
  [
    { layer: "relayer", point: "broadcast", action: "drop", depth: 3 },
    "The option depth is for reorg only. Leave it out for drop.",
  ],
  [
    { layer: "api", point: "before_commit", action: "partial" },
    'The option point is "before_commit", where partial does not act. Use after_commit.',
  ],
  [
    { layer: "delivery", action: "crash" },
    "The option point is missing, and crash can act at several. Use before_delivery, after_delivery or before_pause.",
  ],
  [
    { layer: "chain", action: "reorg", count: 2 },
    "A fault of the layer chain acts once, immediately. Leave out the option count.",
  ],
  [
    { intent: "crash", point: "after_mined", operation: "executeRefund" },
    "A fault of the layer relayer does not take the option operation. Use the option operation_id, the option program, the option kind, the option subject_id or the option occurrence.",
  ],
])("POST /faults %j is refused because it could never act", async (body, detail) => {
  expect(await post("/faults", body)).toMatchObject({
    status: 422,
    answer: { code: "fault_invalid", detail },
  });
});

test.each([
  ["GET", "/clock", "POST"],
  ["GET", "/operations/op_x/resume", "POST"],
  ["POST", "/status", "GET, HEAD"],
  ["PUT", "/faults", "GET, HEAD, POST, DELETE"],
  ["GET", "/given", "POST"],
  ["DELETE", "/snapshots", "GET, HEAD, POST"],
  ["POST", "/stream", "GET, HEAD"],
])("%s %s is answered with the methods that the path has", async (method, path, allow) => {
  const response = await fetch(`${sandbox.description.urls.control}${path}`, { method });
  expect(response.headers.get("allow")).toBe(allow);
  expect(await response.json()).toMatchObject({
    status: 405,
    code: "method_not_allowed",
    detail: `This path does not have the method. Use ${allow}.`,
  });
});

describe("the control API", () => {
  test.each<[path: string, body: string, type: string]>([
    ["/blocks", '{"blocks":5}', "application/x-www-form-urlencoded"],
    ["/blocks", '{"blocks":5}', "text/plain"],
    ["/blocks", '{"blocks":5}', "application/json; charset=utf-16"],
    ["/clock", '{"seconds":60}', "application/x-www-form-urlencoded"],
    ["/mining", '{"every":"never"}', "application/x-www-form-urlencoded"],
    ["/given", '{"merchant":{"state":"pending"}}', "application/x-www-form-urlencoded"],
    ["/keys/rotate", '{"uses":["receipts"]}', "application/x-www-form-urlencoded"],
    ["/scenario", '{"title":"checkout"}', "application/x-www-form-urlencoded"],
    ["/operations/op_x/resume", '{"abandon":true}', "application/x-www-form-urlencoded"],
    ["/snapshots", "{}", "application/x-www-form-urlencoded"],
  ])(
    "refuses a body that is not declared as JSON, and does nothing: POST %s %s as %s",
    async (path, body, type) => {
      const before = await sandbox.fingerprint();
      const response = await fetch(`${sandbox.description.urls.control}${path}`, {
        method: "POST",
        headers: { "content-type": type },
        body,
      });
      expect(response.headers.get("content-type")).toMatch(/^application\/problem\+json/);
      expect(await response.json()).toMatchObject({
        status: 415,
        code: "content_type_unsupported",
        detail: `The content type is ${JSON.stringify(type)}. Send application/json in UTF-8.`,
      });
      expect(await sandbox.fingerprint()).toEqual(before);
    },
  );

  test.each<[path: string, body: string, status: number, code: string, detail: string]>([
    [
      "/blocks",
      '{"blocks":1,"blocks":2}',
      400,
      "body_malformed",
      'Duplicate key "blocks". Send each key of an object once.',
    ],
    ["/blocks", "{", 400, "body_malformed", "The body is not valid JSON: it ends before it is complete."],
    [
      "/chain/kept",
      JSON.stringify({ commits: 0, note: "x".repeat(1_024) }),
      413,
      "body_too_large",
      "The body has at least 1047 bytes; 1024 are allowed. Send a smaller body.",
    ],
  ])("refuses the body of POST %s %s with %i %s", async (path, body, status, code, detail) => {
    const response = await fetch(`${sandbox.description.urls.control}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(await response.json()).toEqual({ type: "about:blank", status, code, detail });
  });

  test("refuses a Content-Encoding, and a path that is not valid percent-encoding", async () => {
    const { control } = sandbox.description.urls;
    const encoded = await fetch(`${control}/blocks`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      body: "{}",
    });
    expect(await encoded.json()).toMatchObject({ status: 415, code: "content_encoding_unsupported" });
    const path = await fetch(`${control}/operations/%ZZ/resume`, { method: "POST" });
    expect(await path.json()).toMatchObject({
      status: 400,
      code: "request_malformed",
      detail: "The path is not valid percent-encoding. Send a percent sign as %25.",
    });
  });

  test.each([
    ["Host: evil.example", "/status", 403, "host_not_allowed"],
    ["Host: %\r\nOrigin: http://evil.example", "/status", 403, "page_not_allowed"],
    ["Host: %\r\nExpect: a lot", "/status", 417, "expectation_unsupported"],
    ["Host: %", "/st atus", 400, "request_malformed"],
  ])("refuses a request with %s to %s with %i %s", async (headers, path, status, code) => {
    const { host, hostname, port } = new URL(sandbox.description.urls.control);
    const socket = connect(Number(port), hostname);
    socket.end(`GET ${path} HTTP/1.1\r\n${headers.replace("%", host)}\r\n\r\n`);
    const answer = await text(socket);
    expect(answer).toMatch(`HTTP/1.1 ${status} `);
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({ status, code });
  });

  test("refuses typed data whose domain lacks a member of its type, and names the member", async () => {
    const domain = {
      name: "USD Coin",
      version: "2",
      chainId: 31_337,
      verifyingContract: `0x${"1".repeat(40)}`,
    };
    const types = {
      EIP712Domain: [
        { name: "name", type: "string" },
        { name: "salt", type: "bytes32" },
      ],
      Note: [{ name: "text", type: "string" }],
    };
    const typed_data = { types, primaryType: "Note", domain, message: { text: "a" } };
    expect(await post("/explain", { typed_data })).toMatchObject({
      status: 422,
      answer: {
        code: "argument_invalid",
        detail: expect.stringMatching(/ has no domain\.salt, which is a member of EIP712Domain\./),
      },
    });
  });

  test("refuses a body without a type", async () => {
    const response = await fetch(`${sandbox.description.urls.control}/blocks`, {
      method: "POST",
      body: new TextEncoder().encode('{"blocks":5}'),
    });
    expect(await response.json()).toMatchObject({
      status: 415,
      detail: "The content type is missing. Send application/json in UTF-8.",
    });
  });

  test("allows no body at all where every field has a default", async () => {
    const before = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
    const response = await fetch(`${sandbox.description.urls.control}/blocks`, { method: "POST" });
    expect(await response.json()).toEqual({ block_number: Number(before) + 1 });
  });
});
