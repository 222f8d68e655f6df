import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { readOwner } from "../../../sandbox/data-directory/lock.ts";
import { processesWith } from "../../../sandbox/lib/processes/processes.ts";
import { asOtherUser } from "../../as-other-user.ts";
import { anyPorts, runIn } from "../../kit/run-in-background.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { cli } from "../program.ts";
import { runCli, tryCli } from "../run-cli.ts";

describe("a sandbox in the background", () => {
  test("is ready when start --detach ends, prints the same as start, and has ended when stop ends", async () => {
    const folder = await temporaryFolder();
    const started = await runIn(folder, "start", "--detach", "--json", ...anyPorts);
    expect(started).toMatchObject({ code: 0, stderr: "" });
    const description = JSON.parse(started.stdout);
    const directory = join(folder, ".sandbox");
    expect(await readFile(join(directory, ".gitignore"), "utf8")).toBe("*\n");
    expect(description).toEqual(JSON.parse(await readFile(join(directory, "sandbox.json"), "utf8")));
    expect((await fetch(`${description.urls.control}/health`)).status).toBe(200);

    const again = await runIn(folder, "start", "--detach", ...anyPorts);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("runs a sandbox in") });

    const { control } = description.urls;
    for (const where of [
      ["--data-dir", directory],
      ["--control", control],
    ]) {
      const waited = await runCli("status", "--wait", "--json", ...where);
      expect(JSON.parse(waited)).toMatchObject({ pid: description.pid });
    }
    await rename(join(directory, "sandbox.json"), join(folder, "moved"));
    expect(await tryCli(["status", "--data-dir", directory])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        `Process ${description.pid} has taken ${directory}, in which there is no sandbox.json. Wait until`,
      ),
    });
    await rename(join(folder, "moved"), join(directory, "sandbox.json"));
    const stopped = await runCli("stop", "--json", "--control", control);
    expect(JSON.parse(stopped)).toEqual({ stopped: true, pid: description.pid, removed: null });
    expect(await processesWith("TMPDIR", folder)).toEqual([]);
    for (const url of Object.values<string>(description.urls)) await expect(fetch(url)).rejects.toThrow();
    expect(await readdir(folder)).toEqual([".sandbox"]);
    expect((await readdir(directory)).sort()).toEqual([".gitignore", "sandbox.log", "store"]);
    expect(await readFile(join(directory, "sandbox.log"), "utf8")).toContain("runs a sandbox in");
    for (const where of [
      ["--data-dir", directory],
      ["--control", control],
    ])
      expect(await runCli("stop", ...where)).toMatch(/^No sandbox runs (in|at) /);
  });

  test("that cannot start leaves nothing, and its error is printed", { tags: "thorough" }, async () => {
    const folder = await temporaryFolder();
    const { code, stderr } = await runIn(folder, "start", "--detach", "--listen", "nowhere", ...anyPorts);
    expect([code, stderr.trim().split("\n").at(-1)]).toEqual([
      1,
      '--listen must be an IP address, such as "0.0.0.0", not "nowhere".',
    ]);
    expect(await readdir(folder)).toEqual([]);
  });
});

test("start --detach says of a data directory that cannot be made or written what start says", async () => {
  const folder = await temporaryFolder();
  const made = join(folder, "made");
  await mkdir(made);
  for (const path of [made, folder]) await chmod(path, 0o555);
  onTestFinished(async () => await chmod(folder, 0o700));
  await asOtherUser([], async () => {
    for (const directory of [join(folder, "missing"), made])
      expect(await tryCli(["start", "--detach", "--data-dir", directory])).toEqual({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(
          `^The data directory ${directory} cannot be opened: this user has no permission .* choose another one with --data-dir\\.\n$`,
        ),
      });
  });
});

describe("a pool in the background", () => {
  test("can lease all of its sandboxes when pool --detach ends, is known to status and doctor, and has left nothing when stop ends", async () => {
    const folder = await temporaryFolder();
    const options = ["--size", "2", "--port", "0", "--seed", "pooled", "--json"];
    const started = await runIn(folder, "pool", "--detach", ...options);
    expect(started).toMatchObject({ code: 0, stderr: "" });
    const { url, pid } = JSON.parse(started.stdout);
    const status = JSON.parse(await runCli("status", "--pool", url, "--wait", "--json"));
    expect(status).toMatchObject({ pid, size: 2, free: 2, preparing: 0 });
    const found = (await tryCli(["doctor", "--json", "--port", new URL(url).port])).stdout;
    expect(JSON.parse(found).findings).toContainEqual({
      check: "pool",
      ok: true,
      found: `Process ${pid} runs a pool of 2 sandboxes at ${url}: 2 free, 0 leased. To stop it: routing-sandbox stop --pool ${url}`,
      remedy: null,
    });
    const lease = await fetch(`${url}/leases`, { method: "POST" });
    expect(await lease.json()).toMatchObject({ sandbox: { seed: "pooled", pid } });
    const stopped = await runCli("stop", "--pool", url, "--json");
    expect(JSON.parse(stopped)).toEqual({ stopped: true, pid, removed: null });
    expect(await processesWith("TMPDIR", folder)).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
    expect(await runCli("stop", "--pool", url)).toBe(`No pool runs at ${url}.\n`);
  });

  test("whose sandboxes do not start ends, leaves nothing but its log file, and its error is printed", {
    tags: "thorough",
  }, async () => {
    const folder = await temporaryFolder();
    const wrong = ["--registrar", "missing.json", "--port", "0"];
    const { code, stderr } = await runIn(folder, "pool", "--detach", ...wrong);
    expect([code, stderr]).toEqual([
      1,
      "A sandbox did not start: The artifact missing.json cannot be read: there is no such file (ENOENT, missing.json). Compile the contract and name its JSON file.\n",
    ]);
    expect(await processesWith("TMPDIR", folder)).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
    const logged = await runIn(folder, "pool", "--detach", ...wrong, "--log-file", "pool.log");
    expect(await readFile(join(folder, "pool.log"), "utf8")).toBe(logged.stderr);
    expect(await readdir(folder)).toEqual(["pool.log"]);
  });

  test("logs each request of its sandboxes to the log file with --log-level info, in the given format", {
    tags: "thorough",
  }, async () => {
    const folder = await temporaryFolder();
    const log = ["--log-level", "info", "--log-format", "text", "--log-file", "pool.log"];
    const { stdout } = await runIn(folder, "pool", "--detach", "--size=1", "--port=0", "--json", ...log);
    const { url } = JSON.parse(stdout);
    const lease = await fetch(`${url}/leases`, { method: "POST" });
    const { sandbox } = JSON.parse(await lease.text());
    await fetch(`${sandbox.urls.api}/v1/routing/capabilities`);
    await runCli("stop", "--pool", url);
    expect(await readFile(join(folder, "pool.log"), "utf8")).toMatch(/^\S+ info .*capabilities/m);
  });
});

test("stop and status refuse a URL that is no pool's", async () => {
  await using sandbox = await createSandbox();
  const { api } = sandbox.description.urls;
  expect(await tryCli(["stop", "--pool", api])).toMatchObject({
    code: 1,
    stderr: `${api} is not a pool that this user runs on this machine. Stop it where it runs, as the user who has started it.\n`,
  });
  expect(await tryCli(["status", "--pool", api])).toMatchObject({
    code: 1,
    stderr: `${api} is not a pool. Pass the URL of a pool.\n`,
  });
});

/** Opens a server that accepts connections and responds with this text, or never. */
async function openServer(text: string | null): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (text !== null)
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}

test.each(["<!doctype html>", "", "{}", "[]", "null"])(
  "status refuses a URL of something that responds with %j",
  async (text) => {
    await using server = await openServer(text);
    for (const [option, meant] of [
      ["control", "the control API of a sandbox"],
      ["pool", "a pool"],
    ])
      expect(await tryCli(["status", `--${option}`, server.url])).toEqual({
        code: 1,
        stdout: "",
        stderr: `${server.url} is not ${meant}. Pass the URL of ${meant}.\n`,
      });
  },
);

test.each(["control", "pool"])("stop --%s refuses a URL of something that sends no HTTP", async (option) => {
  const server = createServer((socket) => socket.on("error", () => {}).end("SSH-2.0-x\r\n"));
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, stderr } = await tryCli(["stop", `--${option}`, url]);
  expect(stderr).toContain(`${url} does not respond as `);
  expect(code).toBe(1);
});

test("status --wait and stop wait no longer than --timeout for a response", async () => {
  await using server = await openServer(null);
  for (const option of ["--control", "--pool"]) {
    const waited = await tryCli(["status", "--wait", "--timeout", "1s", option, server.url]);
    expect([waited.code, waited.stderr]).toEqual([
      1,
      expect.stringContaining(`After 1 s: Nothing responds at ${server.url}. `),
    ]);
    const stopped = await tryCli(["stop", "--timeout", "1s", option, server.url]);
    expect([stopped.code, stopped.stderr]).toEqual([
      1,
      expect.stringContaining(
        `${server.url} accepts a connection, and did not respond within 1 s. Wait longer with --timeout, or end its process.`,
      ),
    ]);
  }
});

test("status --wait fails when no sandbox is ready in time, and says what to do", {
  tags: "thorough",
}, async () => {
  const folder = await temporaryFolder();
  expect(await tryCli(["status", "--wait", "--timeout", "1s", "--data-dir", folder])).toEqual({
    code: 1,
    stdout: "",
    stderr: `After 1 s: No sandbox runs in ${folder}. Wait longer with --timeout, or start a sandbox.\n`,
  });
  expect((await tryCli(["status", "--wait", "--timeout", "30"])).stderr).toContain(
    "It has no unit. Use 30s.",
  );
});

test("stop --control says that no sandbox runs at an address that refuses the connection", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  server.close();
  await once(server, "close");
  const control = `http://127.0.0.1:${address.port}`;
  expect(await runCli("stop", "--control", control)).toBe(`No sandbox runs at ${control}.\n`);
});

test("stop refuses the control API of something else", async () => {
  await using sandbox = await createSandbox();
  const { api } = sandbox.description.urls;
  const { code, stderr } = await tryCli(["stop", "--control", api]);
  expect([code, stderr]).toEqual([
    1,
    `${api} is not the control API of a sandbox that this user runs on this machine. Stop it where it runs, as the user who has started it.\n`,
  ]);
});

describe("a sandbox in the background (the further cases)", { tags: "thorough" }, () => {
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

test("start ends with 0 after SIGHUP, and leaves no process, no lock and no keys", {
  tags: "thorough",
}, async () => {
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
