import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { examine, examineClock, examinePort, examineProxies } from "../../../cli/doctor/examine.ts";
import { examinePool } from "../../../cli/doctor/pool.ts";
import { anvilBinary } from "../../../sandbox/chain/anvil/anvil-binary.ts";
import { registrarGeneses } from "../../../sandbox/chain/genesis/genesis-cache.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { freePort, portOf } from "../../kit/free-port.ts";
import { copyCheckout } from "../../setup/copied-checkout.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { tryCli } from "../run-cli.ts";

/** Looks at a data directory on this machine; other tests' left-overs are not this test's. */
async function problemsOf(dataDirectory: string, ports: { [option: string]: number } = {}) {
  const findings = await examine({ dataDirectory, ports, environment: {} });
  return findings.filter(({ ok, check }) => !ok && check !== "orphans");
}

test("doctor finds no problem before a first start or while a sandbox runs, and changes nothing", async () => {
  const folder = join(await temporaryFolder(), "data");
  expect(await problemsOf(folder, { "--api-port": 0 })).toEqual([]);
  await expect(readdir(folder)).rejects.toThrow("ENOENT");
  await using sandbox = await createSandbox({ dataDirectory: folder });
  const port = Number(new URL(sandbox.description.urls.api).port);
  const findings = await examine({ dataDirectory: folder, ports: { "--api-port": port }, environment: {} });
  expect(findings.filter(({ ok, check }) => !ok && check !== "orphans")).toEqual([]);
  expect(findings.at(-1)?.found).toBe(`The running sandbox (process ${process.pid}) listens there.`);
});

test("doctor prints what it has found, with the remedy under each problem", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const port = portOf(server);
  const others = ["--docs-port=0", "--control-port=0", "--rpc-port=0"];
  const dataDirectory = ["--data-dir", await temporaryFolder()];
  const { code, stdout } = await tryCli(["doctor", `--api-port=${port}`, ...others, ...dataDirectory]);
  expect(code).toBe(1);
  const printed = stripVTControlCharacters(stdout);
  expect(printed).toMatch(/^✓ Node .*\n/);
  expect(printed).toMatch(
    new RegExp(`\n✗ port ${port} \\(--api-port\\) +Process ${process.pid} .*\n +End that process, or choose`),
  );
  expect(printed).toMatch(/\n\n\d+ problems? found\.\n$/);
});

test("doctor names two options that have the same port", async () => {
  const port = await freePort();
  const ports = { "--api-port": port, "--docs-port": 0, "--control-port": port, "--rpc-port": 0 };
  const same = {
    found: `--api-port and --control-port have the same port ${port}.`,
    remedy: "Choose another port for one of them, or 0 for any free port.",
  };
  expect(await problemsOf(await temporaryFolder(), ports)).toEqual(
    ["--api-port", "--control-port"].map((option) => ({
      check: `port ${port} (${option})`,
      ok: false,
      ...same,
    })),
  );
});

test("a damaged store is found with file and line", async () => {
  const folder = await temporaryFolder();
  await using sandbox = await createSandbox({ dataDirectory: folder });
  await sandbox.rotateKeys();
  await sandbox.close();
  const file = join(folder, "store", "store.json");
  await writeFile(file, (await readFile(file, "utf8")).slice(0, -20));
  const [problem, ...others] = await problemsOf(folder);
  expect(others).toEqual([]);
  expect(problem).toMatchObject({ check: "store", found: expect.stringContaining("--data-dir") });
  expect(problem?.found).toContain(file);
});

test("a store without its snapshot or its journal is found with the file, and is not taken for a new one", {
  tags: "thorough",
}, async () => {
  const folder = await temporaryFolder();
  await (await createSandbox({ dataDirectory: folder })).close();
  const path = (name: string) => join(folder, "store", name);
  for (const [name, there] of [
    ["store.json", "chain.json"],
    ["store.journal", "store.json"],
  ] as const) {
    await rename(path(name), `${path(name)}.kept`);
    expect(await problemsOf(folder)).toEqual([
      {
        check: "store",
        ok: false,
        found: `${path(name)} is missing, although ${path(there)} is there. Restore it from a backup; to begin with a new sandbox, choose another directory with --data-dir, or copy this one away and start with --fresh.`,
        remedy: "Follow the message. Nothing in the directory was changed.",
      },
    ]);
    await rename(`${path(name)}.kept`, path(name));
  }
  expect(await problemsOf(folder)).toEqual([]);
});

test("a data directory that is a file, a loop of links or a link to nothing is named, and no store is looked for in it", {
  tags: "thorough",
}, async () => {
  const folder = await temporaryFolder();
  const path = (name: string) => join(folder, name);
  await writeFile(path("file"), "");
  await symlink(path("loop"), path("loop"));
  await symlink(path("nothing"), path("link"));
  for (const name of ["file", "loop", "link"]) {
    const findings = await examine({ dataDirectory: path(name), ports: {}, environment: {} });
    expect(findings.filter(({ check }) => ["data directory", "lock", "store"].includes(check))).toEqual([
      {
        check: "data directory",
        ok: false,
        found: expect.stringContaining(`${path(name)} cannot be written to: `),
        remedy: "Make it a folder that you can write to, or choose another folder with --data-dir.",
      },
    ]);
  }
});

test("the lock of a dead process is ignored, and that of a living process is not", async () => {
  const folder = await temporaryFolder();
  const child = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"]);
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  await once(child, "spawn");
  await writeFile(join(folder, "lock.json"), JSON.stringify({ pid: child.pid, started: null }));
  expect(await problemsOf(folder)).toMatchObject([
    { check: "lock", remedy: expect.stringContaining("kill") },
  ]);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await problemsOf(folder)).toEqual([]);
});

test("an Anvil without a sandbox is found", async () => {
  const orphan = spawn(anvilBinary(), ["--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => {
    orphan.kill("SIGKILL");
  });
  await once(orphan.stdout, "data");
  const findings = await examine({ dataDirectory: await temporaryFolder(), ports: {}, environment: {} });
  const { found, remedy } = findings.find(({ check }) => check === "orphans") ?? {};
  expect(found).toMatch(new RegExp(`\\b${orphan.pid}\\b`));
  expect(remedy).toContain("kill");
});

test("a proxy that applies to 127.0.0.1 and a clock that was set back are found", async () => {
  const proxy = { HTTP_PROXY: "http://proxy:3128" };
  expect(examineProxies(proxy)).toMatchObject({
    ok: false,
    found: expect.stringMatching(/^HTTP_PROXY is set, and no_proxy does not name 127\.0\.0\.1\. Programs /),
    remedy: expect.stringContaining("no_proxy=127.0.0.1"),
  });
  expect(examineProxies({ ...proxy, no_proxy: "localhost,127.0.0.1" })).toMatchObject({ ok: true });
  const folder = await temporaryFolder();
  expect(await examineClock(folder)).toMatchObject({ ok: true });
  const file = join(folder, "settings.json");
  await writeFile(file, "{}");
  await utimes(file, new Date(), new Date(Date.now() + 3_600_000));
  expect(await examineClock(folder)).toMatchObject({
    ok: false,
    remedy: expect.stringContaining("deterministic"),
  });
});

const root = fileURLToPath(new URL("../../..", import.meta.url));
const answer = z.object({
  findings: z.array(
    z.strictObject({ check: z.string(), ok: z.boolean(), found: z.string(), remedy: z.string().nullable() }),
  ),
});

async function occupiedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
  });
  await once(server, "listening");
  return portOf(server);
}

test("a port of a pool at which another program listens is found, also if that responds to nothing", async () => {
  const port = await occupiedPort();
  expect(await examinePool(port)).toEqual({
    check: `port ${port} (--port)`,
    ok: false,
    found: expect.stringContaining(`Process ${process.pid} (`),
    remedy: "End that process, or choose another port with --port, or 0 for any free port.",
  });
});

test("port 0 is no port at which a pool or another program is looked for", async () => {
  expect(await examinePool(0)).toEqual({
    check: "pool",
    ok: true,
    found: "Not looked for: --port 0 names no port.",
    remedy: null,
  });
  expect(await examinePort("--api-port", 0, null)).toEqual({
    check: "port 0 (--api-port)",
    ok: true,
    found: "A start takes any free port.",
    remedy: null,
  });
});

test("on a broken machine, doctor names each problem with its remedy, and exits with 1", {
  tags: "thorough",
}, async () => {
  const checkout = await copyCheckout(await temporaryFolder());
  await cp(join(root, "portal"), join(checkout, "portal"), { recursive: true });
  // Its packages are this checkout's, but for Anvil's binary; its prepared chain is torn.
  await rm(join(checkout, "node_modules"));
  await mkdir(join(checkout, "node_modules", "@foundry-rs"), { recursive: true });
  for (const name of await readdir(join(root, "node_modules")))
    if (name !== "@foundry-rs")
      await symlink(join(root, "node_modules", name), join(checkout, "node_modules", name));
  const anvil = join("node_modules", "@foundry-rs", "anvil");
  await cp(join(root, anvil), join(checkout, anvil), { recursive: true });
  await cp(join(root, ".genesis"), join(checkout, ".genesis"), { recursive: true });
  const geneses = (await readdir(join(checkout, ".genesis"))).filter((name) => name !== registrarGeneses);
  for (const key of geneses) {
    const file = join(checkout, ".genesis", key, "state.json");
    await writeFile(file, (await readFile(file)).subarray(0, 1_000));
  }
  const port = await occupiedPort();
  // Where not even root may write.
  const args = ["doctor", "--json", "--data-dir", "/sys/routing-sandbox", "--api-port", String(port)];
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; stdout: string }>();
  // A package that may not write into its own folder has a prepared chain in the one for temporary files.
  const env = { ...process.env, TMPDIR: await temporaryFolder() };
  execFile(process.execPath, [join(checkout, "cli", "main.ts"), ...args], { env }, (error, stdout) =>
    resolve({ code: error?.code, stdout }),
  );
  const { code, stdout } = await promise;
  expect(code).toBe(1);
  const problems = answer.parse(JSON.parse(stdout)).findings.filter(({ ok }) => !ok);
  const found = Object.fromEntries(problems.map((one) => [one.check, one]));
  expect(found["Anvil"]).toMatchObject({
    found: expect.stringContaining("is not installed"),
    remedy: expect.stringContaining("Remove node_modules and run node scripts/setup.mjs"),
  });
  expect(found["prepared chain"]).toMatchObject({
    found: "It is missing, damaged, or was built with other contracts or another Anvil.",
    remedy: "To build the prepared chain again, run node scripts/setup.mjs.",
  });
  expect(found["data directory"]).toMatchObject({
    found: expect.stringContaining("/sys/routing-sandbox cannot be written to"),
    remedy: expect.stringContaining("--data-dir"),
  });
  expect(found[`port ${port} (--api-port)`]).toMatchObject({
    found: expect.stringContaining(`Process ${process.pid} (`),
    remedy: "End that process, or choose another port with --api-port, or 0 for any free port.",
  });
});
