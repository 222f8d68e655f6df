import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { isRunning } from "../../sandbox/lib/processes/processes.ts";
import { actorsOf } from "../../testkit/demo/actors.ts";
import { silentPrinter } from "../../testkit/demo/printer.ts";
import { Session } from "../../testkit/demo/session.ts";
import { enrollMerchant } from "../../testkit/demo/show-merchant.ts";
import { programFile } from "../program-file.ts";

const keepRunning = programFile("keep-running");
const workInThread = programFile("work-in-thread");

const endings = [
  "return",
  "throw",
  "process.exit",
  "unhandled rejection",
  "SIGINT",
  "SIGTERM",
  "SIGKILL",
] as const;

test("eight sandboxes in one process work at once on their own ports, and equal seeds stay equal", async () => {
  const sandboxes = await Promise.all(
    Array.from({ length: 8 }, (_, index) => createSandbox({ seed: `s${index % 4}` })),
  );
  try {
    const urls = sandboxes.flatMap(({ description }) => Object.values(description.urls));
    expect(new Set(urls).size).toBe(32);
    await Promise.all(
      sandboxes.map(async ({ description }) => {
        await enrollMerchant(await Session.open(actorsOf(description), silentPrinter));
      }),
    );
    const digests = await Promise.all(sandboxes.map(async (sandbox) => (await sandbox.fingerprint()).digest));
    expect(digests.slice(4)).toEqual(digests.slice(0, 4));
    expect(new Set(digests).size).toBe(4);
  } finally {
    await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
  }
});

test("eight worker threads have one sandbox each, and none remains when they end or are terminated", async () => {
  const workers = Array.from({ length: 8 }, (_, index) => {
    const worker = new Worker(workInThread, {
      workerData: { seed: `s${index % 4}`, ends: index < 4 },
    });
    return { worker, told: once(worker, "message"), exited: once(worker, "exit") };
  });
  const told = (await Promise.all(workers.map(async ({ told: message }) => (await message)[0]))) as {
    urls: string[];
    anvil: number;
    digest: string;
  }[];
  expect(new Set(told.flatMap(({ urls }) => urls)).size).toBe(32);
  const digests = told.map(({ digest }) => digest);
  expect(digests.slice(4)).toEqual(digests.slice(0, 4));
  await Promise.all(workers.slice(4).map(async ({ worker }) => await worker.terminate()));
  await Promise.all(workers.map(async ({ exited }) => await exited));
  for (const { anvil } of told) await expectGone(anvil);
});

test("no Anvil remains, whichever way its process ends", async () => {
  await Promise.all(
    endings.map(async (ending) => {
      const child = spawn(process.execPath, [keepRunning, ending], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      const exited = once(child, "exit");
      const [line] = await once(createInterface(child.stdout), "line");
      const { anvil, rpc } = JSON.parse(line);
      if (ending === "SIGINT" || ending === "SIGTERM" || ending === "SIGKILL") child.kill(ending);
      await exited;
      await expectGone(anvil);
      await expect(fetch(rpc), ending).rejects.toThrow();
    }),
  );
});

async function expectGone(pid: number): Promise<void> {
  await expect.poll(() => isRunning({ pid, started: null }), { timeout: 10_000, interval: 20 }).toBe(false);
}
