import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { usdc } from "../../protocol/values/amount.ts";
import { createApiClient } from "../../sandbox/client/api-client.ts";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { isRunning, listProcesses, recordProcess } from "../../sandbox/lib/processes/processes.ts";
import { actorsOf, balanceOf } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { Session } from "../../testkit/demo/session.ts";
import { enrollMerchant } from "../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../testkit/demo/show-purchase.ts";
import { runCli } from "../cli/run-cli.ts";
import { findAnvils } from "../sandbox/chain/anvil/find-anvil.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type StartedSandbox, startSandbox, startWith } from "./started-sandbox.ts";

test.for(["a close", "SIGKILL"])(
  "a purchase that was paid in part continues after %s and a second start, chain included",
  async (end) => {
    const folder = await temporaryFolder();
    const killed = end === "SIGKILL" ? await startSandbox(folder) : null;
    const first = killed ?? (await createSandbox({ dataDirectory: folder, mode: "live" }));
    const session = await Session.open(actorsOf(first.description), silentPrinter);
    const merchant = await enrollMerchant(session);
    const purchase = await demoSteps.createPurchase(session, merchant, "purchase", "25000000");
    await demoSteps.activate(session, purchase, "activate");
    await demoSteps.approve(session, session.actors.buyer, purchase, 25n * usdc);
    const firstPayment = await demoSteps.pay(session, purchase, 10n * usdc);
    await demoSteps.reconcile(session, purchase, "reconcile-1");
    const { credential } = session;
    await (killed === null ? first[Symbol.asyncDispose]() : killed.end("SIGKILL"));

    await using second = await createSandbox({ dataDirectory: folder });
    expect(second.description.chain).toEqual(first.description.chain);
    const actors = actorsOf(second.description);
    const kept = await createApiClient(actors.apiUrl, credential).GET(
      "/v1/routing/programs/{program}/purchases/{id}",
      { params: { path: { program: actors.program, id: purchase.id } } },
    );
    expect(kept.response.status).toBe(200);
    expect(kept.data).toMatchObject({ status: "active", figures: { paid: "10000000" } });

    const later = await Session.open(actors, silentPrinter);
    await demoSteps.pay(later, purchase, 15n * usdc);
    const reconciled = await demoSteps.reconcile(later, purchase, "reconcile-2");
    expect(reconciled.already_reconciled.map(({ transaction_hash }) => transaction_hash)).toEqual([
      firstPayment,
    ]);
    expect(reconciled.applied.map(({ amount }) => amount)).toEqual(["15000000"]);
    const claim = await demoSteps.claim(later, purchase, 25n * usdc);
    const decision = await demoSteps.decide(later, purchase, claim, 25n * usdc);
    const before = await balanceOf(actors, actors.beneficiary.address);
    const { refund } = await demoSteps.refund(later, purchase, decision);
    expect(refund.status).toBe("collected");
    expect(await balanceOf(actors, actors.beneficiary.address)).toBe(before + 25n * usdc);
  },
);

test("an Anvil that is killed while its sandbox publishes itself is replaced", async () => {
  const folder = await temporaryFolder();
  const starting = startSandbox(folder);
  await vi.waitUntil(() => existsSync(join(folder, ".env")), { interval: 1, timeout: 20_000 });
  const lock = JSON.parse(await readFile(join(folder, "lock.json"), "utf8"));
  // The sandbox learns of the end before its files are on disk.
  process.kill(lock.pid, "SIGSTOP");
  process.kill(lock.anvil.pid, "SIGKILL");
  await expect.poll(() => isRunning(lock.anvil)).toBe(false);
  process.kill(lock.pid, "SIGCONT");
  await using sandbox = await starting;
  const { control } = sandbox.description.urls;
  await expect.poll(async () => (await fetch(`${control}/status`)).status).toBe(200);
  expect(await findAnvils(lock.pid)).toEqual([expect.not.objectContaining({ anvil: lock.anvil.pid })]);
});

test("a second sandbox in one data directory is refused, and a clean stop leaves neither sandbox.json nor a process behind", async () => {
  const folder = await temporaryFolder();
  await using sandbox = await startSandbox(folder);
  const { pid, urls } = sandbox.description;
  await expect(createSandbox({ dataDirectory: folder })).rejects.toThrow(`Process ${pid} runs a sandbox`);
  expect(await sandbox.end("SIGINT")).toBe(0);
  await expect(fetch(urls.rpc)).rejects.toThrow();
  expect(existsSync(join(folder, "sandbox.json"))).toBe(false);
});

/** Kills a sandbox and everything that would end its Anvil: the guard and the process that waits for the sandbox's end. */
async function orphanAnvil(sandbox: StartedSandbox) {
  const [found] = await findAnvils(sandbox.description.pid);
  if (found === undefined) throw new Error("The sandbox has no Anvil.");
  const anvil = recordProcess(found.anvil);
  onTestFinished(() => {
    if (isRunning(anvil)) process.kill(anvil.pid, "SIGKILL");
  });
  const watchers = (await listProcesses()).filter(
    ({ parentPid, pid }) => parentPid === found.guard && pid !== found.anvil,
  );
  // A sandbox that still ran would see that its guard has ended, and end the Anvil itself.
  process.kill(sandbox.description.pid, "SIGSTOP");
  for (const pid of [...watchers.map((watcher) => watcher.pid), found.guard]) process.kill(pid, "SIGKILL");
  await sandbox.end("SIGKILL");
  return anvil;
}

/** Whether the system can end a process with its parent. */
const canEndWithParent = spawnSync("setpriv", ["--pdeathsig", "KILL", "true"]).status === 0;

test.skipIf(!canEndWithParent)(
  "where setpriv is, an Anvil ends also if everything that would end it is killed with its sandbox",
  async () => {
    for (let run = 0; run < 3; run += 1) {
      const anvil = await orphanAnvil(await startSandbox(await temporaryFolder()));
      await expect.poll(() => isRunning(anvil)).toBe(false);
    }
  },
  60_000,
);

/** Starts a sandbox on a system that has no setpriv. */
async function startWithoutSetpriv(folder: string): Promise<StartedSandbox> {
  const programs = await temporaryFolder();
  await writeFile(join(programs, "setpriv"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  return await startWith("env", [`PATH=${programs}:${process.env["PATH"]}`, process.execPath], folder, []);
}

test.skipIf(process.platform !== "linux")(
  "stop ends an Anvil whose guard was killed with its sandbox, and says so",
  async () => {
    const folder = await temporaryFolder();
    const killed = await startWithoutSetpriv(folder);
    const anvil = await orphanAnvil(killed);
    expect(isRunning(anvil)).toBe(true);
    const { pid } = killed.description;
    expect(await runCli("stop", "--data-dir", folder)).toBe(
      `The sandbox in ${folder} (process ${pid}) had been killed. Removed its lock and its keys, and ended its Anvil (process ${anvil.pid}).\n`,
    );
    expect(isRunning(anvil)).toBe(false);
  },
  60_000,
);

test.skipIf(process.platform !== "linux")(
  "an Anvil whose guard was killed with its sandbox is ended by the next start in the directory, and by no other",
  async () => {
    const [folder, copy] = [await temporaryFolder(), await temporaryFolder()];
    for (const kill of [false, true]) {
      const first = await startWithoutSetpriv(folder);
      if (kill) {
        const before = first.description.pid;
        const [found] = await findAnvils(before);
        process.kill(found?.anvil ?? 0, "SIGKILL");
        const other = async () => (await findAnvils(before)).some(({ anvil }) => anvil !== found?.anvil);
        await expect.poll(other, { timeout: 20_000 }).toBe(true);
        await expect
          .poll(async () => (await fetch(`${first.description.urls.control}/status`)).status)
          .toBe(200);
      }
      const anvil = await orphanAnvil(first);
      expect(isRunning(anvil)).toBe(true);
      await cp(folder, copy, { recursive: true, force: true });
      for (const elsewhere of [copy, await temporaryFolder()]) {
        await (await createSandbox({ dataDirectory: elsewhere })).close();
        expect(isRunning(anvil)).toBe(true);
      }
      await using second = await createSandbox({ dataDirectory: folder });
      expect(second.chain.resumed).toBe(true);
      expect(isRunning(anvil)).toBe(false);
    }
  },
);

test.skipIf(process.platform !== "linux")(
  "a process that has got the id of an Anvil that ended is left alone",
  async () => {
    const folder = await temporaryFolder();
    const first = await startSandbox(folder);
    await first.end("SIGKILL");
    const other = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"]);
    onTestFinished(() => void other.kill("SIGKILL"));
    await once(other, "spawn");
    const file = join(folder, "lock.json");
    const lock = JSON.parse(await readFile(file, "utf8"));
    expect(lock.anvil.started).not.toBeNull();
    await writeFile(file, JSON.stringify({ ...lock, anvil: { ...lock.anvil, pid: other.pid } }));
    await using second = await createSandbox({ dataDirectory: folder });
    expect(second.chain.resumed).toBe(true);
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
  },
);
