import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { z } from "zod";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import type { SandboxDescription } from "../../sandbox/options/description.ts";
import { type RelayedRequest, Storefront, send } from "../crash/storefront.ts";
import { controlSandbox } from "../kit/control.ts";
import { findAnvils } from "../sandbox/chain/anvil/find-anvil.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { kill } from "./kill.ts";
import { readBlocks, rpcOf } from "./rpc.ts";
import { startSandbox } from "./started-sandbox.ts";

const problem = z.looseObject({ code: z.string().optional() });
const overview = z.object({ anvil_restarts: z.int() });

/** Resolves when the explorer tells of so many restarts of Anvil; until then the chain may not answer. */
async function restarted(description: SandboxDescription, times: number): Promise<void> {
  const read = async () => {
    const answer = await controlSandbox(description, "GET", "/explorer/overview").catch(() => null);
    return overview.safeParse(answer).data?.anvil_restarts;
  };
  await expect.poll(read, { timeout: 30_000, interval: 20 }).toBe(times);
}

test("an Anvil that gets SIGKILL, alone or through its guard, is replaced while the sandbox runs: same URLs, equal blocks, byte-identical replays, time and mining mode", async () => {
  const folder = await temporaryFolder();
  const sandbox = await startSandbox(folder);
  const { description } = sandbox;
  const rpc = rpcOf(description);
  const storefront = await Storefront.open(description);
  const request = await storefront.prepare("offer");
  const answer = await send(description, storefront.credential, request);
  expect(answer.status).toBe(200);
  await controlSandbox(description, "POST", "/clock", { seconds: 86_400 });
  await controlSandbox(description, "POST", "/snapshots");
  const blocks = await readBlocks(description);

  for (const [index, victim] of (["Anvil", "Anvil's guard"] as const).entries()) {
    await kill(sandbox, victim);
    await restarted(description, index + 1);
    expect((await readBlocks(description)).slice(0, blocks.length)).toEqual(blocks);
    const replayed = await send(description, storefront.credential, request);
    expect(replayed).toEqual({ ...answer, replayed: true });
    const later = await storefront.prepare("collect_refund");
    expect((await send(description, storefront.credential, later)).status).toBe(201);
  }
  const pending = z.object({ timestamp: z.string().transform(Number) });
  const { timestamp } = pending.parse(await rpc("eth_getBlockByNumber", "pending", false));
  expect(timestamp - Date.now() / 1_000).toBeGreaterThan(86_000);
  await expect(controlSandbox(description, "POST", "/snapshots/1/restore", {})).rejects.toThrow(
    "The node no longer has this snapshot",
  );
  const all = await readBlocks(description);
  await kill(sandbox, "all at once");
  await using second = await createSandbox({ dataDirectory: folder });
  expect((await readBlocks(second.description)).slice(0, all.length)).toEqual(all);
});

test("if Anvil has ended with a block that is not in the journal, writes answer rpc_unavailable until another Anvil has replaced it", async () => {
  await using sandbox = await createSandbox({ dataDirectory: await temporaryFolder(), mode: "live" });
  const { description, chain } = sandbox;
  const { urls, accounts } = description;
  const all = await findAnvils(process.pid);
  const guard = all.find(({ anvil }) => anvil === chain.anvil.pid)?.guard ?? 0;
  const post = async (url: string, body: object) => {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${accounts[0]?.key}` };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, code: problem.parse(await response.json()).code };
  };
  const writes: [string, object][] = [
    [`${urls.control}/clock`, { seconds: 60 }],
    [`${urls.control}/keys/rotate`, {}],
    [`${urls.control}/blocks`, { blocks: 1 }],
    [`${urls.control}/mining`, { every: "transaction" }],
    [`${urls.api}/v1/routing/access`, {}],
  ];
  // This process, and the sandbox in it, learn of the block after Anvil has ended, and a guard that is stopped does not tell of that.
  const mined = 'JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] })';
  execFileSync(process.execPath, [
    "--eval",
    `process.kill(${guard}, "SIGSTOP");
    fetch("${chain.anvil.url}", { method: "POST", headers: { "Content-Type": "application/json" }, body: ${mined} })
      .then((response) => response.text())
      .then(() => process.kill(${chain.anvil.pid}, "SIGKILL"));`,
  ]);
  try {
    for (const [url, body] of writes)
      expect([url, await post(url, body)]).toEqual([url, { status: 503, code: "rpc_unavailable" }]);
  } finally {
    process.kill(guard, "SIGCONT");
  }
  await restarted(description, 1);
  for (const [url, body] of writes) expect([200, 201], url).toContain((await post(url, body)).status);
});

test("a request in progress when Anvil gets SIGKILL has its effect once, and gets its result or a correct error", async () => {
  await using sandbox = await createSandbox({ dataDirectory: await temporaryFolder(), mode: "live" });
  const { description } = sandbox;
  const storefront = await Storefront.open(description);
  const requests: RelayedRequest[] = [];
  for (let made = 0; made < 4; made += 1) requests.push(await storefront.prepare("offer"));
  const { credential } = storefront;
  const sent = requests.map(async (request) => await send(description, credential, request));
  process.kill(sandbox.chain.anvil.pid, "SIGKILL");
  for (const { status, text: body } of await Promise.all(sent))
    expect([200, 202, 503], body).toContain(status);
  await restarted(description, 1);
  for (const request of requests) {
    const again = async () => (await send(description, credential, request)).status;
    await expect.poll(again, { timeout: 20_000 }).toBe(200);
  }
  const rpc = rpcOf(description);
  const { registrar } = description.contracts;
  const logs = z.array(z.object({ topics: z.array(z.string()) }));
  const all = logs.parse(
    await rpc("eth_getLogs", { address: registrar, fromBlock: "0x0", toBlock: "latest" }),
  );
  for (const request of requests)
    expect(all.filter(({ topics }) => topics.includes(request.commitment))).toHaveLength(1);
});

test("an Anvil that gets SIGKILL while it replaces another Anvil is also replaced", async () => {
  await using sandbox = await startSandbox(await temporaryFolder());
  const { description } = sandbox;
  const blocks = await readBlocks(description);
  const first = await theAnvil(description);
  process.kill(first, "SIGKILL");
  const killOther = async () => {
    const [found] = await findAnvils(description.pid);
    if (found === undefined || found.anvil === first) return false;
    process.kill(found.anvil, "SIGKILL");
    return true;
  };
  await expect.poll(killOther, { timeout: 20_000, interval: 1 }).toBe(true);
  const read = async () => await readBlocks(description).catch(() => null);
  await expect.poll(read, { timeout: 30_000, interval: 20 }).toEqual(blocks);
});

async function theAnvil({ pid }: SandboxDescription): Promise<number> {
  const [found] = await findAnvils(pid);
  if (found === undefined) throw new Error("The sandbox has no Anvil.");
  return found.anvil;
}
