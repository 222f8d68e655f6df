import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type HeadWatcher, watchAnvil } from "../../../sandbox/chain/client/watch-heads.ts";
import type { ChainNode } from "../../../sandbox/chain/start-chain.ts";
import { joinSandbox } from "../../../sandbox/cluster/join-sandbox.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { RequestGate } from "../../../sandbox/lib/http/request-gate.ts";
import { findProcess } from "../../../sandbox/lib/processes/processes.ts";
import type { SandboxOptions } from "../../../sandbox/options/options.ts";
import { StartDeadline } from "../../../sandbox/options/start-deadline.ts";
import { followHeads } from "../../../sandbox/service/follow-heads.ts";
import { tryCli } from "../../cli/run-cli.ts";
import { stopProcess } from "../../kit/stop-process.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const log = { info() {}, error() {} };

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = portOf(server.address());
  server.close();
  await once(server, "close");
  return port;
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("This is no TCP server.");
  return address.port;
}

/** A server that takes connections and never answers, like a database that hangs. */
async function silentDatabase(): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on("error", () => {}))).listen(0, "127.0.0.1");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, "listening");
  return `postgres://postgres@127.0.0.1:${portOf(server.address())}/nowhere`;
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
