import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { cli, startInFolder } from "../program.ts";
import { runCli, tryCli } from "../run-cli.ts";

let sandbox: Sandbox;
let folder: string;
let client: Client;

beforeAll(async () => {
  const started = await startInFolder();
  ({ sandbox, folder } = started);
  client = await connect(folder);
  return async () => {
    await client.close();
    await started.end();
  };
});

/** Starts the command as an agent does, and connects to it. */
async function connect(dataDirectory: string): Promise<Client> {
  const agent = new Client({ name: "test", version: "1.0.0" });
  await agent.connect(
    new StdioClientTransport({ command: process.execPath, args: [cli, "mcp", "--data-dir", dataDirectory] }),
  );
  return agent;
}

const textContent = z.array(z.object({ type: z.literal("text"), text: z.string() }));

async function callOn(agent: Client, name: string, given: { [argument: string]: unknown } = {}) {
  const { isError = false, content } = CallToolResultSchema.parse(
    await agent.callTool({ name, arguments: given }),
  );
  return { isError, texts: textContent.parse(content).map((one) => one.text) };
}

/** The result of a tool, as JSON. */
async function call(name: string, given?: { [argument: string]: unknown }) {
  const { isError, texts } = await callOn(client, name, given);
  expect(isError, texts.join("\n")).toBe(false);
  return JSON.parse(texts[0] ?? "");
}

/** The sentence that a tool fails with. */
async function failure(name: string, given?: { [argument: string]: unknown }) {
  const { isError, texts } = await callOn(client, name, given);
  expect(isError).toBe(true);
  return texts[0];
}

test("an agent brings a purchase from a given state to a refund, over an outage that it causes and a refused transaction that it has explained", async () => {
  const { number } = await call("snapshot");
  const { purchase, payments, decision } = await call("given", { purchase: { state: "approved" } });
  const explained = await call("explain", { hash: payments[0].transaction_hash });
  expect(explained).toMatchObject({ accepted: true });
  await call("faults", { intent: "answer-lost", operation: "executeRefund" });
  expect(await call("faults")).toMatchObject({ data: [{ remaining: 1 }] });
  const refund = {
    method: "POST",
    path: `/v1/routing/programs/${purchase.program}/purchases/${purchase.id}/refunds`,
    idempotency_key: "refund-1",
    body: { decision_id: decision.id },
  };
  expect(await call("request", refund)).toEqual({ status: null, request_id: null, body: null });
  expect(await call("request", refund)).toMatchObject({
    status: 201,
    body: { refund: { status: "collected" } },
  });
  const { data } = await call("requests", { operation: "executeRefund", limit: 2 });
  expect(data).toMatchObject([{ status: 201, replayed: true }, { status: null }]);
  expect(await call("clear_faults")).toEqual({ data: [] });
  expect((await call("timeline", { id: purchase.id })).purchase).toMatchObject({ id: purchase.id });
  expect((await call("deliver")).notifications).not.toEqual([]);
  expect(await call("restore", { number })).toEqual(await call("snapshots"));
  expect(await failure("timeline", { id: purchase.id })).toBe(`There is no purchase ${purchase.id}.`);
});

test("the tools have the schemas of the control API, each as one object", async () => {
  const { tools } = await client.listTools();
  const inputs = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema]));
  for (const { inputSchema, description } of tools) {
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(description).toMatch(/^[A-Z].*\.$/s);
  }
  expect(JSON.stringify(inputs)).not.toContain('"$ref"');
  expect(Object.keys(inputs["given"]?.properties ?? {})).toEqual(["merchant", "purchase"]);
  expect(inputs["given"]?.properties).toMatchObject({
    purchase: { type: "object", properties: { buyer: { type: "string", default: "buyer" } } },
  });
  expect(inputs["restore"]).toMatchObject({
    properties: { number: { type: "integer" } },
    required: ["number"],
  });
  expect(inputs["requests"]?.properties).toMatchObject({
    limit: { type: "integer", minimum: 1, maximum: 200 },
    after: { type: "integer" },
  });
  expect(inputs["time"]?.properties).toMatchObject({
    seconds: { type: "integer" },
    to: { type: "integer" },
    blocks: { type: "integer", default: 1 },
    every: { anyOf: [{ enum: ["transaction", "never"] }, { type: "integer" }] },
  });
  expect(inputs["time"]).not.toHaveProperty("required");
  expect(Object.keys(inputs["explain"]?.properties ?? {})).toEqual([
    "hash",
    "for",
    "call",
    "typed_data",
    "signature",
    "decision",
  ]);
});

test("the arguments of a tool choose what it does", async () => {
  const { now } = await call("time", { seconds: 60 });
  expect(await call("time", { to: now + 60 })).toEqual({ now: now + 60 });
  const { block_number } = await call("time", { blocks: 2 });
  expect(await call("status")).toMatchObject({ chain: { block_number }, urls: sandbox.description.urls });
  expect(await call("time", { every: "transaction" })).toEqual({ every: "transaction" });
  const { token } = sandbox.description.contracts;
  const { purchase } = await sandbox.given.purchase({ state: "created" });
  const unsent = { call: { from: sandbox.wallets.stranger.address, to: token } };
  expect(await call("explain", unsent)).toMatchObject({ subject: null });
  expect(await call("explain", { ...unsent, for: purchase.id })).toMatchObject({ subject: purchase.id });
});

test.each<[tool: string, given: { [argument: string]: unknown }, sentence: string]>([
  ["given", { purchase: { state: "sold" } }, 'state "sold" is not a valid value. Use created,'],
  ["given", {}, 'The body must have one member, "merchant" or "purchase", with the options of that.'],
  ["given", { order: {} }, "The tool given has no argument order. Use merchant or purchase."],
  ["time", { seconds: 0 }, "/seconds"],
  ["time", { minutes: 1 }, "The tool time has no argument minutes. Use seconds, to, blocks or every."],
  [
    "time",
    { seconds: 1, blocks: 1 },
    "The tool time does not take blocks with seconds. Leave out one or the other.",
  ],
  ["time", { seconds: 1, to: 5 }, "The tool time does not take to with seconds."],
  ["explain", { hash: "0x12", call: {} }, "The tool explain does not take call with hash."],
  [
    "explain",
    { for: "pur_a", call: {}, hash: "0x12" },
    "The tool explain does not take call with for or hash.",
  ],
  ["given", { merchant: {}, purchase: {} }, "The tool given does not take purchase with merchant."],
  ["faults", { intent: "fire" }, "intent"],
  ["explain", {}, "The tool explain needs one of hash, call, typed_data or decision. Pass it."],
  ["explain", { for: "pur_a" }, "The tool explain needs one of hash, call,"],
  ["time", {}, "The tool time needs one of seconds, to, blocks or every. Pass it."],
  ["explain", { hash: "0x12" }, "/hash"],
  ["restore", { number: 99 }, "There is no snapshot 99. Take one, and restore it by its number."],
  ["restore", { number: "1" }, 'The argument number of restore must be a whole number, not "1".'],
  ["requests", { limit: "5" }, 'The argument limit of requests must be a whole number, not "5".'],
  ["timeline", { id: 5 }, "The argument id of timeline must be a string, not 5."],
  ["restore", {}, "The argument number of restore is missing. Pass it."],
  ["status", { verbose: true }, "The tool status has no argument verbose. Leave it out."],
  ["timeline", { id: "pur_a", q: 1 }, "The tool timeline has no argument q. Use id."],
  ["requests", { status: "5" }, "/query/status"],
  ["request", { method: "GET", path: "/status" }, "/path must be a path of the routing API"],
  ["trace", {}, "/file is missing"],
  ["documentation", { words: "nothing-has-this-word" }, 'No section has "nothing-has-this-word".'],
  ["fault", {}, "There is no tool fault. Use status, given,"],
])("a call of %s with %j fails with a sentence that says what to do", async (tool, given, sentence) => {
  expect(await failure(tool, given)).toContain(sentence);
});

test("a refusal of the control API is the error of the tool, with the same sentence, its code and its fields", async () => {
  const body = { purchase: { state: "paid", amount: "-1" } };
  const response = await fetch(`${sandbox.description.urls.control}/given`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const { code, detail, errors } = z
    .object({ code: z.string(), detail: z.string(), errors: z.array(z.unknown()) })
    .parse(await response.json());
  const { texts } = await callOn(client, "given", body);
  expect(texts[0]).toBe(detail);
  expect(JSON.parse(texts[1] ?? "")).toEqual({ code, errors });
});

test("documentation finds what the search of the documentation's pages finds first", async () => {
  const { docs } = sandbox.description.urls;
  for (const words of ["idempotency", "closed", "gas budget"]) {
    const found = await call("documentation", { words });
    const response = await fetch(`${docs}/docs/search.json?${new URLSearchParams({ q: words })}`);
    const listed = z.array(z.looseObject({ url: z.string() })).parse(await response.json());
    expect(found[0]).toEqual({ ...listed[0], url: docs + listed[0]?.url });
    expect((await fetch(found[0].url)).status).toBe(200);
  }
});

test("trace writes the trace and its snapshot file", async () => {
  const file = join(folder, "agent.trace.html");
  const snapshot = join(folder, "agent.snapshot");
  expect(await call("trace", { file })).toEqual({ file, snapshot, snapshot_problem: null });
  expect(existsSync(file)).toBe(true);
});

test("trace says why there is no snapshot file next to it", async () => {
  const [file, taken] = [join(folder, "alone.trace.html"), join(folder, "alone.snapshot")];
  await mkdir(taken);
  const problem = `${taken} cannot be written: a directory has this name (EISDIR, ${taken}). Name another file.`;
  expect(await call("trace", { file })).toEqual({ file, snapshot: null, snapshot_problem: problem });
  expect(await runCli("trace", file, "--data-dir", folder)).toContain(
    `Wrote ${file}, without a snapshot file: ${problem} To open the trace: `,
  );
});

test.runIf(existsSync("/dev/full"))(
  "a trace that the disk has no room for leaves no snapshot file",
  async () => {
    const file = join(folder, "full.trace.html");
    // Every write to it fails with ENOSPC.
    await symlink("/dev/full", file);
    expect(await failure("trace", { file })).toContain("the disk is full (ENOSPC)");
    expect((await readdir(folder)).filter((name) => name.startsWith("full"))).toEqual(["full.trace.html"]);
  },
);

test("a trace that cannot be written leaves no snapshot file", async () => {
  const taken = join(folder, "taken");
  await mkdir(taken);
  expect(await failure("trace", { file: taken })).toBe(
    `The trace ${taken} cannot be written: a directory has this name (EISDIR). Name another file.`,
  );
  expect((await readdir(folder)).filter((name) => name.startsWith("taken"))).toEqual(["taken"]);
});

test("without a sandbox, every tool says how to start one", async () => {
  const agent = await connect(join(folder, "nothing"));
  const { isError, texts } = await callOn(agent, "status");
  await agent.close();
  expect([isError, texts[0]]).toEqual([
    true,
    expect.stringMatching(/^No sandbox runs in .*\. Start one with /),
  ]);
});

/** Every response to the lines of an agent, which then closes its standard input. */
async function respond(...lines: string[]) {
  const { code, stdout, stderr } = await tryCli(["mcp", "--data-dir", folder], lines.join("\n"));
  expect([code, stderr]).toEqual([0, ""]);
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

const request = (id: unknown, method: unknown, params?: object) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

test.each<[code: number, id: number | string | null, line: string, message: RegExp]>([
  [-32700, null, "nonsense", /^The line is not valid JSON\. Send /],
  [-32700, null, '{"jsonrpc":"2.0","id":1,"meth', /not valid JSON/],
  [-32600, null, "{}", /^The message is no JSON-RPC 2\.0 request\. Send /],
  [-32600, null, "5", /no JSON-RPC/],
  [-32600, null, "null", /no JSON-RPC/],
  [-32600, null, '"text"', /no JSON-RPC/],
  [-32600, null, "[]", /^A line has one message, not an array of them\. Send /],
  [-32600, null, `[${request(1, "ping")}]`, /array/],
  [-32600, 1, '{"id":1,"method":"ping"}', /no JSON-RPC/],
  [-32600, "a", '{"jsonrpc":"1.0","id":"a","method":"ping"}', /no JSON-RPC/],
  [-32600, 1, request(1, 5), /no JSON-RPC/],
  [-32600, null, request(null, "ping"), /no JSON-RPC/],
  [-32600, null, request(1.5, "ping"), /no JSON-RPC/],
  [-32600, 1, request(1, "ping", [1]), /no JSON-RPC/],
  [-32600, 1, '{"jsonrpc":"2.0","id":1,"method":"ping","extra":1}', /no JSON-RPC/],
  [-32600, null, '{"jsonrpc":"2.0","id":1,"result":5}', /no JSON-RPC/],
  [-32601, 1, request(1, "nope"), /^Method not found$/],
  [-32602, 1, request(1, "tools/call"), /^\/params is missing\b/],
  [-32602, 1, request(1, "tools/call", { name: 5 }), /^\/params\/name /],
  [-32602, 1, request(1, "tools/call", { name: "status", arguments: [] }), /^\/params\/arguments /],
  [-32602, 1, request(1, "tools/list", { cursor: 5 }), /^\/params\/cursor /],
  [-32602, 1, request(1, "initialize", {}), /^\/params\/protocolVersion is missing\b/],
  [
    -32700,
    null,
    // The request is a part of the line.
    "x".repeat(10 * 2 ** 20 + 65_536) + request(7, "ping"),
    /^The line has more than 10485760 characters\.$/,
  ],
])(
  "a line is answered with the error %i to the request %j, and the next one as usual",
  async (code, id, line, message) => {
    const [error, pong, ...others] = await respond(line, "", request(2, "ping"));
    expect(error).toEqual({
      jsonrpc: "2.0",
      id,
      error: { code, message: expect.stringMatching(message) },
    });
    expect([pong, others]).toEqual([{ jsonrpc: "2.0", id: 2, result: {} }, []]);
  },
);

test("every call that is in progress when the input ends is answered, and so is a last line without an end", async () => {
  const give = { name: "given", arguments: { merchant: { state: "enrolled", wallet: "stranger" } } };
  const responses = await respond(
    request(1, "tools/call", give),
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
    request(2, "tools/call", { name: "status" }),
    request(2, "tools/call", { name: "status" }),
    request(3, "tools/call", { name: "status" }),
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}',
    request("last", "ping"),
  );
  expect(responses.map(({ id }) => String(id)).sort()).toEqual(["1", "2", "2", "last"]);
  expect(responses.find(({ id }) => id === 1).result.content[0].text).toContain('"status":"enrolled"');
});

test("an input that ends in the middle of a message is answered with a parse error", async () => {
  const responses = await respond(request(1, "ping"), '{"jsonrpc":"2.0","id":2,"meth');
  expect(responses).toEqual([
    { jsonrpc: "2.0", id: null, error: expect.objectContaining({ code: -32700 }) },
    { jsonrpc: "2.0", id: 1, result: {} },
  ]);
});

test("a signal lets the call in progress end, and its response is written", async () => {
  const { wallets } = sandbox.description;
  await call("faults", { intent: "slow", operation: "createMerchant", delay_ms: 1_000 });
  const child = spawn(process.execPath, [cli, "mcp", "--data-dir", folder]);
  const output = text(child.stdout);
  const ended = once(child, "exit");
  const create = {
    method: "POST",
    path: "/v1/routing/programs/prg_demo/merchants",
    idempotency_key: "signal-1",
    body: { wallet: wallets["other_merchant"]?.address, name: "Corner Books", funding_cap: "1" },
  };
  child.stdin.write(`${request(1, "tools/call", { name: "request", arguments: create })}\n`);
  await expect.poll(async () => await call("faults")).toMatchObject({ data: [{ hits: 1 }] });
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(await output).toContain('\\"status\\":201');
});
