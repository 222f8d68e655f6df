import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { processesWith } from "../../../sandbox/lib/processes/processes.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { cli } from "../program.ts";
import { tryCli } from "../run-cli.ts";

interface RunningExec {
  exec: ChildProcess;
  /** Resolves with the first line that the command prints. */
  line: Promise<string>;
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** Returns what exec and all that it started have left: entries of the folder for temporary files, and processes. */
  left: () => Promise<string[]>;
  /** Returns the processes that clean up after the command. */
  guards: () => Promise<{ pid: number }[]>;
}

/** Runs exec with a folder for temporary files that is its own. */
async function run(...args: string[]): Promise<RunningExec> {
  const folder = await temporaryFolder();
  const exec = spawn(process.execPath, [cli, "exec", ...args], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["pipe", "pipe", "pipe"],
  });
  exec.stdin.end("typed");
  const line = once(exec.stdout, "data").then(([data]) => String(data).trim());
  const ended = Promise.all([once(exec, "exit"), text(exec.stdout), text(exec.stderr)]);
  return {
    exec,
    line,
    ended: ended.then(([[code], stdout, stderr]) => ({ code, stdout, stderr })),
    guards: async () =>
      (await processesWith("TMPDIR", folder)).filter(({ command }) => command.includes("trap")),
    left: async () => [
      ...(await readdir(folder)),
      ...(await processesWith("TMPDIR", folder)).map(({ command }) => command),
    ],
  };
}

/** Runs a program of Node as the command. */
const node = (program: string) => ["--", process.execPath, "--input-type=module", "--eval", program];

describe("exec", () => {
  test("runs a command with its own sandbox, passes on input, output and exit code, and leaves nothing behind", async () => {
    const program = `
      const { ROUTING_API_URL, ROUTING_DOCS_URL, ROUTING_RPC_URL, ROUTING_CONTROL_URL, ROUTING_SANDBOX_FILE } = process.env;
      const { readFile } = await import("node:fs/promises");
      const { urls } = JSON.parse(await readFile(ROUTING_SANDBOX_FILE, "utf8"));
      const named = { api: ROUTING_API_URL, docs: ROUTING_DOCS_URL, rpc: ROUTING_RPC_URL, control: ROUTING_CONTROL_URL };
      const { status } = await fetch(ROUTING_API_URL + "/v1/routing/capabilities");
      const { text } = await import("node:stream/consumers");
      console.log(JSON.stringify({ urls, named, status, input: await text(process.stdin), argument: process.argv[1] }));
      process.exit(7);`;
    const { ended, left } = await run("--json", ...node(program), "--", "--json");
    const { code, stdout, stderr } = await ended;
    const { urls, ...seen } = JSON.parse(stdout);
    expect(seen).toEqual({ named: urls, status: 200, input: "typed", argument: "--json" });
    expect(JSON.parse(stderr)).toEqual({ urls });
    expect(code).toBe(7);
    expect(await left()).toEqual([]);
  });

  test("exits with 128 and the number of the signal that ended the command", {
    tags: "thorough",
  }, async () => {
    const [terminated, killed] = [
      await run("--", "sh", "-c", "kill -TERM $$"),
      await run("--", "sh", "-c", "kill -KILL $$"),
    ];
    expect(await terminated.ended).toMatchObject({ code: 143, stderr: "" });
    expect(await killed.ended).toMatchObject({ code: 137, stderr: "" });
    expect([...(await terminated.left()), ...(await killed.left())]).toEqual([]);
  });

  test("refuses a command that is missing with 127 and one that cannot be executed with 126, before it starts anything", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "plain"), "", { mode: 0o644 });
    await mkdir(join(folder, "folder"));
    for (const [name, code, message] of [
      ["no-such-command", 127, '"no-such-command" is in no folder of PATH. Install it, or pass its path.\n'],
      [join(folder, "missing"), 127, `${join(folder, "missing")} does not exist. Name a program.\n`],
      [join(folder, "plain"), 126, `${join(folder, "plain")} cannot be executed: `],
      [join(folder, "folder"), 126, `${join(folder, "folder")} cannot be executed: `],
    ] as const) {
      const ended = await tryCli(["exec", "--listen", "nowhere", "--", name]);
      expect(ended, name).toEqual({ code, stdout: "", stderr: expect.stringContaining(message) });
    }
  });

  test("exits with 125 when the sandbox cannot start, and says what to do", async () => {
    const { ended, left } = await run("--api-port", "4999", "--control-port", "4999", "--", "echo", "run");
    expect(await ended).toEqual({
      code: 125,
      stdout: "",
      stderr:
        "--api-port and --control-port have the same port 4999. Choose another port for one of them, or 0 for any free port.\n",
    });
    expect(await left()).toEqual([]);
  });

  test.each([
    ["an unknown option", ["--sed", "x", "--", "true"], "unknown option '--sed'"],
    ["an invalid value", ["--api-port", "x", "--", "true"], "'--api-port"],
    ["no command", [], "missing required argument"],
    ...[
      ["--auto-deliver", "true", "--", "false"],
      ["--fresh", "true", "false"],
    ].map((args): [string, string[], string] => [
      `a value of an option that takes none: ${args.join(" ")}`,
      args,
      '"true" is before the command. An option such as --auto-deliver takes no value: leave out "true".',
    ]),
    ["runs to compare of which there is one", ["--expect-equal", "--", "true"], "Pass --repeat 2 or more."],
    [
      "runs to compare that cannot be equal",
      ["--repeat", "2", "--expect-equal", "--mode", "live", "--", "true"],
      "With --mode live, the clock makes all runs differ. Leave out --mode, or leave out --expect-equal.",
    ],
  ])("exits with 125 for %s, which no exit code of a command can be taken for", async (_, args, message) => {
    const ended = await tryCli(["exec", ...args]);
    expect(ended).toEqual({ code: 125, stdout: "", stderr: expect.stringContaining(message) });
  });

  test("names --expect-equal where it is what sets the mode", async () => {
    const directory = join(await temporaryFolder(), "live");
    await (await createSandbox({ dataDirectory: directory, mode: "live" })).close();
    const compare = ["--repeat", "2", "--expect-equal", "--data-dir", directory];
    expect((await tryCli(["exec", ...compare, "--", "true"])).stderr).toContain(
      "not with mode deterministic. Leave out --expect-equal to continue with it,",
    );
  });

  test("logs a line for each request with --log-level info, as text with --log-format text", {
    tags: "thorough",
  }, async () => {
    const program = `await fetch(process.env.ROUTING_API_URL + "/v1/routing/capabilities")`;
    const log = async (...options: string[]) => await tryCli(["exec", ...options, ...node(program)]);
    expect((await log("--log-level", "info", "--log-format", "text")).stderr).toMatch(
      /^\S+Z info request request_id=req_[a-z2-7]{20} method=GET path=\/v1\/routing\/capabilities status=200 code=null caller=anyone replayed=false\n$/,
    );
    expect(JSON.parse((await log("--log-level", "info")).stderr)).toMatchObject({
      msg: "request",
      request_id: expect.stringMatching(/^req_/),
      path: "/v1/routing/capabilities",
    });
    expect(await log()).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("ends without a word after a command that has left requests in progress", async () => {
    const program = `
      const { readFileSync } = await import("node:fs");
      const { connect } = await import("node:net");
      const { urls, accounts } = JSON.parse(readFileSync(process.env.ROUTING_SANDBOX_FILE, "utf8"));
      const { host, hostname, port } = new URL(urls.api);
      let sent = 0;
      for (let number = 0; number < 30; number += 1) {
        const socket = connect(Number(port), hostname);
        const lines = ["POST /v1/routing/access HTTP/1.1", "Host: " + host, "Authorization: Bearer " + accounts[0].key];
        lines.push("Idempotency-Key: left-" + number, "Content-Type: application/json", "Content-Length: 2", "", "{}");
        socket.write(lines.join("\\r\\n"), () => (sent += 1) === 30 && process.exit(0));
      }
      setInterval(() => {}, 1_000);`;
    expect(await tryCli(["exec", ...node(program)])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("ends without a word after a command that has left a delivery in progress", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void silent.close());
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const program = `
      const { readFileSync } = await import("node:fs");
      const { urls } = JSON.parse(readFileSync(process.env.ROUTING_SANDBOX_FILE, "utf8"));
      const post = (path, body) =>
        fetch(urls.control + path, { method: "POST", headers: { "content-type": "application/json" }, body });
      await post("/receiver/pin", JSON.stringify({ url: "http://127.0.0.1:${port}" }));
      await post("/given", JSON.stringify({ purchase: { state: "paid" } }));
      post("/deliver", "{}");
      while ((await (await fetch(urls.control + "/requests")).json()).in_progress.length === 0);
      process.exit(0);`;
    expect(await tryCli(["exec", ...node(program)])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("exits with 0 for --help", async () => {
    const ended = await tryCli(["exec", "--help"]);
    expect(ended).toEqual({ code: 0, stdout: expect.stringContaining("Usage:"), stderr: "" });
  });
});

const waiting = "console.log('begun'); setInterval(() => {}, 1_000);";

describe("exec (the further cases)", { tags: "thorough" }, () => {
  test("says so if its cleanup process was killed before the command started, and leaves nothing", async () => {
    const { ended, left, guards } = await run("--", process.execPath, "--version");
    // That of Anvil is another one, which is started later.
    let first = 0;
    await expect
      .poll(async () => {
        first = Math.min(...(await guards()).map(({ pid }) => pid));
        return Number.isFinite(first);
      })
      .toBe(true);
    process.kill(first, "SIGKILL");
    expect(await ended).toEqual({
      code: 125,
      stdout: "",
      stderr:
        "The process that cleans up after the command was killed, so the command was not started. Run exec again.\n",
    });
    expect(await left()).toEqual([]);
  });

  test("makes other routing-sandbox commands use its sandbox", async () => {
    const { ended } = await run(
      "--",
      process.execPath,
      cli,
      "given",
      "purchase",
      "--state",
      "paid",
      "--json",
    );
    const { code, stdout } = await ended;
    expect([code, JSON.parse(stdout).purchase.status]).toEqual([0, "active"]);
  });

  test("forwards SIGINT, SIGTERM and SIGHUP once, waits for the command and exits as it does", async () => {
    const forward = async (signal: NodeJS.Signals) => {
      const program = `let heard = 0; process.on("${signal}", () => { heard += 1; setImmediate(() => process.exit(20 + heard)); });`;
      const { exec, line, ended, left } = await run(...node(program + waiting));
      expect(await line).toBe("begun");
      exec.kill(signal);
      expect(await ended).toMatchObject({ code: 21, stderr: "" });
      expect(await left()).toEqual([]);
    };
    await Promise.all((["SIGINT", "SIGTERM", "SIGHUP"] as const).map(forward));
  });

  test("does not run the command when a signal comes while the sandbox starts", async () => {
    const { exec, ended, left } = await run("--", "echo", "run");
    // Its guard runs from before the start on.
    await expect.poll(async () => (await left()).some((one) => one.includes("rm -rf"))).toBe(true);
    exec.kill("SIGTERM");
    expect(await ended).toEqual({ code: 143, stdout: "", stderr: "" });
    expect(await left()).toEqual([]);
  });

  test("ends what the command has left running", async () => {
    const { ended, left } = await run("--", "sh", "-c", "trap '' HUP; sleep 1000 >/dev/null 2>&1 & exit 3");
    expect((await ended).code).toBe(3);
    expect(await left()).toEqual([]);
  });

  test("leaves no command, Anvil or folder when it is killed itself", async () => {
    const { exec, line, left } = await run(...node(`process.on("SIGTERM", () => process.exit());${waiting}`));
    expect(await line).toBe("begun");
    exec.kill("SIGKILL");
    await expect.poll(left).toEqual([]);
  });

  test("rebuilds the chain when Anvil is killed, and the command continues", async () => {
    const program = `
      const { readFile } = await import("node:fs/promises");
      const { ROUTING_SANDBOX_FILE: file, ROUTING_CONTROL_URL: control } = process.env;
      process.kill(JSON.parse(await readFile(file.replace("sandbox.json", "lock.json"), "utf8")).anvil.pid, "SIGKILL");
      while (!(await fetch(control + "/status")).ok);
      process.exit(5);`;
    const { ended, left } = await run(...node(program));
    expect(await ended).toMatchObject({ code: 5 });
    expect(await left()).toEqual([]);
  });

  test("keeps a data directory that it is given, and resumes it", async () => {
    const folder = join(await temporaryFolder(), "kept");
    for (const paid of ["0", "1"]) {
      const args = ["--data-dir", folder, "--mode", "deterministic", "--"];
      const program = `set -e; "$0" "$1" mine 1 --json --data-dir "$2"`;
      const { ended } = await run(...args, "sh", "-c", program, process.execPath, cli, folder);
      const { code, stdout } = await ended;
      expect([code, JSON.parse(stdout).block_number - Number(paid)]).toEqual([0, expect.any(Number)]);
      expect(await readdir(folder)).toEqual([".gitignore", "store"]);
    }
  });
});
