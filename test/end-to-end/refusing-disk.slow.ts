import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { kill } from "./kill.ts";
import { rpcOf } from "./rpc.ts";
import { type StartedSandbox, startSandbox } from "./started-sandbox.ts";

const taken =
  "The call has taken effect on the chain, but the data directory refuses writes: the effect is durable only after the directory accepts writes again. Free disk space or correct the permissions, and check the chain (eth_blockNumber, GET /status) before you repeat the call.";
const address = "0x00000000000000000000000000000000000000AA";

async function ask({ description }: StartedSandbox, method: string, params: readonly unknown[]) {
  const response = await fetch(description.urls.rpc, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return JSON.parse(await response.text());
}

async function control({ description }: StartedSandbox, path: string, body: object) {
  const response = await fetch(new URL(path, description.urls.control), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const { code, detail } = JSON.parse(await response.text());
  return { status: response.status, code, detail, again: response.headers.get("Retry-After") };
}

// Where files cannot grow, nothing can be made durable.
async function limit({ description: { pid } }: StartedSandbox, bytes: string) {
  await promisify(execFile)("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:unlimited`]);
}

test.skipIf(process.platform !== "linux")(
  "a call whose effect cannot be written to disk reports that it has happened, and is durable once the directory accepts writes again",
  async () => {
    const folder = await temporaryFolder();
    const first = await startSandbox(folder, "--mode", "deterministic");
    const rpc = rpcOf(first.description);
    const height = async () => Number(await rpc("eth_blockNumber"));
    const before = await height();
    await limit(first, "1");
    const error = { error: { code: -32_603, message: taken } };
    expect(await ask(first, "evm_mine", [])).toMatchObject(error);
    expect(await height()).toBe(before + 1);
    expect(await ask(first, "anvil_mine", ["0x2"])).toMatchObject(error);
    expect(await height()).toBe(before + 3);
    expect(await ask(first, "anvil_reorg", [1, []])).toMatchObject(error);
    expect(await height()).toBe(before + 3);
    expect(await ask(first, "anvil_setBalance", [address, "0x7"])).toMatchObject(error);
    expect(await rpc("eth_getBalance", address, "latest")).toBe("0x7");
    const problem = { status: 503, code: "storage_unavailable", detail: taken, again: null };
    expect(await control(first, "/blocks", { blocks: 2 })).toEqual(problem);
    expect(await height()).toBe(before + 5);
    expect(await control(first, "/clock", { seconds: 60 })).toEqual(problem);
    expect(await height()).toBe(before + 6);
    expect(await ask(first, "evm_mine_detailed", [{ blocks: 2 }])).toMatchObject(error);
    expect(await height()).toBe(before + 8);
    expect(await control(first, "/mining", { every: "never" })).toEqual(problem);
    expect(await rpc("anvil_getAutomine")).toBe(false);
    expect(await ask(first, "anvil_dropAllTransactions", [])).toMatchObject(error);
    await limit(first, "unlimited");
    expect(await ask(first, "anvil_mine", ["0x1"])).toMatchObject({ result: null });
    const { hash } = Object(await rpc("eth_getBlockByNumber", "latest", false));
    await kill(first, "all at once");
    await using second = await createSandbox({ dataDirectory: folder });
    const after = rpcOf(second.description);
    expect(Object(await after("eth_getBlockByNumber", "latest", false)).hash).toBe(hash);
    expect(await after("eth_getBalance", address, "latest")).toBe("0x7");
    expect(await after("anvil_getAutomine")).toBe(false);
  },
);

test.skipIf(process.platform !== "linux")(
  "a live clock that the data directory did not let travel stays where it is, after later writes and a resume too",
  async () => {
    const folder = await temporaryFolder();
    const first = await startSandbox(folder);
    const before = Number(await rpcOf(first.description)("eth_blockNumber"));
    await limit(first, "1");
    expect(await control(first, "/clock", { seconds: 864_000 })).toEqual({
      status: 503,
      code: "storage_unavailable",
      detail: "The data directory refuses writes.",
      again: "1",
    });
    expect(Number(await rpcOf(first.description)("eth_blockNumber"))).toBe(before);
    await limit(first, "unlimited");
    await control(first, "/blocks", { blocks: 1 });
    await kill(first, "all at once");
    await using second = await createSandbox({ dataDirectory: folder });
    const { now } = JSON.parse(
      await (await fetch(new URL("/status", second.description.urls.control))).text(),
    );
    expect(now).toBeLessThan(Date.now() / 1_000 + 86_400);
  },
);
