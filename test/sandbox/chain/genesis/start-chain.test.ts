import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { initialBalances, walletNames } from "../../../../sandbox/chain/genesis/roles.ts";
import { type ChainOptions, startChain } from "../../../../sandbox/chain/genesis/start-chain.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

const EIGHT_DAYS = 8 * 86_400;

async function start(options: Partial<ChainOptions> = {}) {
  const chain = await startChain({ mode: "deterministic", seed: "checkout", ...options });
  onTestFinished(async () => await chain.stop());
  return chain;
}

describe("a fresh chain", () => {
  test("has the contracts, the programs and funded wallets", async () => {
    const { client, deployment, accounts } = await start();
    expect(deployment).toMatchObject({ chainId: 31_337, token: { symbol: "USDC", decimals: 6 } });
    expect(deployment.programs.map(({ id }) => id)).toEqual(["prg_demo", "prg_other"]);
    for (const name of walletNames.filter((wallet) => wallet !== "deployer")) {
      const { address } = accounts.wallets[name];
      expect(await client.getBalance({ address })).toBe(initialBalances.walletWei);
      const balance = await client.readContract({
        address: deployment.token.address,
        abi: [
          {
            type: "function",
            name: "balanceOf",
            stateMutability: "view",
            inputs: [{ name: "account", type: "address" }],
            outputs: [{ type: "uint256" }],
          },
        ] as const,
        functionName: "balanceOf",
        args: [address],
      });
      expect(balance).toBe(initialBalances.walletUsdc);
    }
  });

  test("equals another one with its seed, whatever time passed in between", async () => {
    const first = await start();
    await first.client.mine({ blocks: 5 });
    await first.clock.travel(EIGHT_DAYS);
    await first.client.mine({ blocks: 5 });
    const second = await start();
    await second.client.mine({ blocks: 5 });
    await second.clock.travel(EIGHT_DAYS);
    await second.client.mine({ blocks: 5 });
    expect(second.deployment).toEqual(first.deployment);
    expect(await second.client.getBlock()).toEqual(await first.client.getBlock());
  });

  test("has an epoch of its own for another seed, another random value or another start", async () => {
    const startTime = 1_800_000_000;
    const chains = await Promise.all([
      start(),
      start({ seed: "other" }),
      start({ random: "0x01" }),
      start({ random: "0x02" }),
      start({ startTime }),
    ]);
    expect(new Set(chains.map(({ deployment }) => deployment.epoch)).size).toBe(chains.length);
    expect(await chains.at(-1)?.clock.now()).toBe(startTime);
  });
});

describe("a kept chain", () => {
  test("continues in its epoch, with its blocks and its time", async () => {
    const folder = join(await temporaryFolder(), "chain");
    const first = await start({ folder });
    await first.clock.travel(EIGHT_DAYS);
    const block = await first.client.getBlock();
    await first.stop();
    const second = await start({ folder });
    expect([first.resumed, second.resumed]).toEqual([false, true]);
    expect(second.deployment).toEqual(first.deployment);
    expect(second.accounts).toEqual(first.accounts);
    expect(await second.client.getBlock()).toEqual(block);
    await second.client.mine({ blocks: 1 });
    expect(await second.clock.now()).toBe(Number(block.timestamp) + 1);
  });

  test("continues exactly as one that never stopped", async () => {
    const folder = join(await temporaryFolder(), "chain");
    await (await start({ folder })).stop();
    const [stopped, unstopped] = [await start({ folder }), await start()];
    for (const { client, clock } of [stopped, unstopped]) {
      await client.mine({ blocks: 2 });
      await clock.travel(60);
    }
    expect(await stopped.client.getBlock()).toEqual(await unstopped.client.getBlock());
  });

  test("is forgotten when a fresh one is asked for", async () => {
    const folder = join(await temporaryFolder(), "chain");
    const first = await start({ folder, random: "0x01" });
    await first.stop();
    const second = await start({ folder, random: "0x02", fresh: true });
    expect(second.resumed).toBe(false);
    expect(second.deployment.epoch).not.toBe(first.deployment.epoch);
  });

  test("is not mistaken for one of another epoch", async () => {
    const [one, other] = [join(await temporaryFolder(), "chain"), join(await temporaryFolder(), "chain")];
    await (await start({ folder: one })).stop();
    await (await start({ folder: other, seed: "other" })).stop();
    await writeFile(join(one, "state.json"), await readFile(join(other, "state.json")));
    await expect(start({ folder: one })).rejects.toMatchObject({
      code: "mismatch",
      message: expect.stringMatching(/^The chain is not the one .* --fresh/),
    });
  });

  test("says which description it cannot read", async () => {
    const folder = join(await temporaryFolder(), "chain");
    await (await start({ folder })).stop();
    await writeFile(join(folder, "chain.json"), "{}");
    await expect(start({ folder })).rejects.toMatchObject({
      code: "mismatch",
      message: expect.stringContaining(join(folder, "chain.json")),
    });
  });
});

describe("the clock", () => {
  test("moves chain and API together, one second for each block", async () => {
    const { client, clock } = await start();
    const before = await clock.now();
    await client.mine({ blocks: 3 });
    expect(await clock.now()).toBe(before + 3);
    expect(await clock.travel(EIGHT_DAYS)).toBe(before + 3 + EIGHT_DAYS);
    expect(Number((await client.getBlock()).timestamp)).toBe(before + 3 + EIGHT_DAYS);
  });

  test("runs with the wall clock in mode live, and chain and API travel together there too", async () => {
    const { client, clock } = await start({ mode: "live" });
    const wallClock = Math.floor(Date.now() / 1_000);
    expect(Math.abs((await clock.now()) - wallClock)).toBeLessThanOrEqual(2);
    // Also while the wall clock's second changes.
    for (let travels = 1; Math.floor(Date.now() / 1_000) - wallClock < 2; travels += 1) {
      const arrived = await clock.travel(EIGHT_DAYS);
      expect(Number((await client.getBlock()).timestamp)).toBe(arrived);
      expect(clock.offset()).toBe(travels * EIGHT_DAYS);
    }
    await client.mine({ blocks: 1 });
    expect(Math.abs(Number((await client.getBlock()).timestamp) - (await clock.now()))).toBeLessThanOrEqual(
      2,
    );
  });

  test("keeps what it travelled when a live chain is resumed", async () => {
    const folder = join(await temporaryFolder(), "chain");
    const first = await start({ folder, mode: "live" });
    const arrived = await first.clock.travel(EIGHT_DAYS);
    await first.stop();
    const second = await start({ folder, mode: "live" });
    expect(await second.clock.now()).toBeGreaterThanOrEqual(arrived);
    await second.client.mine({ blocks: 1 });
    expect(Number((await second.client.getBlock()).timestamp)).toBeGreaterThanOrEqual(arrived);
  });

  test("goes on from the latest block when a live chain is resumed and nothing tells how far it had travelled", async () => {
    const folder = join(await temporaryFolder(), "chain");
    const first = await start({ folder, mode: "live" });
    const arrived = await first.clock.travel(EIGHT_DAYS);
    await first.stop();
    await rm(join(folder, "clock.json"));
    const second = await start({ folder, mode: "live" });
    expect(await second.clock.now()).toBeGreaterThanOrEqual(arrived);
    await second.client.mine({ blocks: 1 });
    expect(Number((await second.client.getBlock()).timestamp)).toBeGreaterThanOrEqual(arrived);
  });

  test("comes back to a snapshot's time after a revert", async () => {
    const { client, clock } = await start({ mode: "live" });
    const offset = clock.offset();
    const before = await clock.now();
    const id = await client.snapshot();
    await clock.travel(EIGHT_DAYS);
    await client.revert({ id });
    await clock.pin(offset);
    expect((await clock.now()) - before).toBeLessThanOrEqual(5);
    await clock.pin(EIGHT_DAYS, 0);
    expect(clock.offset()).toBe(EIGHT_DAYS);
    await clock.pin(offset);
    expect(clock.offset()).toBe(offset);
    await client.mine({ blocks: 1 });
    expect(Number((await client.getBlock()).timestamp) - before).toBeLessThanOrEqual(5);
  });

  test.for(["deterministic", "live"] as const)("refuses to go back in mode %s", async (mode) => {
    const { clock } = await start({ mode });
    const now = await clock.now();
    await expect(clock.travelTo(now - 1)).rejects.toThrow(/^Time travels forward only/);
    await expect(clock.travel(0)).rejects.toThrow(/by whole seconds/);
    await expect(clock.travel(1.5)).rejects.toThrow(/by whole seconds/);
    expect(await clock.now()).toBeLessThanOrEqual(now + 2);
  });
});
