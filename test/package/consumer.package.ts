import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import manifest from "../../package.json" with { type: "json" };
import { type Consumer, installInto } from "./consumer.ts";
import { expectEveryExport, viemsOf } from "./every-export.ts";
import { run } from "./run.ts";

const { devDependencies } = manifest;
const block = z.object({ result: z.object({ transactions: z.array(z.string()) }) });
let project: Consumer;

beforeAll(async () => {
  const versions = (["vitest", "typescript", "@types/node"] as const).map(
    (name) => `${name}@${devDependencies[name]}`,
  );
  project = await installInto(...versions);
});

afterAll(async () => {
  await project[Symbol.asyncDispose]();
});

async function write(file: string, text: string): Promise<void> {
  await writeFile(join(project.folder, file), text);
}

test("the package contains no Hardhat, no compiler and no Node", async () => {
  const installed = Object.keys(
    JSON.parse(await readFile(join(project.folder, "node_modules", ".package-lock.json"), "utf8")).packages,
  );
  expect(installed).toContain("node_modules/routing-sandbox");
  expect(
    installed.filter((name) => /\/(?:hardhat|solc|@nomicfoundation\/.*)$|^node_modules\/node$/.test(name)),
  ).toEqual([]);
  expect(manifest.engines.node).toBe(`>=${(await project.run("node", "--version")).trim().slice(1)}`);
});

test("on an older Node, every command and every import of the package says in one sentence which Node it needs", async () => {
  const node = join(inject("tooOldNode"), "node");
  const message =
    /routing-sandbox needs Node 22\.14\.0 or newer, and this is Node 20\.19\.0\. Install a newer Node\./;
  const failure = async (...args: string[]) =>
    await run(node, args, { cwd: project.folder, env: project.env }).then(String, ({ message }) => message);
  const bin = join(project.folder, "node_modules", "routing-sandbox", manifest.bin["routing-sandbox"]);
  for (const command of ["start", "doctor", "--help"]) {
    const printed = await failure(bin, command);
    expect(printed).toMatch(message);
    expect(printed).toContain("failed (1)");
    expect(printed).not.toContain("    at ");
  }
  for (const entry of ["routing-sandbox", "routing-sandbox/fixture"])
    expect(await failure("--input-type=module", "--eval", `await import("${entry}")`)).toMatch(message);
});

test("the first test that the README shows passes in an empty project", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const shown = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  expect(shown).toContain('expect(refund.status).toBe("collected")');
  expect(shown.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
  await write("first.test.ts", shown);
  // The runner's own limit of a test is five seconds, and the first one starts a sandbox.
  const options = ["--no-color", "--testTimeout=60000"];
  expect(await project.run("npx", "vitest", "run", ...options)).toMatch(/Tests +1 passed \(1\)/);
});

test("without a viem of its own, the project has one, and strict TypeScript accepts uses of each export, including the declarations of all packages", async () => {
  expect(await viemsOf(project)).toEqual([["node_modules/viem", { version: expect.stringMatching(/^2\./) }]]);
  await expectEveryExport(project);
});

describe("the command line", () => {
  test("starts a sandbox that status, demo and explain work on, and stops it", async () => {
    const ports = ["api", "docs", "rpc", "control"].flatMap((name) => [`--${name}-port`, "0"]);
    const { folder: cwd, env } = project;
    const bin = join(cwd, "node_modules", ".bin", "routing-sandbox");
    const sandbox = spawn(bin, ["start", "--json", ...ports], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(sandbox, "exit");
    try {
      const [line] = await Promise.race([
        once(createInterface(sandbox.stdout), "line"),
        exited.then(([code]) => Promise.reject(new Error(`start ended with ${code}.`))),
      ]);
      const { urls, pid } = JSON.parse(line);
      expect(JSON.parse(await project.run("npx", "routing-sandbox", "status", "--json"))).toMatchObject({
        pid,
      });
      expect(await project.run("npx", "routing-sandbox", "demo")).toContain("Done. Token 0x");
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "eth_getBlockByNumber",
        params: ["latest", false],
      });
      const headers = { "Content-Type": "application/json" };
      const answer = await (await fetch(urls.rpc, { method: "POST", headers, body })).json();
      // The last thing that the demo does is a payment from the wrong wallet.
      const [hash = ""] = block.parse(answer).result.transactions;
      await expect(project.run("npx", "routing-sandbox", "explain", hash)).rejects.toThrow(
        "✗ wallet: expected",
      );
      expect(await (await fetch(`${urls.docs}/portal/docs.md`)).text()).toContain(urls.api);
      const script = await fetch(`${urls.api}/assets/wallet/main.js`);
      expect([script.status, script.headers.get("content-type")]).toEqual([
        200,
        "text/javascript; charset=utf-8",
      ]);
    } finally {
      sandbox.kill("SIGINT");
      await exited;
    }
    expect(sandbox.exitCode).toBe(0);
    await expect(access(join(cwd, ".sandbox", "sandbox.json"))).rejects.toThrow("ENOENT");
  });

  test("names its file in commands to run next when npx has fetched it for a single command", async () => {
    const { env } = project;
    const folder = join(project.folder, "..", "empty");
    await mkdir(folder);
    const file = `file:${inject("tarball")}`;
    const ran = run("npx", ["--yes", file, "status"], { cwd: folder, env });
    await expect(ran).rejects.toThrow(`Start one with npx ${file} start, or`);
  });

  test("runs the demo on a fresh sandbox", async () => {
    expect(await project.run("npx", "routing-sandbox", "demo")).toContain("Done. Token 0x");
  });

  test("checks a contract, with the attacker contracts of the package", async () => {
    const script =
      'import("routing-sandbox/contracts").then((c) => console.log(c.contractArtifactFile("PurchaseRegistrar")))';
    const artifact = (await project.run("node", "--eval", script)).trim();
    const [report] = JSON.parse(
      await project.run("npx", "routing-sandbox", "check-contract", "--json", "--artifact", artifact),
    );
    expect(report).toMatchObject({ passed: true });
  });
});

test("a prepared chain that is damaged or of another Anvil is refused with what to do, and nothing is compiled", async () => {
  const start = async () =>
    await project.run("npx", "routing-sandbox", "demo").then(
      () => "It started.",
      (error: Error) => error.message,
    );
  const { folder } = project;
  const changes: [file: string, change: (text: string) => string, refusal: RegExp][] = [
    [
      "@foundry-rs/anvil/package.json",
      (text) => text.replace('"version": "1.7.1"', '"version": "1.7.2"'),
      /made for other contracts or another Anvil than are installed \(1\.7\.2\); install routing-sandbox again/,
    ],
    [
      "routing-sandbox/dist/artifacts/contracts/TestUSDC.sol/TestUSDC.json",
      (text) => text.slice(0, -9),
      /TestUSDC\.json is missing or broken; install routing-sandbox again/,
    ],
  ];
  for (const [name, change, refusal] of changes) {
    const file = join(folder, "node_modules", name);
    const text = await readFile(file, "utf8");
    expect(change(text)).not.toBe(text);
    await rm(file);
    await writeFile(file, change(text));
    expect(await start()).toMatch(refusal);
    await writeFile(file, text);
  }
  expect(await start()).toBe("It started.");
});
