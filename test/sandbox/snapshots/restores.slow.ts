import { readdir, readFile } from "node:fs/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { Sandbox } from "../../../sandbox/create-sandbox.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Resources that a restore could leak: memory in MiB, and objects that must be closed. */
async function leftBehind({ chain }: Sandbox) {
  collectGarbage();
  const status = await readFile(`/proc/${chain.anvil.pid}/status`, "utf8");
  const resources = Object.entries(
    Object.groupBy(process.getActiveResourcesInfo(), (resource) => resource),
  ).map(([name, ones = []]) => [name, ones.length] as const);
  const names = process.eventNames();
  return {
    heap: process.memoryUsage().heapUsed / 2 ** 20,
    anvil: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 2 ** 10,
    // The pools of sockets that fetch keeps grow and shrink by themselves.
    resources: resources.filter(([name]) => name !== "TCPSocketWrap" && name !== "CloseReq"),
    listeners: names.map((name) => [String(name), process.listenerCount(name)]),
    anvilFiles: (await readdir(`/proc/${chain.anvil.pid}/fd`)).length,
  };
}

/** Restores after changes of every kind: blocks, records, keys, time, faults. @returns milliseconds per restore. */
async function restores(sandbox: Sandbox, count: number): Promise<number> {
  const snapshot = await sandbox.snapshot();
  let elapsed = 0;
  for (let round = 0; round < count; round += 1) {
    if (round % 4 === 0) await sandbox.clock.travel(60);
    await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "drop" });
    if (round % 5 === 0) await sandbox.rotateKeys("receipts");
    if (round % 50 === 0) {
      const { merchant, stranger } = sandbox.wallets;
      const body = { wallet: merchant.address, name: "Corner Books", funding_cap: "500000000" };
      const header = { "Idempotency-Key": "merchant-1" };
      const params = { path: { program: "prg_demo" }, header };
      await sandbox.client.POST("/v1/routing/programs/{program}/merchants", { params, body });
      await stranger.faucet(1n);
    }
    const began = performance.now();
    await snapshot.restore();
    elapsed += performance.now() - began;
  }
  return elapsed / count;
}

test.runIf(process.platform === "linux")(
  "a thousand restores leave no memory, file, timer, listener or difference behind",
  async ({ annotate }) => {
    const sandbox = await freshSandbox();
    const fresh = await sandbox.fingerprint();
    // Code is compiled, caches and pools are filled.
    await restores(sandbox, 200);
    const before = await leftBehind(sandbox);
    const milliseconds = await restores(sandbox, 1_000);
    const after = await leftBehind(sandbox);
    await annotate(`${milliseconds.toFixed(2)} ms a restore`);
    await annotate(`MiB before and after: ${JSON.stringify([before, after])}`);
    expect(await sandbox.fingerprint()).toEqual(fresh);
    expect(after.heap - before.heap).toBeLessThan(4);
    expect(after.anvil - before.anvil).toBeLessThan(16);
    expect(after.listeners).toEqual(before.listeners);
    // The test runner sometimes has a timer. A timer that each restore leaks would be there a thousand times.
    for (const [name, count] of after.resources)
      expect(count, name).toBeLessThanOrEqual((new Map(before.resources).get(name) ?? 0) + 2);
    expect(after.anvilFiles).toBeLessThanOrEqual(before.anvilFiles + 4);
  },
);
