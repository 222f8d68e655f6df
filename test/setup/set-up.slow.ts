import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, chmod, cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { packageVersion } from "../../sandbox/lib/package-version.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { copyCheckout } from "./copied-checkout.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SYSTEM_PATH = "/usr/bin:/bin";

/** A checkout with nothing installed, and a folder of programs that come before those of the machine in PATH. */
async function bareCheckout() {
  const folder = await temporaryFolder();
  const checkout = join(folder, "checkout");
  const programs = join(folder, "programs");
  await mkdir(join(checkout, "scripts"), { recursive: true });
  await mkdir(programs);
  for (const file of ["package.json", "package-lock.json", "scripts/setup.mjs"]) {
    await cp(join(ROOT, file), join(checkout, file));
  }
  return { checkout, programs, home: folder };
}

async function writeProgram(folder: string, name: string, script: string) {
  const file = join(folder, name);
  // A file that is being executed takes no writes: another one takes its place.
  await writeFile(`${file}.new`, `#!/bin/sh\n${script}\n`);
  await chmod(`${file}.new`, 0o755);
  await rename(`${file}.new`, file);
}

function setUp(checkout: string, environment: Record<string, string>) {
  const child = spawn(process.execPath, [join(checkout, "scripts", "setup.mjs")], {
    env: { PATH: SYSTEM_PATH, ...environment },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return { child, result: finished(child) };
}

async function finished(child: ChildProcess) {
  const [output, [code]] = await Promise.all([
    child.stderr === null ? "" : text(child.stderr),
    once(child, "exit"),
  ]);
  return { code, output };
}

/** A longer timeout than the one second that vitest polls by default, which a busy machine can exceed. */
const asLongAsTheTest = { timeout: 60_000 };

describe("a set-up that cannot continue", () => {
  test("says that the registry cannot be reached", async () => {
    const { checkout, programs, home } = await bareCheckout();
    const { result } = setUp(checkout, {
      PATH: `${programs}:${SYSTEM_PATH}`,
      HOME: home,
      npm_config_registry: "http://127.0.0.1:9",
      npm_config_fetch_retries: "0",
    });
    const { code, output } = await result;
    expect(output).toMatch(/^\[set-up +\d+\.\d s\] installing packages/m);
    expect(output).toMatch(/^set-up: The package registry cannot be reached; check the network.*again\.$/m);
    expect(code).toBe(1);
    expect((await readdir(checkout)).sort()).toEqual(["package-lock.json", "package.json", "scripts"]);
  }, 60_000);

  test("says that npm is missing", async () => {
    const { checkout, programs, home } = await bareCheckout();
    const { code, output } = await setUp(checkout, { PATH: programs, HOME: home }).result;
    expect(output).toMatch(/^set-up: npm \(with npx\) was not found; install it with Node/m);
    expect(code).toBe(1);
  });

  test("says that npm left out a package", async () => {
    const { checkout, programs, home } = await bareCheckout();
    await writeProgram(programs, "npx", "mkdir -p node_modules");
    const { code, output } = await setUp(checkout, { PATH: `${programs}:${SYSTEM_PATH}`, HOME: home }).result;
    expect(output).toMatch(/^set-up: npm finished, but the pinned Node is missing; remove node_modules/m);
    expect(code).toBe(1);
  });

  test("says that the checkout is incomplete", async () => {
    const { checkout, home } = await bareCheckout();
    await rm(join(checkout, "package-lock.json"));
    const { code, output } = await setUp(checkout, { HOME: home }).result;
    expect(output).toMatch(/^set-up: package-lock\.json is missing; run the command in a complete checkout/m);
    expect(code).toBe(1);
  });

  test.for([
    ["npm error code ENOSPC", /disk is full/],
    ["npm error code ENOTFOUND", /registry cannot be reached/],
    ["npm error code E401", /refused access/],
    ["npm error code ETARGET", /lacks a pinned version/],
    ["npm error code EACCES", /cannot be written/],
    ["npm error code EINTEGRITY", /damaged; run npm cache clean/],
    ["npm error code SELF_SIGNED_CERT_IN_CHAIN", /certificate is not trusted/],
    ["npm error something else", /remove node_modules/],
  ] as const)("explains what npm means by %s", async ([complaint, sentence]) => {
    const { checkout, programs, home } = await bareCheckout();
    await writeProgram(programs, "npx", `echo "${complaint}" >&2; exit 1`);
    const { output } = await setUp(checkout, { PATH: `${programs}:${SYSTEM_PATH}`, HOME: home }).result;
    const [shown, last] = output.trim().split("\n").slice(-2);
    expect(shown).toBe(complaint);
    expect(last).toMatch(sentence);
    expect(last).toMatch(/^set-up: .*[^.]\.$/);
  });

  test.for([
    ["an old Node", "versions", { node: "18.20.0" }, /This is Node 18\.20\.0; install Node 20 or newer/],
    ["a platform without Anvil", "platform", "win32", /There is no Anvil for win32-.*WSL/],
  ] as const)("names %s", async ([, property, value, sentence]) => {
    const { checkout, home } = await bareCheckout();
    const pretend = `Object.defineProperty(process, "${property}", { value: ${JSON.stringify(value)} })`;
    const options = `--import=data:text/javascript,${encodeURIComponent(pretend)}`;
    const { code, output } = await setUp(checkout, { HOME: home, NODE_OPTIONS: options }).result;
    expect(output).toMatch(sentence);
    expect(code).toBe(1);
  });
});

describe("set-ups in one checkout", () => {
  const INSTALL = 'echo begin >> "$HOME/log"; sleep 0.1; echo end >> "$HOME/log"; exit 1';

  test("install one after the other", async () => {
    const { checkout, programs, home } = await bareCheckout();
    await writeProgram(programs, "npx", INSTALL);
    const environment = { PATH: `${programs}:${SYSTEM_PATH}`, HOME: home };
    const runs = [1, 2, 3].map(() => setUp(checkout, environment).result);
    expect((await Promise.all(runs)).map(({ code }) => code)).toEqual([1, 1, 1]);
    expect(await readFile(join(home, "log"), "utf8")).toBe("begin\nend\n".repeat(3));
  });

  test("do not wait for one that was killed", async () => {
    const { checkout, programs, home } = await bareCheckout();
    await writeProgram(programs, "npx", "sleep 60");
    const environment = { PATH: `${programs}:${SYSTEM_PATH}`, HOME: home };
    const { child, result } = setUp(checkout, environment);
    await vi.waitFor(
      async () => expect(await readFile(join(checkout, ".set-up.lock"), "utf8")).toContain(`${child.pid}`),
      asLongAsTheTest,
    );
    child.kill("SIGKILL");
    await result;
    await writeProgram(programs, "npx", "exit 1");
    expect((await setUp(checkout, environment).result).output).toContain(
      "npm could not install the packages",
    );
  });

  test("end what they run when they are interrupted, and give up the lock", async () => {
    const { checkout, programs, home } = await bareCheckout();
    await writeProgram(programs, "npx", 'echo begin > "$HOME/log"; sleep 60');
    const { child, result } = setUp(checkout, { PATH: `${programs}:${SYSTEM_PATH}`, HOME: home });
    await vi.waitFor(
      async () => expect(await readFile(join(home, "log"), "utf8")).toBe("begin\n"),
      asLongAsTheTest,
    );
    child.kill("SIGINT");
    expect((await result).code).toBe(130);
    expect(await readdir(checkout)).not.toContain(".set-up.lock");
  });

  test("kill a command that ignores the interruption", async () => {
    const { checkout, programs, home } = await bareCheckout();
    await writeProgram(programs, "npx", 'trap "" INT; echo $$ > "$HOME/log"; sleep 60');
    const { child, result } = setUp(checkout, { PATH: `${programs}:${SYSTEM_PATH}`, HOME: home });
    const pid = await vi.waitFor(
      async () =>
        z.coerce
          .number()
          .min(2)
          .parse(await readFile(join(home, "log"), "utf8")),
      asLongAsTheTest,
    );
    child.kill("SIGINT");
    expect((await result).code).toBe(130);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });
});

test("a set-up bundles the command line again when a source has changed, and says so when it cannot", async () => {
  const checkout = await copyCheckout(await temporaryFolder());
  await cp(join(ROOT, ".genesis"), join(checkout, ".genesis"), { recursive: true });
  const bundled = { code: 0, output: expect.stringMatching(/^(?:.*bundling the command line\n)+.*ready\n$/) };
  expect(await setUp(checkout, {}).result).toEqual(bundled);
  expect(await setUp(checkout, {}).result).toEqual({ code: 0, output: "" });
  const source = join(checkout, "cli", "commands", "travel.ts");
  await appendFile(source, "\nprocess.stdout.write('changed');\n");
  expect(await setUp(checkout, {}).result).toEqual(bundled);
  const cli = join(checkout, ".bundle", "cli", "main.cjs");
  expect((await promisify(execFile)(process.execPath, [cli, "--help"])).stdout).toMatch(/^changedUsage: /);
  await appendFile(source, "\nconst = 1;\n");
  const { code, output } = await setUp(checkout, {}).result;
  expect(code).toBe(1);
  expect(output).toMatch(/travel\.ts/);
  expect(output).toMatch(/^set-up: The sources cannot be bundled \(see above\); correct them and run/m);
});

test("a set-up that has nothing to do is silent", async () => {
  await setUp(ROOT, { HOME: process.env["HOME"] ?? "" }).result;
  expect(await setUp(ROOT, {}).result).toEqual({ code: 0, output: "" });
});

test("npm run -s sandbox -- <command> runs a command and prints nothing else", async () => {
  const { stdout } = await promisify(execFile)("npm", ["run", "-s", "sandbox", "--", "--version"], {
    cwd: ROOT,
  });
  expect(stdout).toBe(`${packageVersion()}\n`);
});

test("npm start prints what it started and nothing else, even when its pages are opened", async () => {
  const ports = ["api", "docs", "rpc", "control"].flatMap((name) => [`--${name}-port`, "0"]);
  const args = ["start", "-s", "--", "--json", "--data-dir", await temporaryFolder(), ...ports];
  // A group of its own, which Ctrl-C reaches as a whole.
  const child = spawn("npm", args, { cwd: ROOT, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const { pid = 0 } = child;
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-pid, "SIGKILL");
  });
  const printed = createInterface(child.stdout);
  const complaints = text(child.stderr);
  const exited = once(child, "exit");
  const [line] = await once(printed, "line");
  const { urls } = z.object({ urls: z.object({ control: z.string() }) }).parse(JSON.parse(line));
  expect((await fetch(`${urls.control}/assets/explorer/main.js`)).status).toBe(200);
  process.kill(-pid, "SIGINT");
  await exited;
  expect(await complaints).toBe("");
});
