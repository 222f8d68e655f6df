import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { type AnvilOptions, startAnvil } from "../../../../sandbox/chain/anvil/start-anvil.ts";
import { createChainClient } from "../../../../sandbox/chain/client/chain-client.ts";
import { findProcess } from "../../../../sandbox/lib/processes.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

const started = z.object({ pid: z.int(), port: z.int(), hash: z.string() });

async function start(options?: AnvilOptions) {
  const anvil = await startAnvil(options);
  onTestFinished(async () => await anvil.stop());
  return { anvil, client: createChainClient(anvil.url) };
}

async function startInOtherProcess(folder: string, home = homedir()) {
  const parent = spawn(
    process.execPath,
    [fileURLToPath(new URL("keep-running.ts", import.meta.url)), folder],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, HOME: home },
    },
  );
  onTestFinished(() => {
    parent.kill("SIGKILL");
  });
  const [line] = await once(createInterface(parent.stdout), "line");
  return { parent, ...started.parse(JSON.parse(z.string().parse(line))) };
}

async function traceOf(url: string, hash: string): Promise<unknown> {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "debug_traceTransaction",
    params: [hash, {}],
  });
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return z.object({ result: z.object({ gas: z.int() }) }).parse(await response.json());
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

describe("an Anvil in memory", () => {
  test("listens where the kernel chose, answers, and is gone after its stop", async () => {
    const { anvil, client } = await start();
    expect(anvil.url).toMatch(new RegExp(`^http://127\\.\\d+\\.\\d+\\.\\d+:${anvil.port}$`));
    expect(await client.getChainId()).toBe(31_337);
    await anvil.stop();
    expect(await findProcess(anvil.pid)).toBeUndefined();
    expect((await anvil.exited).code).toBe(0);
    await anvil.stop();
  });

  test("tells that it ended when something else ends it", async () => {
    const { anvil } = await start();
    process.kill(anvil.pid, "SIGKILL");
    expect((await anvil.exited).code).toBe(137);
  });

  test("says why a broken state cannot be loaded", async () => {
    const initialState = join(await temporaryFolder(), "state.json");
    await writeFile(initialState, "{}");
    await expect(startAnvil({ initialState })).rejects.toMatchObject({ code: "start_failed" });
  });

  test.for(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
    "ends with its parent when that gets %s",
    async (signal) => {
      const { parent, pid } = await startInOtherProcess(await temporaryFolder());
      await kill(parent, signal);
      await untilGone(pid);
    },
  );
});

describe("an Anvil with a state file", () => {
  test("continues after a stop with equal blocks, receipts and traces", async () => {
    const stateFile = join(await temporaryFolder(), "state.json");
    const { anvil, client } = await start({ stateFile });
    const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
    await client.setBalance({ address: account.address, value: parseEther("1") });
    const hash = await client.sendRawTransaction({
      serializedTransaction: await account.signTransaction({
        chainId: 31_337,
        nonce: 0,
        gas: 21_000n,
        maxFeePerGas: 2_000_000_000n,
        to: account.address,
      }),
    });
    const receipt = await client.waitForTransactionReceipt({ hash });
    await client.mine({ blocks: 2 });
    const block = await client.getBlock();
    const trace = await traceOf(anvil.url, hash);
    await anvil.stop();

    const again = await start({ stateFile });
    expect(anvil.resumed).toBe(false);
    expect(again.anvil.resumed).toBe(true);
    expect(await again.client.getBlock()).toEqual(block);
    expect(await again.client.getTransactionReceipt({ hash })).toEqual(receipt);
    expect(await traceOf(again.anvil.url, hash)).toEqual(trace);
  });

  test("is saved with all that it was sent, also when it stops in the middle of mining", async () => {
    const stateFile = join(await temporaryFolder(), "state.json");
    const { anvil, client } = await start({ stateFile });
    const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
    await client.setBalance({ address: account.address, value: parseEther("1") });
    const send = async (nonce: number) =>
      await client.sendRawTransaction({
        serializedTransaction: await account.signTransaction({
          chainId: 31_337,
          nonce,
          gas: 21_000n,
          maxFeePerGas: 2_000_000_000n,
          to: account.address,
        }),
      });
    await Promise.all(Array.from({ length: 60 }, async (_, nonce) => await send(nonce)));
    await anvil.stop();
    const again = await start({ stateFile });
    const blocks = await Promise.all(
      Array.from({ length: Number(await again.client.getBlockNumber()) }, async (_, below) =>
        again.client.getBlock({ blockNumber: BigInt(below + 1) }),
      ),
    );
    expect(blocks.flatMap(({ transactions }) => transactions)).toHaveLength(60);
    expect(await again.client.getTransactionCount({ address: account.address })).toBe(60);
  });

  test("keeps what it dumps small: the states of the latest 128 blocks only", async () => {
    const stateFile = join(await temporaryFolder(), "state.json");
    const { anvil, client } = await start({ stateFile });
    await client.mine({ blocks: 400 });
    const block = await client.getBlock({ blockNumber: 1n });
    await anvil.stop();
    const dump = z
      .object({ historical_states: z.array(z.unknown()) })
      .parse(JSON.parse(await readFile(stateFile, "utf8")));
    expect(dump.historical_states.length).toBeLessThanOrEqual(129);
    const again = await start({ stateFile });
    expect(await again.client.getBlock({ blockNumber: 1n })).toEqual(block);
    expect(await again.client.getBalance({ address: block.miner, blockNumber: 300n })).toBe(0n);
  });

  test("is saved when its parent is killed, and continues from there", async () => {
    const [folder, home] = [await temporaryFolder(), await temporaryFolder()];
    const { parent, pid, hash } = await startInOtherProcess(folder, home);
    await kill(parent, "SIGKILL");
    const { anvil, client } = await start({ stateFile: join(folder, "state.json") });
    expect(await findProcess(pid)).toBeUndefined();
    expect(anvil.resumed).toBe(true);
    expect((await client.getBlock({ blockNumber: 3n })).hash).toBe(hash);
    expect(await readdir(home)).toEqual([]);
    expect((await readdir(folder)).sort()).toEqual(["state.json", "state.json.pid", "state.json.used"]);
  });

  test("is refused while another process runs on it", async () => {
    const folder = await temporaryFolder();
    const { parent } = await startInOtherProcess(folder);
    await expect(startAnvil({ stateFile: join(folder, "state.json") })).rejects.toMatchObject({
      code: "state_in_use",
      message: expect.stringContaining(`Process ${parent.pid} `),
    });
  });

  test("is not resumed from an older state when Anvil was killed before it could save", async () => {
    const folder = await temporaryFolder();
    const stateFile = join(folder, "state.json");
    const { anvil } = await start({ stateFile });
    await anvil.stop();
    const { parent, pid } = await startInOtherProcess(folder);
    process.kill(pid, "SIGKILL");
    await untilGone(pid);
    await kill(parent, "SIGKILL");
    await expect(startAnvil({ stateFile })).rejects.toMatchObject({ code: "state_lost" });
  });

  test("is resumed from what was saved when Anvil was killed before the chain was handed out", async () => {
    const folder = await temporaryFolder();
    const stateFile = join(folder, "state.json");
    const { anvil, client } = await start({ stateFile });
    await client.mine({ blocks: 2 });
    const { hash } = await client.getBlock();
    await anvil.stop();
    const { parent, pid } = await startInOtherProcess(folder);
    process.kill(pid, "SIGKILL");
    await untilGone(pid);
    await kill(parent, "SIGKILL");
    // As it is until Anvil has answered to the one who started it.
    await rm(`${stateFile}.used`);
    const second = await start({ stateFile });
    expect(second.anvil.resumed).toBe(true);
    expect((await second.client.getBlock()).hash).toBe(hash);
  });

  test("is not resumed from a torn dump", async () => {
    const folder = await temporaryFolder();
    const stateFile = join(folder, "state.json");
    const { anvil } = await start({ stateFile });
    await anvil.stop();
    const whole = await readFile(stateFile);
    await writeFile(`${stateFile}.next`, whole.subarray(0, whole.length / 2));
    await expect(startAnvil({ stateFile })).rejects.toMatchObject({ code: "state_lost" });
    expect((await stat(stateFile)).size).toBe(whole.length);
  });

  test("does not end a process that merely got the id of an old Anvil", async () => {
    const stateFile = join(await temporaryFolder(), "state.json");
    const { anvil } = await start({ stateFile });
    await anvil.stop();
    const bystander = spawn("sleep", ["60"]);
    onTestFinished(() => {
      bystander.kill();
    });
    await once(bystander, "spawn");
    await writeFile(`${stateFile}.pid`, `${bystander.pid} ${bystander.pid} 1\n`);
    await expect(startAnvil({ stateFile })).rejects.toMatchObject({ code: "state_lost" });
    expect(bystander.exitCode).toBeNull();
  });
});
