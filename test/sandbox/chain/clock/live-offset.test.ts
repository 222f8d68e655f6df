import { join } from "node:path";
import type { EIP1193RequestFn } from "viem";
import { expect, onTestFinished, test, vi } from "vitest";
import { fromTimestamp } from "../../../../protocol/values/time.ts";
import { createClock } from "../../../../sandbox/chain/clock/clock.ts";
import type { ChainNode } from "../../../../sandbox/chain/start-chain.ts";
import { createSandbox } from "../../../../sandbox/create-sandbox.ts";
import { machineClock } from "../../../../sandbox/lib/time/timers.ts";
import { day } from "../../../../server/api/default-deadlines.ts";
import { TestKit } from "../../../kit/test-kit.ts";
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
  expect(await anvilOffset(chain)).toBe(clock.offset());
  expect(clock.offset()).toBeGreaterThan(3_590);
  await chain.client.mine({ blocks: 1 });
  const { timestamp } = await chain.client.getBlock();
  expect(Number(timestamp)).toBeGreaterThanOrEqual(await clock.now());
  expect(Date.parse(merchant.created_at) / 1_000).toBeLessThanOrEqual(Number(timestamp));
});

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
