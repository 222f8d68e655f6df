import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { lstat, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { type OutgoingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { type Scenario, scenarioSchema } from "../../sandbox/hosts/recorder/scenario.ts";
import { readScenario, writeScenario } from "../../sandbox/hosts/recorder/scenario-file.ts";
import { actorsOf } from "../../testkit/demo/actors.ts";
import { enrollMerchant } from "../../testkit/demo/merchant-steps.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { activate, createPurchase } from "../../testkit/demo/purchase-steps.ts";
import { Session } from "../../testkit/demo/session.ts";
import { playScenario } from "../../testkit/play-scenario.ts";
import { cli } from "../cli/program.ts";
import { controlSandbox } from "../kit/control.ts";
import { shareSandbox } from "../kit/share-sandbox.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const shipped = fileURLToPath(new URL("../../scenarios/", import.meta.url));
const files = await readdir(shipped);
const freshSandbox = shareSandbox({ seed: "recorded" });

/** Creates a merchant with the sandbox's own client. */
async function createMerchant({ client, wallets }: Sandbox, name: string) {
  const header = { "Idempotency-Key": `merchant-${name}` };
  const body = { wallet: wallets.merchant.address, name, funding_cap: "500000000" };
  return await client.POST("/v1/routing/programs/{program}/merchants", {
    params: { path: { program: "prg_demo" }, header },
    body,
  });
}

test.for(files)(
  "the scenario %s comes out as it was recorded (if it is to change: npm run scenarios:record)",
  {
    timeout: 60_000,
  },
  async (file) => {
    const scenario = await readScenario(join(shipped, file));
    const told: string[] = [];
    await playScenario(scenario, { told: (number, { title }) => told.push(`${number} ${title}`) });
    expect(told).toHaveLength(scenario.steps.length);
  },
);

test("three scenarios ship", () => expect(files).toHaveLength(3));

test("the first step and field that differ are named, and so is an end that differs", async () => {
  const scenario = await readScenario(join(shipped, "lost-response.yaml"));
  /** The scenario up to a step, which is changed. */
  const changed = (number: number, change: (step: Scenario["steps"][number]) => object): Scenario => {
    const kept = scenario.steps.slice(0, number);
    const last = kept[number - 1];
    if (last === undefined) throw new Error(`There is no step ${number}.`);
    return { ...scenario, steps: [...kept.slice(0, -1), { ...last, ...change(last) }] };
  };
  const answered = (status: number, fields: object) =>
    changed(2, (step) => {
      if (!("answer" in step && "status" in step.answer)) throw new Error("Step 2 is answered.");
      return { answer: { status, body: { ...step.answer.body, ...fields } } };
    });
  const differences: [Scenario, object][] = [
    [answered(200, {}), { step: 2, field: "answer.status" }],
    [answered(201, { name: "Corner Shop" }), { step: 2, field: "answer.body.name" }],
    [answered(201, { more: null }), { step: 2, field: "answer.body.more" }],
    [changed(3, () => ({ block: `12 0x${"0".repeat(64)}` })), { step: 3, field: "block" }],
    [
      { ...scenario, steps: [] },
      { step: null, field: "block" },
    ],
  ];
  for (const [altered, difference] of differences)
    await expect(playScenario(altered)).rejects.toMatchObject(difference);
  await expect(playScenario(answered(201, { name: "Corner Shop" }))).rejects.toMatchObject({
    code: "scenario_differs",
    message:
      "Step 2 (Create a merchant) differs in answer.body.name: expected Corner Shop, got Corner Books.",
  });
});

test("what many clients do at once is recorded in an order that can be repeated, with programs, blocks and time", async () => {
  await using sandbox = await createSandbox({ seed: "recorded", programs: ["prg_demo", "prg_books"] });
  await sandbox.record("Many at once");
  const { wallets, chain, clock } = sandbox;
  const names = Array.from({ length: 10 }, (_, number) => `Store ${number}`.replace(" ", "-"));
  await Promise.all([
    ...names.map((name) => createMerchant(sandbox, name)),
    wallets.buyer.faucet(1n),
    wallets.stranger.faucet(2n),
  ]);
  await chain.client.mine({ blocks: 3 });
  await clock.travel({ days: 8 });
  const { data } = await createMerchant(sandbox, "renewed");
  expect(data?.name).toBe("renewed");
  const scenario = await sandbox.stopRecording();
  expect(scenario.steps.length).toBeGreaterThanOrEqual(15);
  await playScenario(scenario);
});

test("what the relayer sends again is recorded with the request that it was sent for, and plays back", async () => {
  await using sandbox = await createSandbox({ seed: "sent-again", receiptTimeoutMs: 50 });
  await sandbox.record("A dropped transaction");
  const session = await Session.open(actorsOf(sandbox.description), silentPrinter);
  const purchase = await createPurchase(session, await enrollMerchant(session), "dropped", "25000000");
  const set = await fetch(`${sandbox.description.urls.control}/faults`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ layer: "relayer", point: "broadcast", action: "drop" }),
  });
  expect(set.status).toBe(201);
  await activate(session, purchase, "activate");
  const scenario = await sandbox.stopRecording();
  expect(scenario.steps.at(-1)).toMatchObject({
    answer: { status: 202 },
    block: expect.any(String),
  });
  expect(await sandbox.relayer.list("prg_demo", { limit: 10 })).toMatchObject([{ status: "confirmed" }]);
  await playScenario(scenario);
});

test("answers that a fault has lost are recorded as lost, and are lost again", async () => {
  await using sandbox = await createSandbox({ seed: "lost" });
  await sandbox.record("Lost answers");
  const set = async (fault: object) => {
    await controlSandbox(sandbox.description, "POST", "/faults", fault);
  };
  const { purchase, decision } = await sandbox.given.purchase({ state: "approved" });
  await set({ intent: "answer-lost", operation: "executeRefund" });
  await set({ layer: "api", action: "partial", match: { operation: "executeRefund" } });
  await set({ layer: "api", point: "before_commit", action: "429", match: { operation: "executeRefund" } });
  await sandbox.client.retrying.refund(purchase, decision);
  const scenario = await sandbox.stopRecording();
  const sent = scenario.steps.flatMap((step) =>
    "api" in step && "answer" in step && step.api.endsWith("/refunds") ? [step.answer] : [],
  );
  expect(sent).toMatchObject([{ status: 429 }, { lost: true }, { lost: true }, { status: 201 }]);
  await playScenario(scenario);
  const { steps } = scenario;
  const answered = steps.map((step) =>
    "answer" in step && "lost" in step.answer ? { ...step, answer: { status: 201, body: {} } } : step,
  );
  await expect(playScenario({ ...scenario, steps: answered })).rejects.toThrow(
    "differs in answer.status: expected 201, got a dropped connection.",
  );
  const unset = steps.filter((step) => !("control" in step));
  await expect(playScenario({ ...scenario, steps: unset })).rejects.toMatchObject({
    code: "scenario_differs",
  });
});

test("a recording needs a title, a fresh sandbox and no restore within", async () => {
  await using sandbox = await createSandbox({ seed: "refused" });
  const snapshot = await sandbox.snapshot();
  await expect(sandbox.record("")).rejects.toThrow("A scenario needs a title");
  await sandbox.record("Restored");
  await expect(sandbox.record("Twice")).rejects.toThrow("A recording is under way");
  await createMerchant(sandbox, "first");
  await sandbox.wallets.buyer.faucet(1n);
  await createMerchant(sandbox, "second");
  await snapshot.restore();
  await expect(sandbox.stopRecording()).rejects.toThrow("Blocks left the chain by a reorg or a restore");
  await sandbox.wallets.buyer.faucet(1n);
  await expect(sandbox.record("Used")).rejects.toThrow("The sandbox has a past");
  await expect(sandbox.stopRecording()).rejects.toThrow("Nothing is being recorded");
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
  const told = Object.entries(headers).filter(([, value]) => value !== undefined);
  const sending = request(base, { method, path, headers: Object.fromEntries(told), agent: false });
  sending.end(body);
  const [response] = await once(sending, "response");
  await once(response.resume(), "end");
  return response.statusCode;
}

/** Records one request to a sandbox, the API's unless told otherwise. */
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
  ["a body that is no JSON", { body: "{ü" }, 400, { raw_body: "{ü" }],
  ["a body of many levels", { body: "[".repeat(10_000) + "]".repeat(10_000) }, 400, {}],
  [
    "a content type and the method GET",
    { line: "GET /v1/routing/capabilities", body: "" },
    200,
    { as: "acct_demo" },
  ],
  ["the header content-encoding: identity", { headers: { "content-encoding": "identity" } }, 201, {}],
  ["an unknown credential", { headers: { authorization: "BEARER  abc" } }, 401, { bearer: "abc" }],
])("a request with %s is repeated", async ([_, asked, status, step]) => {
  const sandbox = await freshSandbox();
  expect(await recordOne(sandbox, asked)).toBe(status);
  const scenario = await sandbox.stopRecording();
  expect(scenario.steps).toMatchObject([{ ...step, answer: { status } }]);
  await playFile(scenario);
});

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
  ["its path is not written as fetch sends it", { line: "POST /v1/routing/../access" }, 404],
])("a recording is refused with the request and the reason: %s", async ([reason, asked, status]) => {
  const sandbox = await freshSandbox();
  expect(await recordOne(sandbox, asked)).toBe(status);
  const stopped = sandbox.stopRecording();
  await expect(stopped).rejects.toMatchObject({ code: "scenario_refused" });
  const { line = "POST /v1/routing/access" } = asked;
  await expect(stopped).rejects.toThrow(`Step 1, ${line}, cannot be repeated: `);
  await expect(stopped).rejects.toThrow(`${reason}.`);
});

test("a request to the control API that a step cannot say is refused too, and the sandbox records on", async () => {
  const sandbox = await freshSandbox();
  expect(await recordOne(sandbox, { line: "PUT /faults" }, "control")).toBe(405);
  await expect(sandbox.stopRecording()).rejects.toThrow(
    "Step 1, PUT /faults, cannot be repeated: only GET, POST, DELETE can be.",
  );
  await sandbox.record("Next");
  await playFile(await sandbox.stopRecording());
});

test("a file that is no scenario is refused with what is wrong and where", async () => {
  const file = join(await temporaryFolder(), "broken.yaml");
  await expect(readScenario(file)).rejects.toThrow(
    /cannot be read: .* \(E[A-Z]+, .*\)\. Name a scenario file\.$/,
  );
  await writeFile(file, "steps: [\n");
  await expect(readScenario(file)).rejects.toThrow(/is not YAML: .* at line 2/);
  await writeFile(file, "format: routing-sandbox-scenario\nversion: 2\n");
  await expect(readScenario(file)).rejects.toThrow(
    /broken\.yaml is not a scenario: \/version must be 1\. Correct that field\.$/,
  );
});

test("the command line records the running sandbox until it is interrupted", async () => {
  const dataDirectory = await temporaryFolder();
  await using sandbox = await createSandbox({ dataDirectory });
  const file = join(dataDirectory, "recorded.yaml");
  const args = [cli, "scenario", "record", file, "--title", "A merchant", "--data-dir", dataDirectory];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  await once(createInterface(child.stdout), "line");
  await createMerchant(sandbox, "first");
  child.kill("SIGINT");
  expect(await exited).toEqual([0, null]);
  const scenario = await readScenario(file);
  expect(scenario).toMatchObject({ title: "A merchant", steps: [{}, { title: "Create a merchant" }] });
});

test("a scenario can state only what answers must say", async () => {
  const sandbox = await freshSandbox();
  await sandbox.record("stated");
  await createMerchant(sandbox, "stated");
  const { end: _, ...recorded } = await sandbox.stopRecording();
  const [access, created] = recorded.steps;
  if (access === undefined || created === undefined || !("answer" in created))
    throw new Error("Two requests.");
  const { answer: __, ...request } = created;
  const stating = (expect: object, more: object[] = []): Scenario =>
    scenarioSchema.parse({ ...recorded, steps: [access, { ...request, expect }, ...more] });
  const body = { status: "pending", funding: { collected: "0" } };
  await playScenario(stating({ status: [201, 202], body }));
  // The same key gets the same bytes; what was issued before is another answer.
  await playScenario(stating({ status: [201] }, [{ ...request, expect: { status: [201], same_as: 2 } }]));

  const differences: [Scenario, object][] = [
    [stating({ status: [409] }), { step: 2, field: "answer.status" }],
    [
      stating({ status: [201], body: { funding: { collected: "1" } } }),
      {
        step: 2,
        field: "answer.body.funding.collected",
        message: expect.stringContaining("expected 1, got 0"),
      },
    ],
    [stating({ status: [201], body: [] }), { step: 2, field: "answer.body" }],
    [
      stating({ status: [201] }, [{ ...request, expect: { status: [201], same_as: 1 } }]),
      { step: 3, field: "answer.body" },
    ],
  ];
  for (const [scenario, difference] of differences)
    await expect(playScenario(scenario)).rejects.toMatchObject(difference);
});
