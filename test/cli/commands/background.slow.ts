import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readOwner } from "../../../sandbox/data-directory/lock.ts";
import { processesWith } from "../../kit/left-processes.ts";
import { anyPorts, runIn } from "../../kit/run-in-background.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { cli } from "../program.ts";
import { runCli } from "../run-cli.ts";

describe("a sandbox in the background", () => {
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

  test("appends its output to a named file, and ends after SIGHUP: it leaves no process, no lock and no keys", async () => {
    const folder = await temporaryFolder();
    const log = join(folder, "logs", "sandbox.txt");
    const { stdout } = await runIn(folder, "start", "--detach", "--log-file", log, ...anyPorts);
    expect(stdout).toContain(
      `The sandbox runs in the background and writes to ${log}. To stop it: npm run -s sandbox -- stop.\n`,
    );
    const { pid } = JSON.parse(await readFile(join(folder, ".sandbox", "sandbox.json"), "utf8"));
    process.kill(pid, "SIGHUP");
    await expect.poll(async () => await processesWith("TMPDIR", folder)).toEqual([]);
    expect(await readFile(log, "utf8")).toContain("Stopping after termination …");
    expect(await readdir(join(folder, ".sandbox"))).toEqual([".gitignore", "store"]);
  });

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
    // It is the command, or already the process that it has started.
    await expect.poll(owner, { interval: 1 }).toBeDefined();
    expect(await runCli("stop", "--data-dir", directory)).toMatch(
      /^Stopped the sandbox in \S+ \(process \d+\)\.\n$/,
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
    // From the folder in which the sandbox was started, commands find it without --data-dir.
    expect((await runIn(folder, "stop")).stdout).toBe(
      `The sandbox in .sandbox (process ${pid}) had been killed. Removed its lock and its keys.\n`,
    );
    const again = await runCli("stop", "--json", "--data-dir", join(folder, ".sandbox"));
    expect(JSON.parse(again)).toEqual({
      stopped: false,
      pid: null,
      removed: null,
    });
    expect((await readdir(join(folder, ".sandbox"))).sort()).toEqual([".gitignore", "sandbox.log", "store"]);
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
  expect(await readdir(join(folder, ".sandbox"))).toEqual([".gitignore", "store"]);
});
