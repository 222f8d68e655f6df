import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createClock } from "../../../../sandbox/chain/clock/clock.ts";
import { createSandbox, type Sandbox } from "../../../../sandbox/create-sandbox.ts";
import { freshReading } from "../../../../sandbox/lib/reading.ts";
import { machineClock } from "../../../../sandbox/lib/time/timers.ts";
import { withMethods } from "../../../../sandbox/lib/with-methods.ts";
import type { Snapshot } from "../../../../sandbox/snapshots/snapshot.ts";
import { actorsOf } from "../../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../../testkit/demo/printer.ts";
import { Session } from "../../../../testkit/demo/session.ts";
import { enrollMerchant } from "../../../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../../../testkit/demo/show-purchase.ts";
import { freshSandbox } from "../../../kit/fresh-sandbox.ts";

let sandbox: Sandbox;
let start: Snapshot;

beforeAll(async () => {
  sandbox = await freshSandbox();
  start = await sandbox.snapshot();
});

beforeEach(async () => await start.restore());

test("chain and API travel together by seconds, by a duration, or to a moment", async () => {
  const { clock, chain } = sandbox;
  const began = await clock.now();
  expect(await clock.travel(90)).toBe(began + 90);
  expect(await clock.travel({ days: 1, hours: 2, minutes: 3, seconds: 4 })).toBe(began + 90 + 93_784);
  expect(await clock.travelTo(began + 200_000)).toBe(began + 200_000);
  const { timestamp } = await chain.client.getBlock({ blockTag: "latest" });
  expect(Number(timestamp)).toBe(began + 200_000);
  const { data } = await sandbox.client.GET("/v1/routing/capabilities");
  expect(Date.parse(data?.now ?? "")).toBe((began + 200_000) * 1_000);
});

test("concurrent travels follow each other, each to its own time", async () => {
  const { clock } = sandbox;
  const began = await clock.now();
  const arrived = await Promise.all([clock.travel(200), clock.travel(100), clock.travel(50)]);
  expect(arrived).toEqual([began + 200, began + 300, began + 350]);
  expect(await clock.now()).toBe(began + 350);
});

test("blocks that are made during a travel do not stop it", async () => {
  const { client } = sandbox.chain;
  let reads = 0;
  const late = withMethods<object, typeof client>(client, {
    getBlock: async (which: Parameters<typeof client.getBlock>[0]) => {
      reads += 1;
      if (reads === 2) await client.mine({ blocks: 1 });
      return await client.getBlock(which);
    },
    request: async (asked: { method: string }) => {
      if (asked.method === "evm_mine") await client.mine({ blocks: 3 });
      return await Reflect.apply(client.request, client, [asked]);
    },
  });
  const clock = await createClock(late, "deterministic");
  const began = await sandbox.clock.now();
  reads = 0;
  const arrived = await clock.travel(1);
  expect(arrived).toBeGreaterThanOrEqual(began + 3);
  expect(arrived).toBe(await sandbox.clock.now());
});

test("a live clock travels by one second also when a second passes meanwhile", async () => {
  await using live = await createSandbox({ seed: "travel", mode: "live" });
  const { clock } = live;
  const began = await clock.now();
  let second = began;
  const seconds = vi.spyOn(machineClock, "now").mockImplementation(() => {
    second += 1;
    return second * 1_000;
  });
  onTestFinished(() => void seconds.mockRestore());
  expect(await clock.travel(1)).toBeGreaterThan(began);
});

test.each(["a wallet", "the chain RPC"])(
  "a transaction of %s right after the machine's clock was set forth again has the time of the API",
  async (door) => {
    await using live = await createSandbox({ seed: "set back", mode: "live" });
    const { clock, chain, wallets, description } = live;
    await clock.now();
    const { now } = machineClock;
    const back = vi.spyOn(machineClock, "now").mockImplementation(() => now() - 86_400_000);
    onTestFinished(() => void back.mockRestore());
    // From here on, the time of the chain is a day ahead of the machine's clock.
    await clock.now();
    back.mockRestore();
    const { address } = wallets.buyer;
    if (door === "a wallet") await wallets.buyer.send({ to: address });
    else {
      const params = [{ from: address, to: address }];
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_sendTransaction", params });
      const headers = { "content-type": "application/json" };
      await fetch(description.urls.rpc, { method: "POST", headers, body });
    }
    await expect.poll(async () => await chain.client.getTransactionCount({ address })).toBe(1);
    const { timestamp } = await chain.client.getBlock({ blockTag: "latest" });
    expect(Math.abs(Number(timestamp) - (await clock.now()))).toBeLessThan(3_600);
    expect(Math.abs(now() / 1_000 - (await clock.now()))).toBeLessThan(3_600);
  },
);

test("time ends where no answer could show it any more", async () => {
  const { clock } = sandbox;
  const before = await sandbox.fingerprint();
  const refusal = "The clock moves up to 9999-01-01T00:00:00.000Z";
  await expect(clock.travelTo(Date.now() * 1_000)).rejects.toThrow(refusal);
  await expect(clock.travelTo(1_900_000_000_999)).rejects.toThrow(
    `${refusal}; 1900000000999, in Unix seconds, is later. These look like milliseconds: pass 1900000000.`,
  );
  await expect(clock.travel({ days: 9_999_999 })).rejects.toThrow(refusal);
  await expect(clock.travel(1e12)).rejects.toThrow(`${refusal}, which 1000000000000 s from now is after.`);
  expect(await sandbox.fingerprint()).toEqual(before);
  const latest = Date.UTC(9999, 0) / 1_000;
  await expect(clock.travelTo(latest + 1)).rejects.toThrow(refusal);
  expect(await sandbox.fingerprint()).toEqual(before);
  await clock.travelTo(latest);
  const { data } = await sandbox.client.GET("/v1/routing/programs/{program}", {
    params: { path: { program: "prg_demo" } },
  });
  expect(data?.id).toBe("prg_demo");
});

test("a caller that asks for the time during a read gets the result of the next read", async () => {
  const begun: ReturnType<typeof Promise.withResolvers<number>>[] = [];
  const ask = freshReading(() => {
    const reading = Promise.withResolvers<number>();
    begun.push(reading);
    return reading.promise;
  });
  const first = ask();
  const later = Promise.all([ask(), ask()]);
  expect(begun).toHaveLength(1);
  begun[0]?.resolve(1);
  expect(await first).toBe(1);
  await expect.poll(() => begun.length).toBe(2);
  begun[1]?.resolve(2);
  expect(await later).toEqual([2, 2]);
  const refused = ask();
  begun[2]?.reject(new Error("gone"));
  await expect(refused).rejects.toThrow("gone");
  const last = ask();
  begun[3]?.resolve(4);
  expect(await last).toBe(4);
});

test.for([0, -60, 1.5])("time does not travel by %d seconds", async (seconds) => {
  const before = await sandbox.fingerprint();
  await expect(sandbox.clock.travel(seconds)).rejects.toMatchObject({
    name: "ClockError",
    code: "time_invalid",
    message: `The clock moves forward by whole seconds, not by ${seconds}.${seconds < 0 ? " To go back, restore a snapshot." : ""}`,
  });
  const now = await sandbox.clock.now();
  for (const timestamp of [now, now - 1])
    await expect(sandbox.clock.travelTo(timestamp)).rejects.toThrow(
      `The clock only moves forward: it is ${now} (${new Date(now * 1_000).toISOString()}) now`,
    );
  expect(await sandbox.fingerprint()).toEqual(before);
});

test("a time that is no number is refused as that", async () => {
  const refused = (message: string) => ({ code: "time_invalid", message: expect.stringContaining(message) });
  // @ts-expect-error The clock takes numbers.
  await expect(sandbox.clock.travelTo(5n)).rejects.toMatchObject(refused("a number, not to 5n."));
  // @ts-expect-error The clock takes numbers.
  await expect(sandbox.clock.travel({ days: 5n })).rejects.toMatchObject(
    refused('{"days":5n} is not a duration.'),
  );
});

test("an offer that was not paid in time is expired for API and chain alike, and its budget can be freed", async () => {
  const session = await Session.open(actorsOf(sandbox.description), silentPrinter);
  const purchase = await demoSteps.createPurchase(
    session,
    await enrollMerchant(session),
    "purchase",
    "25000000",
  );
  await demoSteps.activate(session, purchase, "activate");
  await demoSteps.approve(session, session.actors.buyer, purchase, 25_000_000n);
  await sandbox.clock.travelTo(purchase.deadlines.pay_deadline + 1);
  const { receipt } = await sandbox.wallets.buyer.pay(purchase);
  expect(receipt.status).toBe("reverted");
  expect((await sandbox.wallets.stranger.expire(purchase)).receipt.status).toBe("success");
  const later = await Session.open(session.actors, silentPrinter);
  expect(await demoSteps.readPurchase(later, purchase)).toMatchObject({ expired: true });
});

test("a paused program accepts no offer until its admin resumes it, and a wallet can be given test money", async () => {
  const { deployer, stranger } = sandbox.wallets;
  const session = await Session.open(actorsOf(sandbox.description), silentPrinter);
  const purchase = await demoSteps.createPurchase(
    session,
    await enrollMerchant(session),
    "purchase",
    "25000000",
  );
  expect((await deployer.setPaused("prg_demo", true)).receipt.status).toBe("success");
  const { response } = await session.api.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
    params: session.write("paused", purchase.id),
    body: { commitment_hash: purchase.commitment.hash },
  });
  expect(response.status).toBe(409);
  await deployer.setPaused("prg_demo", false);
  expect(await demoSteps.activate(session, purchase, "activate")).toMatchObject({ status: "active" });
  expect((await stranger.faucet(5n)).receipt.status).toBe("success");
});
