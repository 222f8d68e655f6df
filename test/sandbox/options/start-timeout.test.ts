import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { inFlags } from "../../../cli/describe-failure.ts";
import { type HeadWatcher, watchAnvil } from "../../../sandbox/chain/client/watch-heads.ts";
import type { ChainNode } from "../../../sandbox/chain/start-chain.ts";
import { joinSandbox } from "../../../sandbox/cluster/join-sandbox.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { RequestGate } from "../../../sandbox/lib/http/request-gate.ts";
import { findProcess } from "../../../sandbox/lib/processes/processes.ts";
import type { SandboxOptions } from "../../../sandbox/options/options.ts";
import { StartDeadline } from "../../../sandbox/options/start-deadline.ts";
import { followHeads } from "../../../sandbox/service/follow-heads.ts";
import { cli } from "../../cli/program.ts";
import { tryCli } from "../../cli/run-cli.ts";
import { freePort, portOf } from "../../kit/free-port.ts";
import { stopProcess } from "../../kit/stop-process.ts";
import { temporaryFolder } from "../../temporary-folder.ts";
import { findAnvils } from "../chain/anvil/find-anvil.ts";

const log = { info() {}, error() {} };

/** A server that takes connections and never answers, like a database that hangs. */
async function silentDatabase(): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on("error", () => {}))).listen(0, "127.0.0.1");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, "listening");
  return `postgres://postgres@127.0.0.1:${portOf(server)}/nowhere`;
}

async function open(options: SandboxOptions): Promise<Sandbox> {
  const sandbox = await createSandbox({ seed: "deadline", ...options });
  onTestFinished(async () => await sandbox.close());
  return sandbox;
}

function timeoutWhile(step: string, milliseconds = 1_000) {
  return {
    name: "SandboxError",
    code: "start_timeout",
    message: `The start took longer than ${milliseconds} ms, and was waiting for ${step}. Remove the cause of the delay, or allow more time with the option startTimeoutMs.`,
  };
}

test("a start whose Anvil is killed before its heads are followed says so", async () => {
  await using sandbox = await open({});
  const port = await freePort();
  const { relayer } = sandbox;
  const gate = new RequestGate({ timeoutMs: 1_000 });
  const announce = () => {};
  const watchHeads = async (watcher: HeadWatcher) =>
    await watchAnvil(() => `http://127.0.0.1:${port}`, watcher);
  const deadline = new StartDeadline(10_000);
  const following = deadline.run(async () => await followHeads({ watchHeads, relayer, gate, log, announce }));
  await expect(following).rejects.toMatchObject({
    name: "AnvilError",
    code: "start_failed",
    message:
      "Anvil did not respond during the start: Anvil accepts no connection, or has closed it. Start again; if that fails too, run routing-sandbox doctor.",
  });
});

describe("a database that accepts connections and never answers", () => {
  test("ends a start when its time is over, with its Anvil", async () => {
    const store = await silentDatabase();
    let pid = 0;
    const adaptChain = async (chain: ChainNode) => {
      ({ pid } = chain.anvil);
      return chain;
    };
    const start = open({ store, startTimeoutMs: 2_000, adaptChain });
    await expect(start).rejects.toMatchObject(timeoutWhile("the database to respond", 2_000));
    expect(pid).toBeGreaterThan(0);
    expect(await findProcess(pid)).toBeUndefined();
  });

  test("ends a process that joins when its time is over", { tags: "thorough" }, async () => {
    const store = await silentDatabase();
    const joining = joinSandbox({ store, apiPort: 0, startTimeoutMs: 1_000, log });
    await expect(joining).rejects.toMatchObject(timeoutWhile("the database to respond"));
  });
});

test("a receiver's name that is never resolved ends a start when its time is over", async () => {
  const resolveHost = async () => await new Promise<never>(() => {});
  const start = open({ receiverUrl: "http://nowhere.test/", resolveHost, startTimeoutMs: 100 });
  await expect(start).rejects.toMatchObject(timeoutWhile("the receiver's address", 100));
});

test("a start whose time is over before it has the lock removes the data directory that it made", async () => {
  const folder = await temporaryFolder();
  const ports = ["--api-port", "0", "--docs-port", "0", "--rpc-port", "0", "--control-port", "0"];
  // A process of its own: it ends when nothing of the start is left.
  const flags = ["--data-dir", join(folder, "kept"), "--start-timeout", "1", ...ports];
  const start = spawn(process.execPath, [cli, "start", ...flags], { stdio: "ignore" });
  expect(await once(start, "exit")).toEqual([1, null]);
  expect(await readdir(folder)).toEqual([]);
});

test.for([0, 1.5, 600_001, Number.NaN])("startTimeoutMs of %s is refused", async (startTimeoutMs) => {
  const message = `The option startTimeoutMs must be a whole number of milliseconds from 1 to 600000, not ${startTimeoutMs}.`;
  await expect(open({ startTimeoutMs })).rejects.toThrow(message);
  await expect(joinSandbox({ store: "", apiPort: 0, startTimeoutMs, log })).rejects.toThrow(message);
});

test.for(["start", "join"])("%s refuses a --start-timeout out of bounds", async (command) => {
  expect(await tryCli([command, "--store", "postgres://", "--start-timeout", "0"])).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("argument '0' is invalid. It must be a whole number from 1 to 600000."),
  });
});

describe("a sandbox whose Anvil is stopped", () => {
  test("closes, and keeps its chain", async () => {
    const dataDirectory = join(await temporaryFolder(), "kept");
    const sandbox = await open({ dataDirectory });
    await sandbox.wallets.stranger.faucet(5n);
    const before = await sandbox.fingerprint();
    const { pid } = sandbox.chain.anvil;
    await stopProcess(pid);
    await sandbox.close();
    expect(await findProcess(pid)).toBeUndefined();
    expect(await (await open({ dataDirectory })).fingerprint()).toEqual(before);
  });
});

async function canListen(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  const listens = await once(server, "listening").then(
    () => true,
    () => false,
  );
  server.close();
  return listens;
}

/** Stops the next Anvil that this process starts, as soon as there is one. @returns its process id, once it is awaited. */
async function stopNextAnvil(): Promise<() => Promise<number>> {
  let isOver = false;
  onTestFinished(() => {
    isOver = true;
  });
  const before = new Set((await findAnvils(process.pid)).map(({ anvil }) => anvil));
  const stopping = (async () => {
    while (!isOver) {
      const next = (await findAnvils(process.pid)).find(({ anvil }) => !before.has(anvil));
      if (next !== undefined) {
        process.kill(next.anvil, "SIGSTOP");
        onTestFinished(() => continueProcess(next.anvil));
        return next.anvil;
      }
      await new Promise(setImmediate);
    }
    throw new Error("No Anvil was started.");
  })();
  return async () => await stopping;
}

function continueProcess(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch {
    // It has ended.
  }
}

async function stateFolders(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith("routing-sandbox-state-"));
}

/** Longer than a start takes on a busy machine until Anvil starts, and shorter than the chain may take for an answer. */
const limitMs = 9_000;

describe("a start whose Anvil is stopped fails when its time is over and leaves no process, port or lock", {
  tags: "thorough",
}, () => {
  test("before that listens", async () => {
    const dataDirectory = join(await temporaryFolder(), "kept");
    const stopped = await stopNextAnvil();
    const port = await freePort();
    const start = open({ dataDirectory, startTimeoutMs: limitMs, ports: { api: port } });
    await expect(start).rejects.toMatchObject(timeoutWhile("Anvil to start", limitMs));
    expect(await findProcess(await stopped())).toBeUndefined();
    expect(await canListen(port)).toBe(true);
    expect(existsSync(join(dataDirectory, "lock.json"))).toBe(false);
    expect((await open({ dataDirectory, ports: { api: port } })).chain.resumed).toBe(false);
  });

  test("once that answers", async () => {
    const dataDirectory = join(await temporaryFolder(), "kept");
    let pid = 0;
    const adaptChain = async (chain: ChainNode) => {
      ({ pid } = chain.anvil);
      await stopProcess(pid);
      return chain;
    };
    const port = await freePort();
    const start = open({ dataDirectory, startTimeoutMs: limitMs, ports: { api: port }, adaptChain });
    await expect(start).rejects.toMatchObject(timeoutWhile("the chain to respond", limitMs));
    expect(await findProcess(pid)).toBeUndefined();
    expect(await canListen(port)).toBe(true);
    expect(existsSync(dataDirectory)).toBe(false);
  });

  test("from a snapshot file, and leaves no folder of it", async () => {
    // A folder of its own for temporary files: other tests have some in the system's.
    vi.stubEnv("TMPDIR", await temporaryFolder());
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const file = join(await temporaryFolder(), "saved.snapshot");
    await (await open({})).save(file);
    const before = await stateFolders();
    let pid = 0;
    const adaptChain = async (chain: ChainNode) => {
      ({ pid } = chain.anvil);
      await stopProcess(pid);
      return chain;
    };
    const start = open({ from: file, startTimeoutMs: limitMs, adaptChain });
    await expect(start).rejects.toMatchObject(timeoutWhile("the chain to respond", limitMs));
    expect(await findProcess(pid)).toBeUndefined();
    expect((await stateFolders()).filter((name) => !before.includes(name))).toEqual([]);
  });

  test("of the command line, with one line on standard error", async () => {
    const dataDirectory = join(await temporaryFolder(), "kept");
    const ports = ["--api-port", "0", "--docs-port", "0", "--rpc-port", "0", "--control-port", "0"];
    const stopped = await stopNextAnvil();
    const timeout = ["--start-timeout", `${limitMs}`];
    expect(await tryCli(["start", "--json", "--data-dir", dataDirectory, ...timeout, ...ports])).toEqual({
      code: 1,
      stdout: "",
      stderr: `${inFlags(timeoutWhile("Anvil to start", limitMs).message)}\n`,
    });
    expect(await findProcess(await stopped())).toBeUndefined();
    expect(existsSync(join(dataDirectory, "lock.json"))).toBe(false);
  });
});

test("a start whose Anvil does not answer a request fails before its deadline", {
  tags: "thorough",
}, async () => {
  let pid = 0;
  const adaptChain = async (chain: ChainNode) => {
    ({ pid } = chain.anvil);
    await stopProcess(pid);
    return chain;
  };
  await expect(open({ adaptChain })).rejects.toMatchObject({
    name: "AnvilError",
    code: "start_failed",
    message:
      "Anvil did not respond during the start: Anvil gave no response within 10 s. Start again; if that fails too, run routing-sandbox doctor.",
  });
  expect(await findProcess(pid)).toBeUndefined();
});

test("a stored chain whose start fails continues at the next start", { tags: "thorough" }, async () => {
  const dataDirectory = join(await temporaryFolder(), "kept");
  const first = await open({ dataDirectory });
  await first.wallets.stranger.faucet(5n);
  const before = await first.fingerprint();
  await first.close();
  const stopped = await stopNextAnvil();
  await expect(open({ dataDirectory, startTimeoutMs: limitMs })).rejects.toMatchObject(
    timeoutWhile("Anvil to start", limitMs),
  );
  expect(await findProcess(await stopped())).toBeUndefined();
  const again = await open({ dataDirectory });
  expect(again.chain.resumed).toBe(true);
  expect(await again.fingerprint()).toEqual(before);
});

describe("a sandbox whose Anvil is stopped (the further cases)", { tags: "thorough" }, () => {
  test("ends with its process when that is killed, and keeps its chain", async () => {
    const dataDirectory = join(await temporaryFolder(), "kept");
    const ports = ["--api-port", "0", "--docs-port", "0", "--rpc-port", "0", "--control-port", "0"];
    const child = spawn(process.execPath, [cli, "start", "--data-dir", dataDirectory, "--json", ...ports]);
    await once(child.stdout, "data");
    const [{ anvil: pid } = { anvil: 0 }] = await findAnvils(child.pid ?? 0);
    await stopProcess(pid);
    onTestFinished(() => continueProcess(pid));
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
    await vi.waitFor(async () => expect(await findProcess(pid)).toBeUndefined(), {
      timeout: 10_000,
      interval: 10,
    });
    expect((await createdAgain(dataDirectory)).chain.resumed).toBe(true);
  });
});

async function createdAgain(dataDirectory: string): Promise<Sandbox> {
  const sandbox = await createSandbox({ dataDirectory, mode: "live" });
  onTestFinished(async () => await sandbox.close());
  return sandbox;
}

test("a sandbox whose Anvil was killed closes, and continues with the next start", {
  tags: "thorough",
}, async () => {
  const dataDirectory = join(await temporaryFolder(), "kept");
  const sandbox = await createSandbox({ dataDirectory });
  await sandbox.wallets.stranger.faucet(5n);
  const before = await sandbox.fingerprint();
  process.kill(sandbox.chain.anvil.pid, "SIGKILL");
  await sandbox.close();
  expect(existsSync(join(dataDirectory, "lock.json"))).toBe(false);
  await using again = await createSandbox({ dataDirectory });
  expect(await again.fingerprint()).toEqual(before);
});

test("a start whose Anvil continues in time succeeds", { tags: "thorough" }, async () => {
  const dataDirectory = join(await temporaryFolder(), "kept");
  const stopped = await stopNextAnvil();
  const starting = open({ dataDirectory });
  continueProcess(await stopped());
  expect(await (await starting).chain.client.getChainId()).toBe(31_337);
});
