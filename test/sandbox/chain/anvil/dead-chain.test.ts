import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { readOwner } from "../../../../sandbox/data-directory/lock.ts";
import { processesWith } from "../../../../sandbox/lib/processes/processes.ts";
import { ask } from "../../../ask.ts";
import { startCli } from "../../../cli/run-cli.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

const hash = `0x${"ab".repeat(32)}`;
const json = { "Content-Type": "application/json" };

const described = z.object({
  wallets: z.record(z.string(), z.object({ private_key: z.string() })),
  accounts: z.array(z.object({ key: z.string() })),
});

/** A sandbox whose Anvil has been killed. */
async function openDead(prepare = async (_: Sandbox): Promise<unknown> => undefined): Promise<Sandbox> {
  const sandbox = await createSandbox({ seed: "dead-chain" });
  onTestFinished(async () => await sandbox.close());
  await prepare(sandbox);
  process.kill(sandbox.chain.anvil.pid, "SIGKILL");
  await sandbox.chain.anvil.exited;
  return sandbox;
}

test.each([
  ["GET", "/status", undefined],
  ["GET", `/explain/${hash}`, undefined],
  ["GET", "/explorer/overview", undefined],
  ["GET", "/explorer/purchases", undefined],
  ["GET", "/explorer/blocks", undefined],
  ["GET", "/explorer/merchants", undefined],
  ["GET", "/trace", undefined],
  ["POST", "/clock", '{"seconds":60}'],
  ["POST", "/blocks", '{"blocks":1}'],
  ["POST", "/mining", '{"every":"never"}'],
])(
  "%s %s of the control API says 503 and what to do when Anvil has ended, without its address",
  { tags: "thorough" },
  async (method, path, body) => {
    const { description } = await openDead();
    const answer = await ask(description.urls.control + path, {
      method,
      headers: json,
      ...(body === undefined ? {} : { body }),
    });
    expect(answer.status).toBe(503);
    expect(answer.headers).toMatchObject({
      "content-type": expect.stringContaining("application/problem+json"),
      "retry-after": "1",
    });
    expect(JSON.parse(answer.text)).toEqual({
      type: "about:blank",
      status: 503,
      code: "rpc_unavailable",
      detail: `The chain does not respond: Anvil is busy or has ended. ${method === "GET" ? "Send the request again" : "The request may have taken effect: look at GET /status, and repeat the request if it has not"}; if that fails too, start the sandbox again.`,
    });
  },
);

test("POST /deliver of the control API answers with the failure of the routing API when Anvil has ended, as it is described", async () => {
  const { description } = await openDead(async ({ given }) => await given.merchant({ state: "enrolled" }));
  const { control } = description.urls;
  const answer = await ask(`${control}/deliver`, { method: "POST" });
  expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "1"]);
  expect(JSON.parse(answer.text)).toMatchObject({
    status: 503,
    code: "rpc_unavailable",
    problem: { status: 503 },
  });
  const described = JSON.parse((await ask(`${control}/openapi.json`)).text);
  expect(Object.keys(described.paths["/deliver"].post.responses)).toEqual(
    expect.arrayContaining(["422", "503"]),
  );
});

test("explain of a sandbox whose Anvil has ended is refused with the code that the API has for it", async () => {
  const sandbox = await openDead();
  await expect(sandbox.explain(`0x${"ab".repeat(32)}`)).rejects.toMatchObject({ code: "rpc_unavailable" });
});

test("the routing API and the chain RPC name no address of an Anvil that has ended", async () => {
  const { description, chain } = await openDead();
  const { urls, accounts } = description;
  const issued = await ask(`${urls.api}/v1/routing/access`, {
    method: "POST",
    headers: { ...json, Authorization: `Bearer ${accounts[0]?.key}` },
    body: "{}",
  });
  const { credential } = JSON.parse(issued.text);
  const read = await ask(`${urls.api}/v1/routing/programs/prg_demo`, {
    headers: { Authorization: `Bearer ${credential}` },
  });
  expect(read.status).toBe(503);
  expect(JSON.parse(read.text)).toMatchObject({
    code: "rpc_unavailable",
    detail: "The chain does not respond, so the API cannot read the time. Send the identical request again.",
  });
  const call = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}';
  const rpc = await ask(urls.rpc, { method: "POST", headers: json, body: call });
  expect([rpc.status, JSON.parse(rpc.text)]).toEqual([
    502,
    {
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32_603, message: "The chain does not respond. See whether the sandbox still runs." },
    },
  ]);
  const { host } = new URL(chain.anvil.url);
  for (const { text: answered } of [read, rpc]) expect(answered).not.toContain(host);
});

test.each([
  ["anvil_setBalance", [`0x${"11".repeat(20)}`, "0x1"]],
  ["anvil_setStorageAt", [`0x${"11".repeat(20)}`, "0x0", hash]],
  ["anvil_setNextBlockBaseFeePerGas", ["0x1"]],
  ["anvil_setCode", [`0x${"11".repeat(20)}`, "0x00"]],
  ["anvil_setNonce", [`0x${"11".repeat(20)}`, "0x1"]],
  ["evm_mine", []],
  ["anvil_reorg", [1, []]],
])("%s over the chain RPC is answered when Anvil has ended", { tags: "thorough" }, async (method, params) => {
  const { description } = await openDead();
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await ask(description.urls.rpc, { method: "POST", headers: json, body });
  const { error } = JSON.parse(answer.text);
  expect(error.message).toMatch(/See whether the sandbox still runs|Look at the chain/);
});

test("a change over the chain RPC is answered while Anvil is replaced", { tags: "thorough" }, async () => {
  await using sandbox = await createSandbox({ dataDirectory: await temporaryFolder() });
  const { urls } = sandbox.description;
  const address = `0x${"11".repeat(20)}`;
  for (const [method, ...params] of [
    ["anvil_setBalance", address, "0x1"],
    ["anvil_setStorageAt", address, "0x0", hash],
    ["anvil_setCode", address, "0x00"],
    ["anvil_setNonce", address, "0x1"],
  ]) {
    process.kill(sandbox.chain.anvil.pid, "SIGKILL");
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = await ask(urls.rpc, { method: "POST", headers: json, body });
    expect([200, 502]).toContain(answer.status);
    await expect.poll(async () => (await ask(`${urls.control}/health`)).status).toBe(200);
  }
});

test("a sandbox whose Anvil has panicked reports the panic's message, and closes", async () => {
  const sandbox = await createSandbox({ seed: "dead-chain" });
  const address = "0x00000000000000000000000000000000000000aa";
  await expect(sandbox.chain.client.setCode({ address, bytecode: "0xef01" })).rejects.toThrow("Anvil");
  await sandbox.chain.anvil.exited;
  expect((await sandbox.chain.anvil.exited).panic).toMatch(/\S/);
  await sandbox.close();
});

test.each(["SIGKILL", "SIGTERM"] as const)(
  "the last line of a start whose Anvil got %s, and whose chain cannot be rebuilt, says why and what to do, and no key is printed",
  { tags: "thorough" },
  async (signal) => {
    const dataDirectory = join(await temporaryFolder(), "data");
    const ports = ["api", "docs", "control", "rpc"].flatMap((name) => [`--${name}-port`, "0"]);
    const { stdout, stderr, exited } = startCli(["start", "--json", "--data-dir", dataDirectory, ...ports]);
    const complaint = text(stderr);
    const [first] = await once(stdout, "data");
    const { wallets, accounts } = described.parse(JSON.parse(String(first)));
    const state = join(dataDirectory, "store", "chain.json");
    await rm(state);
    process.kill((await readOwner(dataDirectory))?.anvil?.pid ?? 0, signal);
    expect(await exited).toBe(1);
    const lines = (await complaint).trim().split("\n");
    expect(lines.at(-1)).toBe(
      `Anvil has ended, and the sandbox with it. The chain cannot be rebuilt: ${state} is missing: it is the state that the chain came from. Restore the data directory from a backup, or choose another one with --data-dir.`,
    );
    const secrets = [
      ...Object.values(wallets).map(({ private_key }) => private_key.slice(2)),
      ...accounts.map(({ key }) => key),
    ];
    expect(secrets.filter((secret) => lines.join("\n").includes(secret))).toEqual([]);
  },
);

test("a sandbox that is closed while its Anvil is replaced leaves no process", {
  tags: "thorough",
}, async () => {
  const dataDirectory = await temporaryFolder();
  vi.stubEnv("LEFT_BY", dataDirectory);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  // Each time, the replacement has come a step further.
  for (let steps = 0; steps < 12; steps += 1) {
    const sandbox = await createSandbox({ dataDirectory });
    const { anvil } = sandbox.chain;
    process.kill(anvil.pid, "SIGKILL");
    if (steps > 0) await anvil.ended;
    for (let step = 1; step < steps; step += 1) await setImmediate();
    await sandbox.close();
    expect(await processesWith("LEFT_BY", dataDirectory), `after ${steps} steps`).toEqual([]);
  }
});
