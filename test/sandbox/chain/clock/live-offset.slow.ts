import { join } from "node:path";
import type { EIP1193RequestFn } from "viem";
import { expect, onTestFinished, test, vi } from "vitest";
import { fromTimestamp } from "../../../../protocol/values/time.ts";
import { createClock } from "../../../../sandbox/chain/clock/clock.ts";
import type { ChainNode } from "../../../../sandbox/chain/start-chain.ts";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { machineClock } from "../../../../sandbox/lib/time/timers.ts";
import { day } from "../../../../server/limits.ts";
import { TestKit } from "../../../kit/test-kit.ts";
import { tearWrites } from "../../../server/store/directory/held-disk.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

/** Sets the machine's clock ahead of the real one, or behind it, by a number of milliseconds. */
function setMachineClock(ahead: number): void {
  vi.spyOn(machineClock, "now").mockImplementation(() => Date.now() + ahead);
}

/**
 * A chain whose Anvil reads the wall clock so many seconds after it was asked: it gets a time that lies so much further back, and has
 * made a block so much earlier than it continues.
 */
async function lateChain(chain: ChainNode, seconds: number): Promise<ChainNode> {
  const { request: forward } = chain;
  const tell = async (time: number) =>
    await Reflect.apply(forward, undefined, [{ method: "evm_setTime", params: [time - seconds] }]);
  const request = async (call: { method: string; params?: unknown }): Promise<unknown> => {
    const [first]: unknown[] = Array.isArray(call.params) ? call.params : [];
    if (call.method === "evm_setTime") return await tell(Number(first));
    const answer = await Reflect.apply(forward, undefined, [call]);
    if (call.method === "evm_mine" && typeof first === "object" && first !== null && "timestamp" in first)
      await tell(Number(first.timestamp));
    return answer;
  };
  const client = Object.create(chain.client);
  // The type of a request function promises an answer for each method, which a node that is late is not bound by.
  client.request = request as EIP1193RequestFn;
  return { ...chain, client, request: client.request, clock: await createClock(client, "live") };
}

/** By how many seconds Anvil is ahead of the wall clock. */
async function anvilOffset({ request }: ChainNode): Promise<unknown> {
  return await Reflect.apply(request, undefined, [{ method: "evm_increaseTime", params: [0] }]);
}

test.for([0, 1, 2, 5])(
  "chain and API have one offset, however many seconds pass while Anvil gets it: %d",
  async (seconds) => {
    await using sandbox = await createSandbox({
      mode: "live",
      adaptChain: async (chain) => await lateChain(chain, seconds),
    });
    const { chain, clock } = sandbox;
    expect(await anvilOffset(chain)).toBe(clock.offset());
    const snapshot = await sandbox.snapshot();
    await clock.travel({ days: 8 });
    expect([await anvilOffset(chain), clock.offset()]).toEqual([8 * day, 8 * day]);
    await snapshot.restore();
    expect([await anvilOffset(chain), clock.offset()]).toEqual([0, 0]);
  },
);

test("an enrollment that is sent at once in a live sandbox is accepted, even if a second passed while Anvil got the time", async () => {
  const kit = await TestKit.open({
    mode: "live",
    adaptChain: async (chain) => await lateChain(chain, 2),
  });
  onTestFinished(async () => await kit[Symbol.asyncDispose]());
  const merchant = await kit.enrolledMerchant();
  expect(merchant.status).toBe("enrolled");
});

test("time continues for chain and API when the machine's clock is set back", async () => {
  const kit = await TestKit.open({ mode: "live" });
  onTestFinished(async () => await kit[Symbol.asyncDispose]());
  const { chain, clock } = kit.sandbox;
  const merchant = await kit.createMerchant();
  const told = await clock.now();
  setMachineClock(-3_600_000);
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const { text } = await kit.get("/v1/routing/capabilities");
  expect(Date.parse(JSON.parse(text).now) / 1_000).toBeGreaterThanOrEqual(told);
  // This machine's own clock was not set back for Anvil, which is ahead by as much.
  expect(await anvilOffset(chain)).toBeGreaterThan(3_590);
  expect(clock.offset()).toBe(0);
  await chain.client.mine({ blocks: 1 });
  const { timestamp } = await chain.client.getBlock();
  expect(Number(timestamp)).toBeGreaterThanOrEqual(await clock.now());
  expect(Date.parse(merchant.created_at) / 1_000).toBeLessThanOrEqual(Number(timestamp));
});

/** A machine whose clock is set, for this process and its Anvils. */
class Machine {
  #chains: ChainNode[] = [];
  /** By how many seconds the clock is ahead of the right time. */
  #ahead = 0;

  /** The option `adaptChain` of a sandbox on this machine. */
  readonly adaptChain = async (chain: ChainNode): Promise<ChainNode> => {
    const { request: forward } = chain;
    const request = async (call: { method: string; params?: unknown }): Promise<unknown> => {
      const answer = await Reflect.apply(forward, undefined, [call]);
      return call.method === "evm_increaseTime" ? Number(answer) - this.#ahead : answer;
    };
    const client = Object.create(chain.client);
    // The type of a request function promises an answer for each method, which a node with another clock is not bound by.
    client.request = request as EIP1193RequestFn;
    const clock = await createClock(client, "live");
    // The chain has one clock, which follows the machine's.
    Object.assign(chain.clock, { follow: clock.follow });
    this.#chains.push(chain);
    return { ...chain, client, request: client.request, clock };
  };

  /** Sets the clock ahead of the right time, or behind it, by a number of seconds. */
  async set(ahead: number): Promise<void> {
    for (const chain of this.#chains.filter(({ anvil }) => anvil.isRunning)) {
      const time = Math.floor(rightNow()) + Number(await anvilOffset(chain)) + ahead - this.#ahead;
      await chain.client.request({ method: "evm_setTime", params: [time] });
    }
    this.#ahead = ahead;
    setMachineClock(ahead * 1_000);
  }

  [Symbol.dispose](): void {
    vi.restoreAllMocks();
  }
}

function rightNow(): number {
  return Date.now() / 1_000;
}

/** By how many seconds the sandbox's next block is ahead of the right time. */
async function aheadOf({ chain }: Pick<Sandbox, "chain">): Promise<number> {
  await chain.client.mine({ blocks: 1 });
  return Number((await chain.client.getBlock()).timestamp) - rightNow();
}

/** Each time that the clock is set, a second may be counted twice. */
const rounded = 3;

test.for<{ steps: number[]; travelled?: number }>([
  { steps: [-day, 0] },
  { steps: [-day, -day / 2, 0] },
  { steps: [-day, -2 * day, -day, 0] },
  { steps: [-3, 0, -3, 0, -3, 0] },
  { steps: [-day, 0], travelled: 8 * day },
])(
  "time is the machine's again once its clock was set back and forward again: $steps, $travelled",
  async ({ steps, travelled = 0 }) => {
    using machine = new Machine();
    await using sandbox = await createSandbox({ mode: "live", adaptChain: machine.adaptChain });
    const { clock } = sandbox;
    if (travelled > 0) await clock.travel(travelled);
    let before = await clock.now();
    for (const step of steps) {
      await machine.set(step);
      const time = await clock.now();
      expect(time).toBeGreaterThanOrEqual(before);
      expect((await aheadOf(sandbox)) - travelled).toBeLessThanOrEqual(rounded);
      before = time;
    }
    expect((await clock.now()) - rightNow() - travelled).toBeLessThanOrEqual(rounded);
    expect(clock.offset()).toBe(travelled);
  },
);

test("blocks that are mined right after the machine's clock was set leave no time ahead of it", async () => {
  using machine = new Machine();
  await using sandbox = await createSandbox({ mode: "live", adaptChain: machine.adaptChain });
  for (const step of [-day, 0, -day, 0]) {
    await machine.set(step);
    // Only that it was set back is noticed before the block.
    if (step < 0) await sandbox.clock.now();
    await sandbox.chain.client.mine({ blocks: 1 });
  }
  expect(await aheadOf(sandbox)).toBeLessThanOrEqual(rounded);
});

test("the API continues from the newest block when the machine's clock is set back, also without a request for the time since then", async () => {
  using machine = new Machine();
  await using sandbox = await createSandbox({ mode: "live", adaptChain: machine.adaptChain });
  const { chain, clock } = sandbox;
  await clock.now();
  // Each is at least one second later than the one before it.
  await chain.client.mine({ blocks: 60 });
  const { timestamp } = await chain.client.getBlock();
  await machine.set(-day);
  expect(await clock.now()).toBeGreaterThanOrEqual(Number(timestamp));
});

test("the chain follows the machine's clock without a request to the API", async () => {
  using machine = new Machine();
  await using sandbox = await createSandbox({ mode: "live" });
  await sandbox.clock.now();
  // Anvil's own clock is not set: it is ahead by what the sandbox's is missing.
  await machine.set(-day);
  await expect.poll(async () => await anvilOffset(sandbox.chain)).toBeGreaterThan(day - 10);
  await machine.set(0);
  await expect.poll(async () => await anvilOffset(sandbox.chain)).toBeLessThan(10);
});

test.for(["in the next run", "from a snapshot file", "after a restore"])(
  "time is the machine's again %s, if its clock was set forward again meanwhile",
  async (how) => {
    const dataDirectory = await temporaryFolder();
    const file = join(await temporaryFolder(), "saved.snapshot.gz");
    using machine = new Machine();
    const { adaptChain } = machine;
    await using before = await createSandbox({ mode: "live", dataDirectory, adaptChain });
    await before.clock.now();
    await machine.set(-day);
    await before.given.merchant({ state: "enrolled" });
    const snapshot = await before.snapshot();
    await before.save(file);
    if (how === "in the next run") await before.close();
    await machine.set(0);
    if (how === "after a restore") await snapshot.restore();
    await using after = await createSandbox({
      ...(how === "in the next run" ? { mode: "live", dataDirectory } : { from: file }),
      adaptChain,
    });
    const continued = how === "after a restore" ? before : after;
    expect((await continued.clock.now()) - rightNow()).toBeLessThanOrEqual(rounded);
    expect(await aheadOf(continued)).toBeLessThanOrEqual(rounded);
  },
);

test.for(["in the next run", "from a snapshot file", "from a snapshot file, in a data directory"])(
  "time continues %s when the machine's clock was set back meanwhile",
  async (how) => {
    const dataDirectory = await temporaryFolder();
    const file = join(await temporaryFolder(), "saved.snapshot.gz");
    onTestFinished(() => {
      vi.restoreAllMocks();
    });
    const before = await createSandbox({ mode: "live", dataDirectory });
    const { merchant } = await before.given.merchant({ state: "enrolled" });
    setMachineClock(600_000);
    const { purchase } = await before.given.purchase({ state: "created", merchant });
    await before.save(file);
    await before.close();
    vi.restoreAllMocks();

    const isFile = how !== "in the next run";
    await using sandbox = await createSandbox({
      ...(isFile ? { from: file } : { mode: "live" }),
      ...(how === "from a snapshot file" ? {} : { dataDirectory, fresh: isFile }),
    });
    const created = Date.parse(purchase.created_at) / 1_000;
    expect(await sandbox.clock.now()).toBeGreaterThanOrEqual(created);
    const { transaction_hash } = await sandbox.wallets.merchant.register(purchase);
    const registered = await sandbox.client.retrying.register(purchase, { transaction_hash });
    expect(registered.status).toBe("active");
  },
);

test("the API is never behind a block that a travel has mined, also while it moves", async () => {
  const asked = Promise.withResolvers<void>();
  const hold = Promise.withResolvers<void>();
  let holds = false;
  const adaptChain = async (chain: ChainNode): Promise<ChainNode> => {
    const { request: forward } = chain;
    const request = async (call: { method: string; params?: unknown }): Promise<unknown> => {
      if (holds && call.method === "evm_increaseTime") {
        asked.resolve();
        await hold.promise;
      }
      return await Reflect.apply(forward, undefined, [call]);
    };
    const client = Object.create(chain.client);
    // The type of a request function promises an answer for each method, which a node that is late is not bound by.
    client.request = request as EIP1193RequestFn;
    return { ...chain, client, request: client.request, clock: await createClock(client, "live") };
  };
  await using kit = await TestKit.open({ mode: "live", seed: "travel-while-read", adaptChain });
  const { chain, clock, description } = kit.sandbox;
  holds = true;
  const travelling = clock.travel(1_000);
  await asked.promise;
  const { timestamp } = await chain.client.getBlock();
  const reading = kit.get("/v1/routing/capabilities");
  // A request that came later has its response: the other one is in progress.
  expect((await fetch(`${description.urls.control}/health`)).ok).toBe(true);
  hold.resolve();
  await travelling;
  expect(fromTimestamp(JSON.parse((await reading).text).now)).toBeGreaterThanOrEqual(Number(timestamp));
});

test("a travel that the data directory refuses moves the clock neither with a later write nor in the next run", async () => {
  const dataDirectory = await temporaryFolder();
  const first = await createSandbox({ mode: "live", dataDirectory });
  const torn = await tearWrites();
  await expect(first.clock.travel({ days: 8 })).rejects.toMatchObject({ name: "StoreUnavailableError" });
  torn[Symbol.dispose]();
  expect(first.clock.offset()).toBe(0);
  await first.chain.client.mine({ blocks: 1 });
  await first.close();
  await using second = await createSandbox({ mode: "live", dataDirectory });
  expect(second.clock.offset()).toBeLessThan(60);
});

test("a travel that the chain refuses moves the clock neither now nor in the next run", async () => {
  const kept = [0];
  const clockOf = async (chain: ChainNode) => {
    const client = Object.create(chain.client);
    client.request = async (call: { method: string; params?: unknown }): Promise<unknown> => {
      if (call.method === "evm_mine") throw new Error("Anvil refuses the block.");
      return await Reflect.apply(chain.request, undefined, [call]);
    };
    const keep = async (offset: number) => void kept.push(offset);
    return await createClock(client, "live", { read: () => 0, keep });
  };
  await using sandbox = await createSandbox({
    mode: "live",
    adaptChain: async (chain) => ({ ...chain, clock: await clockOf(chain) }),
  });
  await expect(sandbox.clock.travel({ days: 8 })).rejects.toThrow("Anvil refuses the block.");
  expect(kept).toEqual([0, 8 * day, 0]);
  expect(sandbox.clock.offset()).toBe(0);
  expect(await sandbox.clock.now()).toBeLessThan(Date.now() / 1_000 + day);
});
