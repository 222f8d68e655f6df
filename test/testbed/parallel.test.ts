import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { silentNarrator } from "../../sandbox/demo/narrator.ts";
import { runDemo } from "../../sandbox/demo/run-demo.ts";

const keepRunning = fileURLToPath(new URL("keep-running.ts", import.meta.url));

test("eight sandboxes in one process tell their stories at once, each on ports of its own", {
  timeout: 60_000,
}, async () => {
  const sandboxes = await Promise.all(
    Array.from({ length: 8 }, (_, index) => createSandbox({ seed: `s${index}` })),
  );
  try {
    const urls = sandboxes.flatMap(({ description }) => Object.values(description.urls));
    expect(new Set(urls).size).toBe(32);
    await Promise.all(sandboxes.map(({ description }) => runDemo(description, silentNarrator)));
    const events = await Promise.all(
      sandboxes.map(async ({ store }) => (await store.list("events", {})).length),
    );
    expect(new Set(events).size).toBe(1);
  } finally {
    await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
  }
});

test.for(["return", "throw", "SIGINT", "SIGTERM", "SIGKILL"] as const)(
  "leaves no Anvil behind after %s",
  async (ending) => {
    const child = spawn(process.execPath, [keepRunning, ending], { stdio: ["ignore", "pipe", "ignore"] });
    const exited = once(child, "exit");
    const [line] = await once(createInterface(child.stdout), "line");
    const { anvil, rpc } = JSON.parse(line);
    if (ending.startsWith("SIG"))
      child.kill(ending === "SIGINT" ? "SIGINT" : ending === "SIGTERM" ? "SIGTERM" : "SIGKILL");
    await exited;
    await expect.poll(() => isAlive(anvil), { timeout: 10_000, interval: 20 }).toBe(false);
    await expect(fetch(rpc)).rejects.toThrow();
  },
);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
