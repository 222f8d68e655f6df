import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import type { Scenario } from "../../sandbox/scenarios/scenario.ts";
import { readScenario, writeScenario } from "../../sandbox/scenarios/scenario-file.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { cli, startInFolder } from "./program.ts";
import { type Ended, runCli, startCli, tryCli } from "./run-cli.ts";

let sandbox: Sandbox;
let folder: string;

beforeAll(async () => {
  const started = await startInFolder();
  ({ sandbox, folder } = started);
  return started.end;
});

/** Returns the standard output of a command. */
async function run(...args: string[]): Promise<string> {
  const where = args.includes("--data-dir") ? [] : ["--data-dir", folder];
  return await runCli(...args, ...where);
}

/** The exit code and the complaint of a command that fails. */
async function failed(...args: string[]): Promise<Ended> {
  const ended = await tryCli(args);
  if (ended.code === 0) throw new Error(`${args.join(" ")} did not fail.`);
  return ended;
}

test("status prints which sandbox is running", async () => {
  expect(JSON.parse(await run("status", "--json"))).toMatchObject({ seed: "sandbox", pid: process.pid });
});

test("travel moves the time of chain and API", async () => {
  const before = await sandbox.clock.now();
  const { now } = JSON.parse(await run("travel", "1d12h", "--json"));
  expect(now).toBe(before + 36 * 3600);
  expect(await sandbox.clock.now()).toBe(now);
});

test("mine makes the given number of blocks", async () => {
  const before = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
  expect(await run("mine", "3")).toBe(`The chain is at block ${before + 3n}.\n`);
});

test("mine --every prints when blocks are mined from now on", async () => {
  expect(await run("mine", "--every", "never")).toBe(
    "Blocks are mined only when you run npm run -s sandbox -- mine.\n",
  );
  const { client } = sandbox.chain;
  expect(await client.getAutomine()).toBe(false);
  expect(JSON.parse(await run("mine", "--every", "transaction", "--json"))).toEqual({ every: "transaction" });
  expect(await client.getAutomine()).toBe(true);
  const { stderr } = await failed("mine", "--every", "day");
  expect(stderr).toContain("transaction, never, or a number of seconds");
});

test("snapshot save writes a file from which snapshot load makes a data directory elsewhere", async () => {
  const file = join(folder, "saved.snapshot");
  const saved = JSON.parse(await run("snapshot", "save", file, "--json"));
  expect(saved).toEqual({ file, bytes: (await stat(file)).size });
  const elsewhere = join(folder, "elsewhere");
  const { digest } = JSON.parse(await run("snapshot", "load", file, "--json", "--data-dir", elsewhere));
  expect(digest).toBe((await sandbox.fingerprint()).digest);
  expect(existsSync(join(elsewhere, "store", "store.json"))).toBe(true);
});

test("fingerprint prints the digest of the running sandbox, and fails with both digests when another one is expected", async () => {
  const current = await sandbox.fingerprint();
  expect(await run("fingerprint")).toBe(`${current.digest}\n`);
  expect(JSON.parse(await run("fingerprint", "--json", "--expect", current.digest))).toEqual(current);
  const other = `0x${"1".repeat(64)}`;
  expect(await failed("fingerprint", "--expect", other, "--data-dir", folder)).toMatchObject({
    code: 1,
    stderr: `The fingerprint is ${current.digest}, not ${other} as --expect says. Compare the steps of the runs, or pass the new digest.\n`,
  });
  expect(await failed("fingerprint", "--expect", "0x12")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Pass 0x and 64 hex digits, as fingerprint prints them."),
  });
});

/** Returns a scenario in which a step expects another status. */
function expectStatus(scenario: Scenario, changed: number, status: number, title?: string): Scenario {
  const steps = scenario.steps.map((step, index) =>
    index === changed && "answer" in step && "status" in step.answer
      ? { ...step, ...(title === undefined ? {} : { title }), answer: { ...step.answer, status } }
      : step,
  );
  return { ...scenario, steps };
}

test("scenario play --junit reports each step, the differing field, and which steps did not run", {
  tags: "thorough",
}, async () => {
  const shipped = fileURLToPath(new URL("../../examples/scenarios/lost-response.yaml", import.meta.url));
  const scenario = await readScenario(shipped);
  const altered = join(folder, "altered.yaml");
  await writeScenario(altered, expectStatus(scenario, 1, 299, 'Create <a> & "b"'));
  const report = join(folder, "report.xml");
  const { code, stderr } = await failed("scenario", "play", shipped, altered, "--junit", report);
  const named = 'Step 2 (Create <a> & "b") differs in answer.status: expected 299, got 201 ';
  expect([code, stderr]).toEqual([1, expect.stringContaining(named)]);
  const xml = await readFile(report, "utf8");
  const count = scenario.steps.length + 1;
  expect(xml).toContain(`<testsuite name="${scenario.title}" tests="${count}" failures="0">`);
  expect(xml).toContain(
    `<testsuite name="${scenario.title}" tests="${count}" failures="1" skipped="${count - 2}">`,
  );
  expect(xml).toContain('name="2. Create &lt;a&gt; &amp; &quot;b&quot;" time="0">');
  expect(xml).toContain(
    '<failure message="Step 2 (Create &lt;a&gt; &amp; &quot;b&quot;) differs in answer.status: expected 299, got 201 ',
  );
  expect(xml.match(/<testcase /g)).toHaveLength(2 * count);
  expect(xml.match(/<skipped\/>/g)).toHaveLength(count - 2);
});

/** A credential (`c`) or an account key (`k`) in its form. */
const secret = (kind: "c" | "k") => `rs${kind}_${"7f".repeat(16)}`;

test("scenario play redacts credentials in its output and its report, also in titles, and keeps the field that differs", async () => {
  const shipped = fileURLToPath(new URL("../../examples/scenarios/direct.yaml", import.meta.url));
  const scenario = await readScenario(shipped);
  const altered = join(folder, "credential.yaml");
  const titled = expectStatus(scenario, 0, 200, `With ${secret("c")}`);
  await writeScenario(altered, { ...titled, title: `Of ${secret("k")}` });
  const report = join(folder, "credential.xml");
  const { stdout, stderr } = await failed("scenario", "play", altered, "--junit", report);
  expect(stdout).toMatch(/^Of rsk_redacted_[0-9a-f]{8}\n$/);
  expect(await readFile(report, "utf8")).toMatch(/name="1\. With rsc_redacted_[0-9a-f]{8}"/);
  for (const text of [stderr, await readFile(report, "utf8")])
    expect(text).toContain("differs in answer.status: expected 200, got 201 ");
  for (const text of [stdout, stderr, await readFile(report, "utf8")]) {
    expect(text).not.toMatch(/rs[ck]_(?!redacted)/);
  }
});

test.each([
  ["scenario", "play", "examples/scenarios/direct.yaml", "--junit"],
  ["check-contract", "--artifact", "artifact.json", "--junit"],
  ["check-contract", "--artifact", "artifact.json", "--gas-baseline"],
  ["scenario", "record", "--data-dir", "none"],
])(
  "%s %s says that the file that it writes at its end cannot be written before it begins",
  async (...args) => {
    const taken = join(await temporaryFolder(), "taken.xml");
    await mkdir(`${taken}.next`);
    for (const [file, reason] of [
      [join(folder, "none", "report.xml"), "there is no such file"],
      [folder, "a directory has this name"],
      // The permissions of this directory let root write to it.
      [
        "/proc/report.xml",
        process.getuid?.() === 0 ? "there is no such file" : "this user has no permission",
      ],
      // The file that the report is written to first.
      [taken, "a directory has this name"],
    ] as const)
      expect(await failed(...args, file)).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(`^${file} cannot be written: ${reason} .*\\. Pass another file\\.\n$`),
      });
  },
);

test("a command does not act on another sandbox if that of its directory has ended", async () => {
  const gone = await temporaryFolder();
  const { urls, ...rest } = JSON.parse(await readFile(join(folder, "sandbox.json"), "utf8"));
  const none = expect.stringContaining("Start one with npm start");
  for (const left of [JSON.stringify({ ...rest, urls, pid: rest.pid + 1 }), '{"version":1', "{}"]) {
    await writeFile(join(gone, "sandbox.json"), left);
    const before = await sandbox.clock.now();
    expect(await failed("travel", "8d", "--data-dir", gone)).toMatchObject({ code: 1, stderr: none });
    expect(await sandbox.clock.now()).toBe(before);
  }
});

test("a command finishes its work even if its output is no longer read", async () => {
  const before = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
  const child = spawn(process.execPath, [cli, "mine", "3", "--data-dir", folder], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  const complaint = text(child.stderr);
  expect(await once(child, "exit")).toEqual([0, null]);
  expect(await complaint).toBe("");
  expect(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 })).toBe(before + 3n);
});

test.for<[command: string, message: string]>([
  ["start --data-dir ", "error: --data-dir is empty. Name a folder.\n"],
  ["start --detach --log-file ", "error: --log-file is empty. Name a file.\n"],
  ["check-contract --artifact ", "error: --artifact is empty. Name a file.\n"],
  ["explain --typed-data ", "error: --typed-data is empty. Name a file.\n"],
  ["scenario play ", "error: <files> is empty. Name a file.\n"],
  ["start --api-port abc", "It must be a whole number from 0 to 65535."],
  ["listen --port 99999", "It must be a whole number from 0 to 65535."],
  ["given --data-dir FOLDER", "error: given needs merchant or purchase."],
  ["given", "error: given needs merchant or purchase."],
  ["fault", "error: fault needs set, list, or clear."],
  ["fault sett", "error: fault has no command sett. Use set, list, or clear."],
  ["given purchase --stat paid", "error: unknown option '--stat'\n(Did you mean --state?)"],
  ["given purchase --data-dir FOLDER", "error: required option '--state <state>' not specified"],
  ["join --stor x", "error: unknown option '--stor'\n(Did you mean --store?)"],
  ["join", "error: required option '--store <url>' not specified\nRun with --help to list the options."],
  ["check-contract --artefact x.json", "error: unknown option '--artefact'\n(Did you mean --artifact?)"],
  [
    "start --data-dir FOLDER/new --from FOLDER/none --store postgres://127.0.0.1/unused",
    "A snapshot file cannot be loaded into a database. Leave out --store or --from.\n",
  ],
  [
    "start --data-dir FOLDER/new --store mysql://secret@localhost/shop --api-port 0 --docs-port 0 --control-port 0 --rpc-port 0",
    "--store must be a URL as in postgres://",
  ],
  [
    "start --data-dir FOLDER",
    "runs a sandbox in FOLDER. Stop it, or choose another directory with --data-dir.\n",
  ],
  [
    "data verify --data-dir FOLDER/new",
    "FOLDER/new contains no sandbox. Name the data directory of a sandbox with --data-dir.\n",
  ],
  [
    "join --store postgres://127.0.0.1/shop?table=x",
    "--store takes schema and host after the question mark, not table.\n",
  ],
  ["check-contract", "error: required option '--artifact <path...>' not specified"],
  ["fault set", "error: fault set needs a fault. Pass its name, or --layer and --action."],
  [
    "fault set slow --layer api",
    "error: fault set takes either slow or --layer and --action. Leave one of them out.",
  ],
  ["fault set slow --delay 60001", "It must be a whole number from 1 to 60000."],
  ["fault set slow --header x", 'Write a name and a value, such as "Retry-After: 3".'],
  [
    "fault set answer-lost --depth 1 --status 300 --data-dir FOLDER",
    "answer-lost takes no --depth or --status. Leave them out.\n",
  ],
  [
    "fault set --layer delivery --action reset --header a:b --data-dir FOLDER",
    "--header is for answer only. Leave it out for reset.\n",
  ],
  [
    "fault set --layer rpc --action refuse --method eth_x --data-dir FOLDER",
    '--method must be a method of the node, such as "eth_sendRawTransaction", not "eth_x".\n',
  ],
  ["status --wide", "error: unknown option '--wide'\nRun with --help to list the options."],
  ["travel 8", 'duration "8" has no unit. Use 8s, 8m, 8h or 8d.'],
  ["travel 9999999d --data-dir FOLDER", "The clock moves up to 9999-01-01T00:00:00.000Z, which "],
  ["travel 0s", 'duration "0s" is not above zero. Use a longer one, such as 8d.'],
  [
    "travel soon",
    'error: duration "soon" is invalid. It must be a duration such as 8d, 36h, 90m, 30s or 1d12h.',
  ],
  [
    "mine 3 --every never",
    "error: mine takes a number of blocks or --every, not both. Leave one of them out.",
  ],
  ["mine 0", 'error: blocks "0" is invalid. It must be a whole number from 1 to '],
  ["fault set lost", 'error: name "lost" is invalid. Allowed choices are answer-lost, '],
  [
    "fault set --layer relay",
    "error: option '--layer <layer>' argument 'relay' is invalid. Allowed choices are api, ",
  ],
  ["explain 0x12", 'hash "0x12" is not a transaction hash. Pass 0x and 64 hexadecimal digits.\n'],
  ["status --data-dir FOLDER/none", "No sandbox runs in FOLDER/none. Start one with npm start"],
  ["demo --data-dir FOLDER/none", "No sandbox runs in FOLDER/none. Start one with npm start"],
  [
    "resume op_x --data-dir FOLDER",
    "There is no relay operation op_x. GET …/transactions and the explorer's Relayer view list the ids.\n",
  ],
  [
    "scenario record x.yaml --data-dir FOLDER",
    "The sandbox has been used already, and a scenario starts from a fresh one. Start it with --fresh and --mode deterministic, or start one in another directory (--data-dir).\n",
  ],
])("%s fails with what to do", async ([command, message]) => {
  const { code, stderr } = await failed(...command.replaceAll("FOLDER", folder).split(" "));
  expect(code).toBe(1);
  expect(stderr).toContain(message.replaceAll("FOLDER", folder));
});

test("start says how to run the demo in its data directory", async () => {
  const elsewhere = await temporaryFolder();
  const ports = ["--api-port", "0", "--docs-port", "0", "--control-port", "0", "--rpc-port", "0"];
  const { stdout, exited, kill } = startCli(["start", "--data-dir", elsewhere, ...ports]);
  let output = "";
  for await (const chunk of stdout) {
    output += String(chunk);
    if (output.includes("Ctrl-C stops everything")) kill("SIGTERM");
  }
  expect(await exited).toBe(0);
  expect(output).toContain(`To run the demo: npm run demo -- --data-dir ${elsewhere}. Ctrl-C`);
});

test.each([
  ["given", "purchase", "--state", "paid"],
  ["fault", "set", "slow"],
  ["mine"],
  ["trace", "unwritten.html"],
])("%s says what to do when the sandbox closes the connection", async (...command) => {
  const elsewhere = await temporaryFolder();
  const server = createServer((request, response) => {
    if (request.url === "/status") response.end(JSON.stringify(description));
    else request.socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("This is no TCP server.");
  const description = { pid: process.pid, urls: { control: `http://127.0.0.1:${address.port}` } };
  await writeFile(join(elsewhere, "sandbox.json"), JSON.stringify(description));
  await expect(runCli(...command, "--data-dir", elsewhere)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      "The sandbox ended, or closed the connection, before its response was complete. See routing-sandbox status",
    ),
  });
});
