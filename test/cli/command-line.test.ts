import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { cli, runCli, startInFolder } from "./program.ts";

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
async function failed(...args: string[]): Promise<{ code: number; stderr: string }> {
  return await promisify(execFile)(process.execPath, [cli, ...args]).then(
    () => Promise.reject(new Error(`${args.join(" ")} did not fail.`)),
    ({ code, stderr }) => ({ code, stderr }),
  );
}

test("status says which sandbox runs", async () => {
  expect(JSON.parse(await run("status", "--json"))).toMatchObject({ seed: "sandbox", pid: process.pid });
});

test("travel moves the time of chain and API", async () => {
  const before = await sandbox.clock.now();
  const { now } = JSON.parse(await run("travel", "1d12h", "--json"));
  expect(now).toBe(before + 36 * 3600);
  expect(await sandbox.clock.now()).toBe(now);
});

test("mine makes as many blocks as it is asked for", async () => {
  const before = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
  expect(await run("mine", "3")).toBe(`The chain is at block ${before + 3n}.\n`);
});

test("mine says when blocks are mined from now on", async () => {
  expect(await run("mine", "--every", "never")).toBe("Blocks are mined by routing-sandbox mine only.\n");
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

test("a command takes no other sandbox for that of its directory, which has gone", async () => {
  const gone = await temporaryFolder();
  const { urls, ...rest } = JSON.parse(await readFile(join(folder, "sandbox.json"), "utf8"));
  const none = expect.stringContaining("start one with npm start");
  for (const left of [JSON.stringify({ ...rest, urls, pid: rest.pid + 1 }), '{"version":1', "{}"]) {
    await writeFile(join(gone, "sandbox.json"), left);
    const before = await sandbox.clock.now();
    expect(await failed("travel", "8d", "--data-dir", gone)).toMatchObject({ code: 1, stderr: none });
    expect(await sandbox.clock.now()).toBe(before);
  }
});

test("a command finishes its work even if the reader of its output has gone", async () => {
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

test("a command says what is wrong and what to do, and fails", async () => {
  expect(await failed("start", "--data-dir", "")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("It is empty. Name a folder, or leave it out for .sandbox."),
  });
  const nowhere = await failed("status", "--data-dir", `${folder}/none`);
  expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining("start one with npm start") });
  const unclear = await failed("travel", "soon");
  expect(unclear).toMatchObject({ code: 1, stderr: expect.stringContaining("such as 8d, 36h") });
});
