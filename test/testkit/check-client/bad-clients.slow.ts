import { execFile } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { packageRoot } from "../../../sandbox/lib/package-root.ts";
import { processesWith } from "../../../sandbox/lib/processes/processes.ts";
import { cli } from "../../cli/program.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

/** Checks a command with a folder for temporary files of its own; `left` returns what is left there, and the processes. */
async function check(command: readonly string[], ...options: string[]) {
  const folder = await temporaryFolder();
  const traces = await temporaryFolder();
  const words = [
    cli,
    "check-client",
    "--given",
    "merchant",
    "--traces",
    traces,
    ...options,
    "--",
    ...command,
  ];
  const { code, stdout, stderr } = await promisify(execFile)(process.execPath, words, {
    env: { ...process.env, TMPDIR: folder },
  }).then(
    (ended) => ({ code: 0, ...ended }),
    (ended: { code: number; stdout: string; stderr: string }) => ended,
  );
  const left = async () => [
    ...(await readdir(folder)),
    ...(await processesWith("TMPDIR", folder)).map((one) => one.command),
  ];
  return { code, stdout, stderr, left };
}

const example = (file: string) => [process.execPath, join(packageRoot(), "examples", "check-client", file)];
const shell = (script: string) => ["sh", "-c", script];
const node = (script: string) => [process.execPath, "--input-type=module", "--eval", script];

/** A file to which each run of a client adds a byte. */
const runs = join(tmpdir(), `routing-sandbox-runs-${process.pid}`);
afterAll(async () => await rm(runs, { force: true }));

/** A client that creates as many purchases as an expression says. */
const selling = (count: string) =>
  node(`
    import { appendFileSync, readFileSync, statSync } from "node:fs";
    const count = ${count};
    const { urls, accounts, wallets } = JSON.parse(readFileSync(process.env.ROUTING_SANDBOX_FILE, "utf8"));
    const post = async (url, body, key) => {
      const headers = { "content-type": "application/json", authorization: "Bearer " + key, "idempotency-key": crypto.randomUUID() };
      return await (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json();
    };
    const { credential } = await post(urls.api + "/v1/routing/access", {}, accounts[0].key);
    const { merchant } = await post(urls.control + "/given", { merchant: { state: "funded" } });
    const parties = { merchant_id: merchant.id, buyer: wallets.buyer.address, beneficiary: wallets.beneficiary.address };
    for (let sold = 0; sold < count; sold += 1)
      await post(urls.api + "/v1/routing/programs/prg_demo/purchases", { ...parties, amount: "1000000", terms: {} }, credential);`);

test.each([
  [
    "fails",
    shell("printf complaint; exit 3"),
    [],
    "complaint\nThe client failed without a fault: it exited with 3.",
  ],
  ["ignores the environment", ["true"], [], "The client succeeded and sent no request to the API."],
  [
    "sends no write",
    node("await fetch(process.env.ROUTING_API_URL + '/v1/routing/capabilities')"),
    [],
    "The client succeeded, and no write of it did.",
  ],
  [
    "is not the same twice",
    selling(`(appendFileSync(${JSON.stringify(runs)}, "x"), statSync(${JSON.stringify(runs)}).size)`),
    [],
    "Two runs of the client without a fault had different effects: ",
  ],
  ["is killed", shell("kill -9 $$"), [], "The client failed without a fault: it exited with 137 (SIGKILL)."],
  [
    "hangs",
    shell("sleep 1000"),
    ["--timeout", "1s"],
    "The client failed without a fault: it did not end within 1 s.",
  ],
  [
    "ends the sandbox",
    [process.execPath, cli, "stop"],
    [],
    "The check was ended by a signal, such as that of routing-sandbox stop.",
  ],
  [
    "has no case of the option",
    selling("1"),
    ["--only", "nothing"],
    "--only, in its operation/fault. Use issueAccess or createPurchase",
  ],
])(
  "a client that %s is refused with 125 and a reason, and nothing is left",
  async (_, command, options, reason) => {
    const { code, stdout, stderr, left } = await check(command, ...options);
    expect(stderr).toContain(reason);
    expect({ code, stdout, left: await left() }).toEqual({ code: 125, stdout: "", left: [] });
  },
);

test.each([
  ["", "sleep 1000"],
  [" in a session of their own", "setsid sleep 1000"],
])("processes that a client leaves%s are ended, and the report says so", async (_, program) => {
  const { code, stderr, left } = await check(
    ["sh", "-c", `${program} & exec "$0" "$@"`, ...selling("1")],
    "--only",
    "createPurchase/answer-lost",
  );
  expect(stderr).toContain("The command left processes after 3 of its runs, which were ended.");
  expect({ code, left: await left() }).toEqual({ code: 0, left: [] });
});

test("a client that kills the sandbox leaves nothing", async () => {
  const kill = 'kill -9 $(node -p "require(process.env.ROUTING_SANDBOX_FILE).pid")';
  const { left } = await check(shell(kill));
  await expect.poll(left, { timeout: 20_000 }).toEqual([]);
});

test("the examples are judged right", async () => {
  const right = await check(example("sell.mjs"), "--only", "createPurchase");
  expect(right.stderr).toMatch(/^Starting a sandbox, and running the command twice without a fault…\n/);
  expect(right.stdout).toContain("The client does nothing twice and loses nothing.");
  const junit = join(await temporaryFolder(), "report.xml");
  const only = ["--only", "createPurchase/answer-lost"];
  const wrong = await check(example("sell-twice.mjs"), ...only, "--junit", junit);
  expect(await readFile(junit, "utf8")).toContain('<failure message="acted_twice: 2 purchases in place of 1');
  expect(wrong.stdout).toContain("acted_twice       answer-lost: 2 purchases in place of 1");
  expect([right.code, wrong.code]).toEqual([0, 1]);
}, 180_000);
