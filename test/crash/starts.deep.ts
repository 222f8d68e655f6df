import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { processesWith } from "../../sandbox/lib/processes/processes.ts";
import { anyPorts, runIn } from "../kit/run-in-background.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** STARTS makes a shorter or longer run. */
const starts = Number(process.env["STARTS"] ?? 200);

/** The ways in which a sandbox ends, each in turn. */
const ends = ["stop", "SIGTERM", "SIGKILL", "exec"] as const;

test(`${starts} starts and stops leave no process, port, lock or file`, { timeout: 36_000_000 }, async () => {
  const folder = await temporaryFolder();
  const directory = join(folder, ".sandbox");
  for (let start = 0; start < starts; start += 1) {
    const end = ends[start % ends.length] ?? "stop";
    const urls = end === "exec" ? await runAround(folder) : await startAndEnd(folder, end);
    const round = `start ${start + 1}, ended by ${end}`;
    expect(await processesWith("TMPDIR", folder), round).toEqual([]);
    expect(
      (await readdir(folder)).filter((name) => name !== ".sandbox"),
      round,
    ).toEqual([]);
    expect((await readdir(directory)).sort(), round).toEqual([".gitignore", "sandbox.log", "store"]);
    for (const url of urls) await expect(fetch(url), `${round}, ${url}`).rejects.toThrow("fetch failed");
    if (process.env["STARTS_REPORT"]) process.stderr.write(`${round}\n`);
  }
});

async function startAndEnd(folder: string, end: "stop" | NodeJS.Signals): Promise<string[]> {
  const started = await runIn(folder, "start", "--detach", "--json", ...anyPorts);
  expect(started, started.stderr).toMatchObject({ code: 0 });
  const { pid, urls } = JSON.parse(started.stdout);
  if (end !== "stop") process.kill(pid, end);
  // After SIGKILL, stop removes what the sandbox could not.
  expect(await runIn(folder, "stop")).toMatchObject({ code: 0 });
  return Object.values(urls);
}

async function runAround(folder: string): Promise<string[]> {
  const script = 'process.stdout.write(require("fs").readFileSync(process.env.ROUTING_SANDBOX_FILE))';
  const { code, stdout } = await runIn(folder, "exec", "--", process.execPath, "--eval", script);
  expect(code).toBe(0);
  return Object.values(JSON.parse(stdout).urls);
}
