import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { readOwner } from "../../../sandbox/state/data-directory/lock.ts";
import { processesWith } from "../../kit/left-processes.ts";
import { anyPorts, runIn } from "../../kit/run-in-background.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { cli } from "../program.ts";

/** Starts a sandbox in the background, ends it by a signal, and returns its folder once no process is left. */
async function startAndKill(signal: NodeJS.Signals): Promise<string> {
  const folder = await temporaryFolder();
  const { stdout } = await runIn(folder, "start", "--detach", "--json", ...anyPorts);
  process.kill(JSON.parse(stdout).pid, signal);
  await expect.poll(async () => await processesWith("TMPDIR", folder)).toEqual([]);
  return folder;
}

describe("a sandbox in the background", () => {
  test("is ready when start --detach ends, prints the same as start, and has ended when stop ends", async () => {
    const folder = await temporaryFolder();
    const started = await runIn(folder, "start", "--detach", "--json", ...anyPorts);
    expect(started).toMatchObject({ code: 0, stderr: "" });
    const description = JSON.parse(started.stdout);
    const directory = join(folder, ".sandbox");
    expect(description).toEqual(JSON.parse(await readFile(join(directory, "sandbox.json"), "utf8")));
    expect((await fetch(`${description.urls.control}/health`)).status).toBe(200);

    const again = await runIn(folder, "start", "--detach", ...anyPorts);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("runs a sandbox in") });

    const { control } = description.urls;
    for (const where of [
      ["--data-dir", directory],
      ["--control", control],
    ]) {
      const waited = await runIn(folder, "status", "--wait", "--json", ...where);
      expect(JSON.parse(waited.stdout)).toMatchObject({ pid: description.pid });
    }
    const stopped = await runIn(folder, "stop", "--json", "--control", control);
    expect(JSON.parse(stopped.stdout)).toEqual({ stopped: true, pid: description.pid, removed: null });
    expect(await processesWith("TMPDIR", folder)).toEqual([]);
    expect((await readdir(directory)).sort()).toEqual(["sandbox.log", "store"]);
    expect(await readFile(join(directory, "sandbox.log"), "utf8")).toContain("runs a sandbox in");
    for (const where of [
      ["--data-dir", directory],
      ["--control", control],
    ])
      expect(await runIn(folder, "stop", ...where)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^No sandbox runs (in|at) /),
      });
  });

  test("appends its output to a named file", async () => {
    const folder = await temporaryFolder();
    const log = join(folder, "logs", "sandbox.txt");
    const { stdout } = await runIn(folder, "start", "--detach", "--log-file", log, ...anyPorts);
    expect(stdout).toContain(
      `The sandbox runs in the background and writes to ${log}. To stop it: npm run -s sandbox -- stop.\n`,
    );
    await runIn(folder, "stop");
    expect(await readFile(log, "utf8")).toContain("Stopping after termination …");
  });

  test("that cannot start leaves nothing, and its error is printed", async () => {
    const folder = await temporaryFolder();
    const { code, stderr } = await runIn(folder, "start", "--detach", "--confirmations", "0", ...anyPorts);
    expect([code, stderr.trim().split("\n").at(-1)]).toEqual([
      1,
      "--confirmations must be a whole number from 1 to 1000, not 0.",
    ]);
    expect(await readdir(folder)).toEqual([]);
  });

  test("that gets SIGHUP ends as with SIGTERM: it leaves no process, no lock and no keys", async () => {
    const folder = await startAndKill("SIGHUP");
    expect((await readdir(join(folder, ".sandbox"))).sort()).toEqual(["sandbox.log", "store"]);
  });

  test.each(["SIGTERM", "SIGHUP", "SIGKILL"] as const)(
    "leaves no process when start --detach gets %s before the sandbox is ready",
    async (signal) => {
      const folder = await temporaryFolder();
      const child = spawn(process.execPath, [cli, "start", "--detach", ...anyPorts], {
        cwd: folder,
        env: { ...process.env, TMPDIR: folder },
        stdio: "ignore",
      });
      const processes = async () => await processesWith("TMPDIR", folder);
      const isStarting = async () =>
        (await processes()).some(({ command }) => command.includes("--detached"));
      await expect.poll(isStarting).toBe(true);
      child.kill(signal);
      await once(child, "exit");
      await expect.poll(processes).toEqual([]);
      expect(existsSync(join(folder, ".sandbox", "lock.json"))).toBe(false);
    },
  );

  test("is found by stop from the first moment of its start on, and does not start later", async () => {
    const folder = await temporaryFolder();
    const directory = join(folder, ".sandbox");
    const child = spawn(process.execPath, [cli, "start", "--detach", ...anyPorts], {
      cwd: folder,
      env: { ...process.env, TMPDIR: folder },
      stdio: "ignore",
    });
    const exited = once(child, "exit");
    const owner = async () => (await readOwner(directory).catch(() => null))?.pid;
    await expect.poll(owner, { interval: 1, timeout: 5_000 }).toBe(child.pid);
    // By now, the directory may have been taken over by the process that start --detach has started.
    expect((await runIn(folder, "stop")).stdout).toMatch(
      /^Stopped the sandbox in \.sandbox \(process \d+\)\.\n$/,
    );
    await exited;
    expect(await processesWith("TMPDIR", folder)).toEqual([]);
    for (const file of ["lock.json", "sandbox.json"]) expect(existsSync(join(directory, file))).toBe(false);
  });

  test("that was killed is removed by stop, which says so: its lock, its description and its Anvil", async () => {
    const folder = await temporaryFolder();
    const { stdout } = await runIn(folder, "start", "--detach", "--json", ...anyPorts);
    const { pid } = JSON.parse(stdout);
    process.kill(pid, "SIGKILL");
    await expect.poll(async () => await processesWith("TMPDIR", folder)).toEqual([]);
    expect((await runIn(folder, "stop")).stdout).toBe(
      `The sandbox in .sandbox (process ${pid}) had been killed. Removed its lock and its keys.\n`,
    );
    expect(JSON.parse((await runIn(folder, "stop", "--json")).stdout)).toEqual({
      stopped: false,
      pid: null,
      removed: null,
    });
    expect((await readdir(join(folder, ".sandbox"))).sort()).toEqual(["sandbox.log", "store"]);
  });
});

test("start ends with 0 after SIGHUP, and leaves no process, no lock and no keys", async () => {
  const folder = await temporaryFolder();
  const child = spawn(process.execPath, [cli, "start", "--json", ...anyPorts], {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  child.kill("SIGHUP");
  expect(await exited).toEqual([0, null]);
  expect(await processesWith("TMPDIR", folder)).toEqual([]);
  expect(await readdir(join(folder, ".sandbox"))).toEqual(["store"]);
});

test("status --wait fails when no sandbox is ready in time, and says what to do", async () => {
  const folder = await temporaryFolder();
  expect(await runIn(folder, "status", "--wait", "--timeout", "1s")).toEqual({
    code: 1,
    stdout: "",
    stderr: "After 1 s: No sandbox runs in .sandbox. Wait longer with --timeout, or start a sandbox.\n",
  });
  expect((await runIn(folder, "status", "--wait", "--timeout", "30")).stderr).toContain(
    "It has no unit. Use 30s.",
  );
});

test("stop refuses the control API of something else", async () => {
  await using sandbox = await createSandbox();
  const folder = await temporaryFolder();
  const { api } = sandbox.description.urls;
  const { code, stderr } = await runIn(folder, "stop", "--control", api);
  expect([code, stderr]).toEqual([
    1,
    `${api} is not the control API of a sandbox that runs as a process here. Stop it where it runs.\n`,
  ]);
});
