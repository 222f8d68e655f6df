import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { lstat, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { type OutgoingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { messageOf } from "../../../protocol/coded-error.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Scenario } from "../../../sandbox/scenarios/scenario.ts";
import { readScenario, writeScenario } from "../../../sandbox/scenarios/scenario-file.ts";
import { redact } from "../../../server/http/redact.ts";
import { playScenario } from "../../../testkit/scenario/play-scenario.ts";
import { startCli } from "../../cli/run-cli.ts";
import { controlSandbox } from "../../kit/control.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { createMerchant } from "./create-merchant.ts";

test("a restore ends a recording, so that the next test can begin one", async () => {
  await using sandbox = await createSandbox();
  const snapshot = await sandbox.snapshot();
  await sandbox.record("Never stopped");
  await snapshot.restore();
  await sandbox.record("The next one");
  await createMerchant(sandbox, "first");
  expect(await sandbox.stopRecording()).toMatchObject({ title: "The next one" });
});

test("a recording needs a title, a fresh sandbox and no restore within", async () => {
  await using sandbox = await createSandbox({ seed: "refused" });
  const snapshot = await sandbox.snapshot();
  await expect(sandbox.record("")).rejects.toThrow("A scenario needs a title");
  await sandbox.record("Restored");
  await expect(sandbox.record("Twice")).rejects.toThrow("A recording is in progress");
  await createMerchant(sandbox, "first");
  await sandbox.wallets.buyer.faucet(1n);
  await createMerchant(sandbox, "second");
  await snapshot.restore();
  await expect(sandbox.stopRecording()).rejects.toThrow("Blocks left the chain by a reorg or a restore");
  await sandbox.wallets.buyer.faucet(1n);
  await expect(sandbox.record("Used")).rejects.toThrow(
    "The sandbox has been used already, and a scenario starts from a fresh one.",
  );
  await expect(sandbox.stopRecording()).rejects.toThrow(
    "No scenario is being recorded. Start one with sandbox.record() or POST /scenario.",
  );
});

interface Asked {
  line?: string;
  /** Added to the key of an account and the content type of JSON, which undefined removes. */
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
}

/** Sends a request with its headers as they are given, and waits for the end of the answer. */
async function send(base: string, { line = "POST /v1/routing/access", headers = {}, body = "{}" }: Asked) {
  const [method, path = ""] = line.split(" ");
  const sent = Object.entries(headers).filter(([, value]) => value !== undefined);
  const sending = request(base, { method, path, headers: Object.fromEntries(sent), agent: false });
  sending.end(body);
  const [response] = await once(sending, "response");
  await once(response.resume(), "end");
  return response.statusCode;
}

/** Records one request to a sandbox, the API's unless `host` is the control API's. */
async function recordOne(sandbox: Sandbox, { headers, ...asked }: Asked, host: "api" | "control" = "api") {
  await sandbox.record("t");
  const { urls, accounts } = sandbox.description;
  const usual = { authorization: `Bearer ${accounts[0]?.key}`, "content-type": "application/json" };
  return await send(urls[host], { ...asked, headers: { ...usual, ...headers } });
}

/** Plays a scenario that was written to a file. */
async function playFile(scenario: Scenario) {
  const file = join(await temporaryFolder(), "written.yaml");
  await writeScenario(file, scenario);
  const read = await readScenario(file);
  expect(read).toEqual(scenario);
  await playScenario(read);
}

const emptyScenario: Scenario = {
  format: "routing-sandbox-scenario",
  version: 1,
  title: "empty",
  seed: "sandbox",
  programs: [{ id: "prg_demo", name: "Demo", account: "acct_demo" }],
  confirmations: 1,
  gas_budget_wei: "0",
  steps: [],
};

test.runIf(existsSync("/dev/full"))(
  "a scenario file that cannot be written on a full disk stays as it was, and is then replaced where a link leads to it",
  async () => {
    const folder = await temporaryFolder();
    const [file, link] = [join(folder, "kept.yaml"), join(folder, "link.yaml")];
    await writeScenario(file, emptyScenario);
    await symlink(file, link);
    await symlink("/dev/full", `${file}.next`);
    await expect(writeScenario(link, { ...emptyScenario, title: "second" })).rejects.toMatchObject({
      code: "scenario_refused",
      message: `${link} cannot be written: the disk is full (ENOSPC). Name another file.`,
    });
    expect(await readScenario(file)).toEqual(emptyScenario);
    expect((await readdir(folder)).sort()).toEqual(["kept.yaml", "link.yaml"]);
    await writeScenario(link, { ...emptyScenario, title: "third" });
    expect((await readScenario(file)).title).toBe("third");
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
  },
);

test("a scenario is written to a pipe, as to the output of a command", async () => {
  const pipe = join(await temporaryFolder(), "pipe");
  execFileSync("mkfifo", [pipe]);
  const [text] = await Promise.all([readFile(pipe, "utf8"), writeScenario(pipe, emptyScenario)]);
  expect(text).toContain("title: empty");
  expect((await lstat(pipe)).isFIFO()).toBe(true);
});

const latin = "application/json; charset=latin1";

async function expectRepeated([_, asked, status, step]: readonly [
  string,
  Asked,
  number,
  object,
]): Promise<void> {
  const sandbox = await freshSandbox();
  expect(await recordOne(sandbox, asked)).toBe(status);
  const scenario = await sandbox.stopRecording();
  expect(scenario.steps).toMatchObject([{ ...step, answer: { status } }]);
  await playFile(scenario);
}

test.for<[string, Asked, number, object]>([
  ["a body that is no JSON", { body: "{ü" }, 400, { raw_body: "{ü" }],
  [
    "a body that has a field twice",
    { body: '{"terms":null, "terms":null}' },
    400,
    { raw_body: '{"terms":null, "terms":null}' },
  ],
])("a request with %s is repeated", expectRepeated);

test.for<[string, Asked, number, object]>([
  ["a charset that is refused", { headers: { "content-type": latin } }, 415, { content_type: latin }],
  [
    "a type that begins as JSON's does",
    { headers: { "content-type": "application/jsonx" } },
    415,
    { body: {}, content_type: "application/jsonx" },
  ],
  ["an empty body", { body: "" }, 201, { content_type: "application/json" }],
  ["no content type", { headers: { "content-type": undefined } }, 415, { raw_body: "{}" }],
  ["neither body nor content type", { body: "", headers: { "content-type": undefined } }, 201, {}],
  ["a body that is too large", { body: "x".repeat(40_000) }, 413, {}],
  ["a body of many levels", { body: "[".repeat(10_000) + "]".repeat(10_000) }, 400, {}],
  [
    "a content type and the method GET",
    { line: "GET /v1/routing/capabilities", body: "" },
    200,
    { as: "acct_demo" },
  ],
  ["the header content-encoding: identity", { headers: { "content-encoding": "identity" } }, 201, {}],
  ...[
    "/v1/routing/../access",
    "/v1/routing/%2e%2e/access",
    "/v1/routing//access",
    "/v1/routing/a#b",
    '/v1/routing/"\\',
  ].map((path): [string, Asked, number, object] => [
    `the path ${path}`,
    { line: `POST ${path}` },
    404,
    { api: `POST ${path}` },
  ]),
  ["an unknown credential", { headers: { authorization: "BEARER  abc" } }, 401, { bearer: "abc" }],
  [
    "the credential of another sandbox",
    { headers: { authorization: `Bearer rsk_${"7f".repeat(16)}` } },
    401,
    { bearer: expect.stringMatching(/^rsk_redacted_[0-9a-f]{8}$/) },
  ],
])("a request with %s is repeated", { tags: "thorough" }, expectRepeated);

test("a scheme in lower case is repeated, and so is a title of many lines", async () => {
  const sandbox = await freshSandbox();
  await sandbox.record("line1\nline2: {evil}\r- x");
  const authorization = `bearer ${sandbox.description.accounts[0]?.key}`;
  const headers = { authorization, "content-type": "application/json" };
  expect(await send(sandbox.description.urls.api, { headers })).toBe(201);
  const scenario = await sandbox.stopRecording();
  expect(scenario.steps).toMatchObject([{ as: "acct_demo", body: {} }]);
  await playFile(scenario);
});

const secret = "it has a credential or an account key outside of its Authorization header";
test("a recording has every block and every change of time, even of two seconds and with a pending transaction, and can be played", async () => {
  const sandbox = await freshSandbox();
  const { chain, clock, wallets, description } = sandbox;
  await sandbox.record("Time");
  await chain.client.mine({ blocks: 2 });
  await clock.travel(2);
  await clock.travel(1);
  await controlSandbox(description, "POST", "/clock", { seconds: 3 });
  await controlSandbox(description, "POST", "/mining", { every: "never" });
  const pending = wallets.buyer.faucet(1n);
  await expect.poll(async () => (await chain.client.getTxpoolStatus()).pending).toBe(1);
  await clock.travel(4);
  await pending;
  await controlSandbox(description, "POST", "/mining", { every: "transaction" });
  const scenario = await sandbox.stopRecording();
  const block = expect.any(String);
  expect(scenario.steps).toMatchObject([
    { title: "2 blocks are mined", mine: 2, block },
    { title: "Time moves ahead by 2 s", travel: 2, block },
    { title: "A block is mined", mine: 1, block },
    { title: "Time moves ahead by 3 s", travel: 3, block },
    { control: "POST /mining", body: { every: "never" } },
    { transactions: [{ from: "buyer" }], travel: 4, block },
    { control: "POST /mining", body: { every: "transaction" } },
  ]);
  await playFile(scenario);
});

const malformed = "its header authorization is not `Bearer <credential>`";

test.for<[string, Asked, number]>([
  ["its body is encoded (content-encoding: gzip)", { headers: { "content-encoding": "gzip" } }, 415],
  ["its body is not UTF-8", { body: Buffer.from([0x7b, 0xff, 0x7d]) }, 400],
  [malformed, { headers: { authorization: "Basic abc" } }, 400],
  [malformed, { headers: { authorization: "Bearer " } }, 400],
  ["its header idempotency-key was sent more than once", { headers: { "idempotency-key": ["a", "b"] } }, 201],
  ["only the first 65536 bytes of its body were kept", { body: "x".repeat(200_000) }, 413],
  [
    "bytes of its body were kept",
    { body: "x".repeat(40_000), headers: { "transfer-encoding": "chunked" } },
    413,
  ],
  [
    "it is a GET with a body",
    { line: "GET /v1/routing/capabilities", headers: { "content-length": 2 } },
    200,
  ],
  [secret, { headers: { "idempotency-key": `rsc_${"7f".repeat(16)}` } }, 201],
  [secret, { body: JSON.stringify({ key: `rsk_${"7f".repeat(16)}` }) }, 422],
  [secret, { line: `GET /v1/routing/programs/rsc%5f${"7f".repeat(16)}`, body: "" }, 401],
])("a recording is refused with the request and the reason: %s", async ([reason, asked, status]) => {
  const sandbox = await freshSandbox();
  expect(await recordOne(sandbox, asked)).toBe(status);
  const stopped = sandbox.stopRecording();
  await expect(stopped).rejects.toMatchObject({ code: "scenario_refused" });
  const { line = "POST /v1/routing/access" } = asked;
  await expect(stopped).rejects.toThrow(`Step 1, ${redact(line)}, cannot be repeated: `);
  await expect(stopped).rejects.toThrow(`${reason}.`);
});

test("a request to the control API that a step cannot represent is also refused, and the recording continues", async () => {
  const sandbox = await freshSandbox();
  expect(await recordOne(sandbox, { line: "PUT /faults" }, "control")).toBe(405);
  await expect(sandbox.stopRecording()).rejects.toThrow(
    "Step 1, PUT /faults, cannot be repeated: only GET, POST, DELETE can be.",
  );
  await sandbox.record("Next");
  await playFile(await sandbox.stopRecording());
});

test("a file that is not a scenario is refused with the mistake and its position", async () => {
  const file = join(await temporaryFolder(), "broken.yaml");
  await expect(readScenario(file)).rejects.toThrow(
    /cannot be read: .* \(E[A-Z]+, .*\)\. Name a scenario file\.$/,
  );
  await writeFile(file, "steps: [\n");
  await expect(readScenario(file)).rejects.toThrow(
    /is not YAML: [^\n]* at line 2, column \d+\. Correct that line\.$/,
  );
  await writeFile(file, "format: routing-sandbox-scenario\nversion: 2\n");
  await expect(readScenario(file)).rejects.toThrow(
    /broken\.yaml is not a scenario: \/version must be 1, not 2\. Correct that field\.$/,
  );
});

test("a recording is not written that could not be read", async () => {
  const file = join(await temporaryFolder(), "many.yaml");
  const many: Partial<Scenario> = { title: "Many values", steps: new Array(50_001).fill(null) };
  await expect(writeScenario(file, many as Scenario)).rejects.toMatchObject({
    code: "scenario_refused",
    message: expect.stringContaining("has more than 100000 values"),
  });
  expect(existsSync(file)).toBe(false);
});

test("a scenario file that takes more than its length to read, or has values that no option takes, is refused with what to do", {
  tags: "thorough",
}, async () => {
  const file = join(await temporaryFolder(), "broken.yaml");
  const refusal = async (text: string) => {
    await writeFile(file, text);
    return await readScenario(file).then(
      () => null,
      (error: unknown) => messageOf(error),
    );
  };
  const levels = [
    "&a [x, x, x]",
    "&b [*a, *a, *a, *a, *a, *a, *a]",
    "&c [*b, *b, *b, *b, *b, *b, *b]",
    "[*c, *c]",
  ];
  for (const aliased of [levels.map((level) => `- ${level}\n`).join(""), "- *missing\n", "- &a [*a]\n"])
    expect(await refusal(aliased)).toBe(
      `${file} has aliases (*name) that have no anchor (&name), are a part of it, or stand for more than 100 values. Write the values out.`,
    );
  expect(await refusal("x".repeat(2 ** 20 + 1))).toBe(
    `${file} cannot be read: it has more than 1 MiB. Name a scenario file.`,
  );
  for (const values of ["[],", "{},", "1,", "[", "- 1\n", "? \n", "- - - 1\n"])
    expect(await refusal(values.repeat(2 ** 20 / values.length))).toBe(
      `${file} cannot be read: it has more than 100000 values. Name a scenario file.`,
    );
  expect(await refusal(`a: ${"[".repeat(10_000)}`)).toMatch(/ is not YAML: it has too many levels\. /);
  // Each of the errors was placed from the beginning of the text, which took minutes.
  expect(await refusal(`a: {${"? ".repeat(90_000)}`)).toMatch(
    / is not YAML: Unexpected \? in flow map at line 1, column 7\. Correct that line\.$/,
  );
  expect(await refusal("steps: []\n---\nsteps: []\n")).toMatch(
    / is not YAML: it has several documents, where one is read; it begins again at line 2, column 1\. /,
  );
  // To compare each of these keys with each other one would take minutes.
  const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1\n`);
  expect(await refusal(`${keys.join("")}k7: 2\n`)).toBe(
    `${file} is not YAML: a map has a key twice at line 20001, column 1. Correct that line.`,
  );
  const scenario = await readFile("examples/scenarios/refund.yaml", "utf8");
  for (const [line, pointer] of [
    ["confirmations: 1000000000", "/confirmations"],
    [`gas_budget_wei: "${"1".repeat(79)}"`, "/gas_budget_wei"],
    [`seed: ${"x".repeat(201)}`, "/seed"],
  ] as const) {
    const [name = ""] = line.split(":");
    const changed = scenario.replace(new RegExp(`^${name}: .*$`, "m"), line);
    expect(changed).not.toBe(scenario);
    expect(await refusal(changed)).toContain(`is not a scenario: ${pointer} `);
  }
  const mined = scenario.replace(/^steps:$/m, "steps:\n  - title: Mine\n    mine: 10000");
  expect(await refusal(mined)).toContain("is not a scenario: /steps/0");
  await expect(readScenario("/dev/zero")).rejects.toThrow(
    "/dev/zero cannot be read: it has more than 1 MiB.",
  );
});

test("the command line records the running sandbox until it is interrupted", async () => {
  const dataDirectory = await temporaryFolder();
  await using sandbox = await createSandbox({ dataDirectory });
  const file = join(dataDirectory, "recorded.yaml");
  const record = ["scenario", "record", file, "--title", "A merchant", "--data-dir", dataDirectory];
  const { stdout, exited, kill } = startCli(record);
  await once(createInterface(stdout), "line");
  await createMerchant(sandbox, "first");
  kill("SIGINT");
  expect(await exited).toBe(0);
  const scenario = await readScenario(file);
  expect(scenario).toMatchObject({ title: "A merchant", steps: [{}, { title: "Create a merchant" }] });
});
