import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { type AnvilOptions, startAnvil } from "../../../../sandbox/chain/anvil/start-anvil.ts";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";
import { findProcess } from "../../../../sandbox/lib/processes/processes.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";
import { findAnvils } from "./find-anvil.ts";

const started = z.object({ pid: z.int(), port: z.int() });

async function start(options?: AnvilOptions) {
  const anvil = await startAnvil(options);
  onTestFinished(async () => await anvil.stop());
  return { anvil, client: createChainClient(anvil.url) };
}

async function startInOtherProcess(home = homedir()) {
  const parent = spawn(process.execPath, [fileURLToPath(new URL("keep-running.ts", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, HOME: home },
  });
  onTestFinished(() => {
    parent.kill("SIGKILL");
  });
  const [line] = await once(createInterface(parent.stdout), "line");
  return { parent, ...started.parse(JSON.parse(z.string().parse(line))) };
}

async function kill(parent: ChildProcess, signal: NodeJS.Signals) {
  // Without its Anvil it may have ended by itself.
  if (parent.exitCode !== null) return;
  const exit = once(parent, "exit");
  parent.kill(signal);
  await exit;
}

async function untilGone(pid: number) {
  await vi.waitFor(async () => expect(await findProcess(pid)).toBeUndefined(), {
    timeout: 10_000,
    interval: 10,
  });
}

describe("an Anvil", () => {
  test("listens on the port that the kernel chose, answers, and has ended after its stop", async () => {
    const { anvil, client } = await start();
    expect(anvil.url).toMatch(new RegExp(`^http://127\\.\\d+\\.\\d+\\.\\d+:${anvil.port}$`));
    expect(await client.getChainId()).toBe(31_337);
    await anvil.stop();
    expect(await findProcess(anvil.pid)).toBeUndefined();
    expect((await anvil.exited).code).toBe(0);
    await anvil.stop();
  });

  test("reports its end when another process ends it", async () => {
    const { anvil } = await start();
    process.kill(anvil.pid, "SIGKILL");
    expect((await anvil.exited).code).toBe(137);
  });

  test("says why a broken state cannot be loaded", async () => {
    const initialState = join(await temporaryFolder(), "state.json");
    await writeFile(initialState, "{}");
    await expect(startAnvil({ initialState })).rejects.toMatchObject({
      code: "state_unusable",
      message: `Anvil cannot load ${initialState}: missing field \`block\` at line 1 column 2.`,
    });
  });

  test.for(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
    "ends with its parent when that gets %s",
    { tags: "thorough" },
    async (signal) => {
      const home = await temporaryFolder();
      const { parent, pid } = await startInOtherProcess(home);
      await kill(parent, signal);
      await untilGone(pid);
      expect(await readdir(home)).toEqual([]);
    },
  );

  test("ends with its parent when that is killed after its guard", { tags: "thorough" }, async () => {
    const { parent, pid } = await startInOtherProcess();
    const [{ guard } = { guard: 0 }] = await findAnvils(parent.pid ?? 0);
    process.kill(guard, "SIGKILL");
    await kill(parent, "SIGKILL");
    await untilGone(pid);
  });

  test("has ended after its stop even if its guard was killed", async () => {
    const { anvil } = await start();
    const own = (await findAnvils(process.pid)).find((found) => found.anvil === anvil.pid);
    process.kill(own?.guard ?? 0, "SIGKILL");
    await anvil.exited;
    await anvil.stop();
    await untilGone(anvil.pid);
  });
});

test("an Anvil ends at once when it is stopped as soon as it has started", { tags: "thorough" }, async () => {
  const guard = fileURLToPath(new URL("../../../../sandbox/chain/anvil/guard.sh", import.meta.url));
  // A guard whose watcher had not begun yet waited for it until its parent ended: 6 of 100.
  for (let stopped = 0; stopped < 100; stopped += 1) {
    const guarded = spawn(guard, ["sleep", "60"], { stdio: ["pipe", "pipe", "ignore"] });
    onTestFinished(() => void guarded.kill("SIGKILL"));
    await once(guarded.stdout, "data");
    guarded.kill("SIGTERM");
    expect(await once(guarded, "exit")).toEqual([0, null]);
  }
});
