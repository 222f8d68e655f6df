import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rename, symlink, utimes, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { examine, examineClock, examineProxies } from "../../../cli/doctor/examine.ts";
import { anvilBinary } from "../../../sandbox/chain/anvil/anvil-binary.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { tryCli } from "../run-cli.ts";

/** Looks at a data directory on this machine; other tests' left-overs are not this test's. */
async function problemsOf(dataDirectory: string, ports: { [option: string]: number } = {}) {
  const findings = await examine({ dataDirectory, ports, environment: {} });
  return findings.filter(({ ok, check }) => !ok && check !== "orphans");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = portOf(server);
  server.close();
  return port;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("A TCP server has an address.");
  return address.port;
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
