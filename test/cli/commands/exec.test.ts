import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { processesWith } from "../../kit/left-processes.ts";
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
      const ended = await tryCli(["exec", "--confirmations", "0", "--", name]);
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

  test("logs a line for each request with --log-level info, as text with --log-format text", async () => {
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

  test("exits with 0 for --help", async () => {
    const ended = await tryCli(["exec", "--help"]);
    expect(ended).toEqual({ code: 0, stdout: expect.stringContaining("Usage:"), stderr: "" });
  });
});
