import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { createChainClient } from "../../../sandbox/chain/client/chain-client.ts";
import { accounts, deployment } from "../../../sandbox/chain/genesis/deployment-record.ts";
import { initialBalances, walletNames } from "../../../sandbox/chain/genesis/roles.ts";
import {
  type ChainHistory,
  type ChainNode,
  type ChainOptions,
  startChain,
} from "../../../sandbox/chain/start-chain.ts";
import { day } from "../../../server/limits.ts";
import { type ChainChange, ChainLog } from "../../../server/store/chain-changes.ts";

const EIGHT_DAYS = 8 * day;

async function start(options: Partial<ChainOptions> = {}) {
  const chain = await startChain({ mode: "deterministic", seed: "checkout", ...options });
  onTestFinished(async () => await chain.stop());
  return chain;
}

describe("a fresh chain", () => {
  test("has the contracts, the programs and funded wallets", async () => {
    const { client, deployment: deployed, accounts: known } = await start();
    expect(deployed).toMatchObject({ chainId: 31_337, token: { symbol: "USDC", decimals: 6 } });
    expect(deployed.programs.map(({ id }) => id)).toEqual(["prg_demo", "prg_other"]);
    for (const name of walletNames.filter((wallet) => wallet !== "deployer")) {
      const { address } = known.wallets[name];
      expect(await client.getBalance({ address })).toBe(initialBalances.walletWei);
      const balance = await client.readContract({
        address: deployed.token.address,
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

  test("is described in files with the API's name of each program's operator, and read back from it", async () => {
    const chain = await start();
    const stored = z.encode(deployment, chain.deployment);
    expect(stored.programs.map(({ registrar }) => registrar)).toEqual(
      chain.deployment.programs.map(({ operator }) => operator),
    );
    expect(deployment.parse(JSON.parse(JSON.stringify(stored)))).toEqual(chain.deployment);
    const keys = z.encode(accounts, chain.accounts);
    expect(keys.programs["prg_demo"]?.registrar).toEqual(chain.accounts.programs["prg_demo"]?.operator);
    expect(accounts.parse(keys)).toEqual(chain.accounts);
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

  test("has an epoch of its own for another seed, another random value or another start", {
    tags: "thorough",
  }, async () => {
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
    const first = await start({ journaled: true });
    await first.clock.travel(EIGHT_DAYS);
    const block = await first.client.getBlock();
    const second = await startAgain(first);
    expect([first.resumed, second.resumed]).toEqual([false, true]);
    expect(second.deployment).toEqual(first.deployment);
    expect(second.accounts).toEqual(first.accounts);
    expect(await second.client.getBlock()).toEqual(block);
    await second.client.mine({ blocks: 1 });
    expect(await second.clock.now()).toBe(Number(block.timestamp) + 1);
  });

  test("continues exactly as one that never stopped", { tags: "thorough" }, async () => {
    const [stopped, unstopped] = [await startAgain(await start({ journaled: true })), await start()];
    for (const { client, clock } of [stopped, unstopped]) {
      await client.mine({ blocks: 2 });
      await clock.travel(60);
    }
    expect(await stopped.client.getBlock()).toEqual(await unstopped.client.getBlock());
  });

  test("is not mistaken for one of another epoch", async () => {
    const [one, other] = [await start({ journaled: true }), await start({ journaled: true, seed: "other" })];
    await expect(startAgain(other, one)).rejects.toMatchObject({
      code: "mismatch",
      message: expect.stringMatching(/^The chain of \S+ is not the one that was kept with it: block/),
    });
  });

  test("whose block is made differently is refused with that block", async () => {
    const first = await start({ journaled: true });
    await first.client.mine({ blocks: 3 });
    const changes = await recordsOf(first);
    const at = changes.length - 2;
    const block = { ...changes[at], gas_limit: "0x1c9c381" } as ChainChange;
    await expect(
      start({ journaled: true, kept: keptAs(first, changes.with(at, block)) }),
    ).rejects.toMatchObject({
      code: "replay_failed",
      message: expect.stringMatching(
        /^Block 13 of \S+ cannot be made again: Anvil \S+ makes a block with another hash than 0x/,
      ),
    });
  });

  test("is made again with a call before a block or after it, whichever it was when both came at once", async () => {
    const first = await start({ journaled: true });
    const { client } = first;
    const address = "0x00000000000000000000000000000000000000aa";
    await client.mine({ blocks: 1 });
    await client.setBalance({ address, value: 1n });
    await client.mine({ blocks: 1 });
    const records = await recordsOf(first);
    const call = records.findIndex(({ kind }) => kind === "call");
    // Recorded one block too early, as a call is that meets a block which is being made.
    const changes = [...records];
    changes.splice(call - 1, 0, ...changes.splice(call, 1));
    expect(changes).not.toEqual(records);
    const again = await start({ journaled: true, kept: keptAs(first, changes) });
    expect(await again.client.getBlock()).toEqual(await client.getBlock());
    expect(await again.client.getBalance({ address })).toBe(1n);
  });

  test("has every block however many came at once, without those that a reorg took away", async () => {
    const first = await start({ journaled: true });
    const { client, journal } = first;
    await client.mine({ blocks: 150 });
    const [kept, dropped] = ["0x00000000000000000000000000000000000000aa", `0x${"bb".repeat(20)}`] as const;
    await client.setBalance({ address: kept, value: 1n });
    await client.mine({ blocks: 2 });
    await client.setBalance({ address: dropped, value: 1n });
    await client.mine({ blocks: 1 });
    const log = logOf(await journal?.take());
    await client.request({ method: "anvil_reorg", params: [3, []] });
    await client.mine({ blocks: 1 });
    const later = (await journal?.take()) ?? [];
    expect(later.map(({ kind }) => kind)).toEqual(["rewind", "block", "block", "block", "block"]);
    for (const change of later) log.add(change);
    const again = await start({ journaled: true, kept: keptAs(first, log.records) });
    for (const address of [kept, dropped])
      expect(await again.client.getBalance({ address })).toBe(await client.getBalance({ address }));
    expect(await again.client.getBalance({ address: kept })).toBe(1n);
    for (const blockNumber of [100n, 161n, 162n, 163n, 164n, 165n])
      expect(await again.client.getBlock({ blockNumber })).toEqual(await client.getBlock({ blockNumber }));
  });

  test("records a block before anything can rely on it, and asks for none while all answers are about known ones", async () => {
    const { client, journal, anvil } = await start({ journaled: true });
    const other = createChainClient(anvil.url);
    const { number } = await client.getBlock();
    await journal?.take();
    await other.mine({ blocks: 1 });
    const address = "0x00000000000000000000000000000000000000aa";
    await client.getBalance({ address, blockNumber: number });
    await client.getBlock({ blockNumber: number });
    expect(await journal?.take()).toEqual([]);
    for (const read of [
      async () => await client.getBlock(),
      async () => await client.getBlockNumber(),
      async () => await client.getBalance({ address }),
      async () => await client.getBalance({ address, blockNumber: number + 4n }),
      async () => await client.getBlock({ blockNumber: number + 5n }),
    ]) {
      await read();
      expect(await journal?.take()).toMatchObject([{ kind: "block" }]);
      await other.mine({ blocks: 1 });
    }
  });
});

/** A chain that is made again from what was recorded of one. */
async function startAgain(chain: ChainNode, described = chain): Promise<ChainNode> {
  return await start({ journaled: true, kept: keptAs(described, await recordsOf(chain)) });
}

function keptAs(chain: ChainNode, changes: readonly ChainChange[]): ChainHistory {
  return { ...chain, changes, checkpoint: null, made() {} };
}

async function recordsOf({ journal }: ChainNode): Promise<readonly ChainChange[]> {
  return logOf(await journal?.take()).records;
}

function logOf(changes: readonly ChainChange[] = []): ChainLog {
  const log = new ChainLog();
  for (const change of changes) log.add(change);
  return log;
}

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
    const now = await clock.now();
    expect(now).toBeGreaterThanOrEqual(wallClock);
    expect(now).toBeLessThanOrEqual(Math.ceil(Date.now() / 1_000) + 1);
    // Also while the wall clock's second changes.
    for (let travels = 1; Math.floor(Date.now() / 1_000) - wallClock < 2; travels += 1) {
      const arrived = await clock.travel(EIGHT_DAYS);
      expect(Number((await client.getBlock()).timestamp)).toBe(arrived);
      expect(clock.offset()).toBe(travels * EIGHT_DAYS);
    }
    const before = await clock.now();
    await client.mine({ blocks: 1 });
    const { timestamp } = await client.getBlock();
    expect(Number(timestamp)).toBeGreaterThanOrEqual(before);
    expect(Number(timestamp)).toBeLessThanOrEqual((await clock.now()) + 1);
  });

  test("keeps what it travelled when a live chain is resumed", async () => {
    const first = await start({ journaled: true, mode: "live" });
    await first.clock.travel(EIGHT_DAYS);
    const arrived = await first.clock.travel(EIGHT_DAYS);
    const kept = keptAs(first, await recordsOf(first));
    const second = await start({ journaled: true, mode: "live", kept });
    expect(second.clock.offset()).toBe(2 * EIGHT_DAYS);
    expect(await second.clock.now()).toBeGreaterThanOrEqual(arrived);
    await second.client.mine({ blocks: 1 });
    expect(Number((await second.client.getBlock()).timestamp)).toBeGreaterThanOrEqual(arrived);
  });

  test("continues from the latest block when a live chain is resumed and nothing shows how far it had travelled", async () => {
    const first = await start({ journaled: true, mode: "live" });
    const arrived = await first.clock.travel(EIGHT_DAYS);
    const changes = (await recordsOf(first)).filter(({ kind }) => kind !== "clock");
    const second = await start({ journaled: true, mode: "live", kept: keptAs(first, changes) });
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
    expect(await clock.now()).toBeLessThan(before + EIGHT_DAYS);
    await clock.pin(EIGHT_DAYS, 0);
    expect(clock.offset()).toBe(EIGHT_DAYS);
    await clock.pin(offset);
    expect(clock.offset()).toBe(offset);
    await client.mine({ blocks: 1 });
    expect(Number((await client.getBlock()).timestamp)).toBeLessThan(before + EIGHT_DAYS);
  });

  test.for(["deterministic", "live"] as const)("refuses to go back in mode %s", async (mode) => {
    const { clock } = await start({ mode });
    const [now, offset] = [await clock.now(), clock.offset()];
    await expect(clock.travelTo(now - 1)).rejects.toThrow(/^The clock only moves forward/);
    await expect(clock.travel(0)).rejects.toThrow(/by whole seconds/);
    await expect(clock.travel(1.5)).rejects.toThrow(/by whole seconds/);
    expect(clock.offset()).toBe(offset);
  });
});
