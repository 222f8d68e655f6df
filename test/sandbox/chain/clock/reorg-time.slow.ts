import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { SandboxOptions } from "../../../../sandbox/options/options.ts";
import { day } from "../../../../server/limits.ts";
import { toLine } from "../../../../server/store/directory/checked-lines.ts";
import { readDirectory } from "../../../../server/store/directory/directory-store.ts";
import { ask } from "../../../ask.ts";
import { present, type Schema } from "../../../kit/answer.ts";
import { readLines } from "../../../kit/store-lines.ts";
import { TestKit } from "../../../kit/test-kit.ts";
import { temporaryFolder } from "../../../temporary-folder.ts";

const modes = ["deterministic", "live"] as const;

async function open(options: SandboxOptions): Promise<TestKit> {
  const kit = await TestKit.open({ seed: "reorg time", ...options });
  onTestFinished(async () => await kit[Symbol.asyncDispose]());
  return kit;
}

/** Asks the chain RPC, as a wallet does. */
async function rpc(kit: TestKit, method: string, params: unknown[]): Promise<unknown> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const { text } = await ask(kit.sandbox.description.urls.rpc, { method: "POST", headers, body });
  return JSON.parse(text);
}

const done = { jsonrpc: "2.0", id: 1, result: null };

const capabilities = z.object({ now: z.string() });

/** The time that the API tells, in Unix seconds. */
async function apiNow(kit: TestKit): Promise<number> {
  const { text } = await kit.raw("/v1/routing/capabilities");
  return Date.parse(capabilities.parse(JSON.parse(text)).now) / 1_000;
}

/** The times of the newest blocks, oldest first. */
async function newestTimes({ sandbox }: TestKit, count: number): Promise<number[]> {
  const { client } = sandbox.chain;
  const head = await client.getBlockNumber({ cacheTime: 0 });
  const blocks = await Promise.all(
    Array.from({ length: count }, (_, index) => client.getBlock({ blockNumber: head - BigInt(index) })),
  );
  return blocks.map(({ timestamp }) => Number(timestamp)).reverse();
}

/** API and chain continue from a time together: neither is before it, and the next block is not before what the API says. */
async function expectNoEarlierThan(kit: TestKit, said: number): Promise<void> {
  const now = await apiNow(kit);
  expect(now).toBeGreaterThanOrEqual(said);
  expect(now - said).toBeLessThan(60);
  await rpc(kit, "evm_mine", []);
  const [next = 0] = await newestTimes(kit, 1);
  expect(next).toBeGreaterThanOrEqual(now);
  expect(next - now).toBeLessThan(60);
}

async function setFault(kit: TestKit, fault: object): Promise<void> {
  const answer = await fetch(`${kit.sandbox.description.urls.control}/faults`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ layer: "relayer", ...fault }),
  });
  expect(answer.status).toBe(201);
}

async function setPace(kit: TestKit, every: "transaction" | "never" | number): Promise<void> {
  const answer = await fetch(`${kit.sandbox.description.urls.control}/mining`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ every }),
  });
  expect(answer.status).toBe(200);
}

async function statusOf(kit: TestKit, { id }: Pick<Schema<"Purchase">, "id">) {
  const params = { path: { program: kit.program, id } };
  return present(await kit.api.GET("/v1/routing/programs/{program}/purchases/{id}", { params })).status;
}

describe.each(modes)("in mode %s", (mode) => {
  test("a reorg that removes the block of a travel leaves chain and API at the time that was travelled to", async () => {
    const kit = await open({ mode });
    await kit.sandbox.clock.travel({ days: 8 });
    const said = await apiNow(kit);
    expect(await rpc(kit, "anvil_reorg", [1, []])).toEqual(done);
    const [replaced = 0] = await newestTimes(kit, 1);
    expect(replaced).toBeGreaterThanOrEqual(said);
    const { chain, clock } = kit.sandbox;
    // The seconds by which Anvil is ahead of the wall clock, which only a live chain goes by.
    const ahead = await Reflect.apply(chain.request, undefined, [
      { method: "evm_increaseTime", params: [0] },
    ]);
    if (mode === "live") expect(ahead).toBe(clock.offset());
    await expectNoEarlierThan(kit, said);
  });

  test("no block that a deep reorg makes is before the reorg, and each has the transactions that were placed in it", async () => {
    const kit = await open({ mode });
    const { client } = kit.sandbox.chain;
    const { address } = kit.wallet("buyer");
    await client.mine({ blocks: 2 });
    await kit.sandbox.clock.travel({ days: 8 });
    await client.mine({ blocks: 1 });
    const said = await apiNow(kit);
    const nonce = await client.getTransactionCount({ address });
    const raw = [];
    for (const offset of [0, 1, 2])
      raw.push(await kit.sign("buyer", { to: address, data: "0x" }, nonce + offset));
    const head = await client.getBlockNumber({ cacheTime: 0 });
    const placed = [
      [raw[0], 0],
      [raw[1], 2],
      [raw[2], 2],
    ];
    expect(await rpc(kit, "anvil_reorg", [4, placed])).toEqual(done);
    expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(head);
    const times = await newestTimes(kit, 4);
    if (mode === "deterministic") expect(times).toEqual([said, said + 1, said + 2, said + 3]);
    else for (const time of times) expect(time).toBe(times[0]);
    expect(times[0]).toBeGreaterThanOrEqual(said);
    const counts = [3n, 2n, 1n, 0n].map(
      async (back) => (await client.getBlock({ blockNumber: head - back })).transactions.length,
    );
    expect(await Promise.all(counts)).toEqual([1, 0, 2, 0]);
    await expectNoEarlierThan(kit, said);
  });

  test("a reorg that Anvil refuses changes neither blocks nor time, and says what Anvil says", async () => {
    const kit = await open({ mode });
    await kit.sandbox.clock.travel({ days: 8 });
    const said = await apiNow(kit);
    const before = await kit.sandbox.chain.client.getBlock();
    expect(await rpc(kit, "anvil_reorg", [1, [["0x00", 0]]])).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32_602, message: "Failed to decode transaction" },
    });
    expect(await kit.sandbox.chain.client.getBlock()).toMatchObject({ hash: before.hash });
    await expectNoEarlierThan(kit, said);
  });

  test.for(["never", 3_600] as const)(
    "a reorg while blocks are mined %s leaves that as it is, what waits waiting, and time where it was",
    async (pace) => {
      const kit = await open({ mode });
      const { client } = kit.sandbox.chain;
      await kit.sandbox.clock.travel({ days: 8 });
      await setPace(kit, pace);
      const { address } = kit.wallet("buyer");
      const hash = await kit.wallet("buyer").submit({ to: address, data: "0x" });
      const said = await apiNow(kit);
      expect(await rpc(kit, "anvil_reorg", [1, []])).toEqual(done);
      const interval = pace === "never" ? null : pace;
      expect([
        await client.getAutomine(),
        await client.request({ method: "anvil_getIntervalMining" }),
        (await client.getTxpoolStatus()).pending,
      ]).toEqual([false, interval, 1]);
      await expectNoEarlierThan(kit, said);
      const { blockNumber } = await client.getTransactionReceipt({ hash });
      const { timestamp } = await client.getBlock({ blockNumber });
      expect(Number(timestamp)).toBeGreaterThanOrEqual(said);
    },
  );

  test("a purchase that was made before a reorg is offered, paid and refunded after others", async () => {
    const kit = await open({ mode });
    const merchant = await kit.fundedMerchant();
    await kit.sandbox.clock.travel({ days: 8 });
    await kit.renew();
    const made = await kit.createPurchase(merchant);
    await rpc(kit, "anvil_reorg", [1, []]);
    const purchase = await kit.activate(made);
    expect(purchase.status).toBe("active");
    await kit.pay(purchase);
    const paid = (await kit.reconcile(purchase)).purchase;
    const claim = await kit.claim(paid);
    await kit.sandbox.clock.travel({ hours: 1 });
    await rpc(kit, "anvil_reorg", [1, []]);
    const decision = await kit.decide(paid, claim);
    await rpc(kit, "anvil_reorg", [1, []]);
    const refund = await kit.post(kit.path(`/purchases/${paid.id}/refunds`), { decision_id: decision.id });
    expect([refund.status, await statusOf(kit, paid)]).toEqual([201, "refunded"]);
  });

  test("a registration that a reorg places in its first new block is confirmed there", async () => {
    const kit = await open({ mode });
    const merchant = await kit.fundedMerchant();
    await kit.sandbox.clock.travel({ days: 1 });
    await kit.renew();
    await kit.sandbox.chain.client.mine({ blocks: 3 });
    const purchase = await kit.createPurchase(merchant);
    const { transaction } = await kit.action("purchase", purchase.id, "register");
    if (transaction === undefined) throw new Error("No registration is offered.");
    const { to, data } = transaction;
    const raw = await kit.sign("merchant", { to, data });
    expect(await rpc(kit, "anvil_reorg", [3, [[raw, 0]]])).toEqual(done);
    const { client } = kit.sandbox.chain;
    const first = (await client.getBlockNumber({ cacheTime: 0 })) - 2n;
    const { transactions } = await client.getBlock({ blockNumber: first });
    const answer = await kit.post(kit.path(`/purchases/${purchase.id}/registration`), {
      transaction_hash: transactions[0],
    });
    expect(answer.status, answer.text).toBe(200);
    expect(await statusOf(kit, purchase)).toBe("active");
  });

  test.for([1, 2])(
    "an offer whose block the fault reorg takes, %d deep, is offered again in time",
    async (depth) => {
      const kit = await open({ mode, receiptTimeoutMs: 30_000 });
      const merchant = await kit.enrolledMerchant();
      await kit.sandbox.clock.travel({ days: 1 });
      await kit.renew();
      const said = await apiNow(kit);
      const purchase = await kit.createPurchase(merchant);
      await setFault(kit, { point: "after_mined", action: "reorg", depth });
      expect((await kit.activate(purchase)).status).toBe("active");
      await expectNoEarlierThan(kit, said);
      expect((await kit.activePurchase(merchant)).status).toBe("active");
    },
  );

  test("the API that is asked while blocks are replaced returns no time before the reorg and none after the newest block", async () => {
    const kit = await open({ mode });
    const { client } = kit.sandbox.chain;
    await client.mine({ blocks: 3 });
    await kit.sandbox.clock.travel({ days: 8 });
    await client.mine({ blocks: 3 });
    const said = await apiNow(kit);
    let replacing = true;
    const times: number[] = [];
    const asking = Array.from({ length: 4 }, async () => {
      while (replacing) times.push(await apiNow(kit));
    });
    for (let reorgs = 0; reorgs < 5; reorgs += 1) await rpc(kit, "anvil_reorg", [6, []]);
    replacing = false;
    await Promise.all(asking);
    expect(times.length).toBeGreaterThan(5);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(said);
    expect(Math.max(...times)).toBeLessThanOrEqual(await apiNow(kit));
    expect((await apiNow(kit)) - said).toBeLessThan(60);
  });

  test("time is where it was after a reorg, a stop and a start", async () => {
    const dataDirectory = join(await temporaryFolder(), "data");
    const said = await (async () => {
      await using kit = await TestKit.open({ seed: "reorg time", mode, dataDirectory });
      await kit.sandbox.clock.travel({ days: 8 });
      const before = await apiNow(kit);
      await rpc(kit, "anvil_reorg", [1, []]);
      return before;
    })();
    await expectNoEarlierThan(await open({ mode, dataDirectory }), said);
  });

  test("a restore sets the time back to that of its snapshot, even after a reorg", async () => {
    const kit = await open({ mode });
    await kit.sandbox.clock.travel({ days: 8 });
    const said = await apiNow(kit);
    await rpc(kit, "anvil_reorg", [1, []]);
    const snapshot = await kit.sandbox.snapshot();
    await kit.sandbox.clock.travel({ days: 8 });
    await rpc(kit, "anvil_reorg", [1, []]);
    await expectNoEarlierThan(kit, said + 8 * day);
    await snapshot.restore();
    await expectNoEarlierThan(kit, said);
  });

  test("a sandbox that continues from a snapshot file saved after a reorg has the time of that file", async () => {
    const kit = await open({ mode });
    await kit.sandbox.clock.travel({ days: 8 });
    const said = await apiNow(kit);
    await rpc(kit, "anvil_reorg", [1, []]);
    const file = join(await temporaryFolder(), "saved.json");
    await kit.sandbox.save(file);
    const loaded = await TestKit.open({ from: file });
    onTestFinished(async () => await loaded[Symbol.asyncDispose]());
    await expectNoEarlierThan(loaded, said);
  });
});

test("a live clock that travelled is as far ahead of the wall clock when it continues, also after a restore and a reorg", async () => {
  const dataDirectory = join(await temporaryFolder(), "data");
  const options = { seed: "reorg time", mode: "live", dataDirectory } as const;
  const store = join(dataDirectory, "store");
  const kept = async () => (await readDirectory(store)).chain?.findLast(({ kind }) => kind === "clock");
  {
    await using kit = await TestKit.open(options);
    const { clock } = kit.sandbox;
    await clock.travel({ days: 2 });
    const snapshot = await kit.sandbox.snapshot();
    expect(await kept()).toEqual({ kind: "clock", offset: 2 * day });
    await clock.travel({ days: 8 });
    expect(await kept()).toEqual({ kind: "clock", offset: 10 * day });
    await snapshot.restore();
    await rpc(kit, "anvil_reorg", [1, []]);
    expect(await kept()).toEqual({ kind: "clock", offset: 2 * day });
  }
  // Later than the latest block says, as when time passed and nothing was mined.
  const [{ chain_up_to: count }] = await readLines(join(store, "store.json"));
  const moved = { chain: count + 1, record: { kind: "clock", offset: 2 * day + 600 } } as const;
  await writeFile(join(store, "store.journal"), toLine(moved));
  const started = Math.floor(Date.now() / 1_000);
  const later = await open(options);
  expect(later.sandbox.clock.offset()).toBe(2 * day + 600);
  await expectNoEarlierThan(later, started + 2 * day + 600);
});
