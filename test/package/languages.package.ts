import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { findChromium } from "../../scripts/test-programs.ts";
import { type Consumer, installInto } from "./consumer.ts";
import { run } from "./run.ts";

const examples = fileURLToPath(new URL("../../examples", import.meta.url));
const { devDependencies } = manifest;

const all = [
  {
    name: "pytest",
    helper: "conftest.py",
    needs: ["python3", "-c", "import pytest, cryptography"],
    command: ["python3", "-m", "pytest", "-q", "-s"],
    passed: /26 passed/,
  },
  {
    name: "go-test",
    helper: "sandbox_test.go",
    needs: ["go", "version"],
    command: ["go", "test", "-count=1", "-v", "./..."],
    passed: /^ok/m,
  },
  {
    name: "shell",
    helper: "purchase.sh",
    needs: ["sh", "-c", "jq --version && curl --version && bash --version"],
    command: ["./purchase.sh"],
    passed: /^/,
  },
  {
    name: "playwright",
    helper: "leased-sandbox.ts",
    needs: [process.execPath, "--version"],
    command: ["npx", "playwright", "test"],
    passed: /1 passed/,
  },
];

let project: Consumer;
beforeAll(async () => {
  project = await installInto(`@playwright/test@${devDependencies["playwright-core"]}`);
  for (const { name } of all) await cp(join(examples, name), join(project.folder, name), { recursive: true });
});
afterAll(async () => await project[Symbol.asyncDispose]());

/** Starts a pool of the installed package, and ends it with the scope. */
async function startPool(size: number): Promise<AsyncDisposable & { url: string }> {
  const { folder: cwd, env } = project;
  const bin = join(cwd, "node_modules", ".bin", "routing-sandbox");
  const options = ["--size", String(size), "--port", "0", "--json", "--seed", "languages"];
  const child = spawn(bin, ["pool", ...options], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [line] = await once(createInterface(child.stdout), "line");
  return {
    url: JSON.parse(String(line)).url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

test.each(all)(
  "the helper of examples/$name has at most 40 lines, and its README ten",
  async ({ name, helper }) => {
    const lines = async (file: string) =>
      (await readFile(join(examples, name, file), "utf8")).trimEnd().split("\n").length;
    expect(await lines(helper)).toBeLessThanOrEqual(40);
    expect(await lines("README.md")).toBe(10);
  },
);

test("suites in all languages refund purchases in parallel on their own leases, twice with equal fingerprints", async () => {
  const installed = all.filter(({ needs: [command = "", ...args] }) => spawnSync(command, args).status === 0);
  await using pool = await startPool(installed.length);
  const env = {
    ...project.env,
    ROUTING_POOL_URL: pool.url,
    ROUTING_VECTORS: join(project.folder, "node_modules", "routing-sandbox", "docs", "vectors.json"),
    CHROMIUM_PATH: findChromium(process.env),
    PYTHONDONTWRITEBYTECODE: "1",
    GOCACHE: join(project.folder, "go-cache"),
  };
  const fingerprintOf = async ({ name, command, passed }: (typeof all)[number]) => {
    const [program = "", ...args] = command;
    const printed = await run(program, args, { cwd: join(project.folder, name), env });
    expect(printed, name).toMatch(passed);
    return [name, /^fingerprint (0x[0-9a-f]{64})$/m.exec(printed)?.[1]] as const;
  };
  const runAll = async () => Object.fromEntries(await Promise.all(installed.map(fingerprintOf)));
  const first = await runAll();
  expect(Object.values(first)).not.toContain(undefined);
  expect(await runAll()).toEqual(first);
  // The steps of both suites are the same.
  if (first["pytest"] && first["go-test"]) expect(first["pytest"]).toBe(first["go-test"]);
});

test("the Playwright example has no type error", async () => {
  const types = (["typescript", "@types/node"] as const).map((name) => `${name}@${devDependencies[name]}`);
  await project.run("npm", "install", ...types);
  const options = ["--strict", "--noEmit", "--skipLibCheck", "--types", "node", "--target", "es2024"];
  const modules = ["--module", "nodenext", "--allowImportingTsExtensions"];
  expect(await project.run("npx", "tsc", ...options, ...modules, "playwright/purchase.spec.ts")).toBe("");
});

test("the examples for Testcontainers have no type error and no syntax error; no container engine runs them", async () => {
  const folder = join(examples, "testcontainers");
  const { testcontainers } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")).devDependencies;
  const types = (["typescript", "@types/node"] as const).map((name) => `${name}@${devDependencies[name]}`);
  await using consumer = await installInto(`testcontainers@${testcontainers}`, ...types);
  await cp(join(folder, "sandbox.test.ts"), join(consumer.folder, "sandbox.test.ts"));
  const options = ["--strict", "--noEmit", "--skipLibCheck", "--types", "node"];
  const modules = ["--module", "nodenext", "--target", "es2024", "--allowImportingTsExtensions"];
  expect(await consumer.run("npx", "tsc", ...options, ...modules, "sandbox.test.ts")).toBe("");
  const compiled = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
  if (spawnSync("python3", ["--version"]).status === 0)
    expect(
      await run("python3", ["-c", compiled, join(folder, "test_sandbox.py")], {
        cwd: folder,
        env: consumer.env,
      }),
    ).toBe("");
});
