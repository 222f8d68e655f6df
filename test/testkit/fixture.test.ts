import { expect, onTestFinished } from "vitest";
import { z } from "zod";
import { requestAccess } from "../../sandbox/client/access/request-access.ts";
import { createApiClient } from "../../sandbox/client/api-client.ts";
import type { Sandbox } from "../../sandbox/create-sandbox.ts";
import { openPool } from "../../testkit/pool/pool.ts";
import { sandboxTest } from "../../testkit/vitest.ts";

const test = sandboxTest({ seed: "fixture" });
const path = "/v1/routing/programs/{program}/merchants";
const params = { path: { program: "prg_demo" }, header: { "Idempotency-Key": "merchant-1" } };

const anyKey = `0x${"11".repeat(32)}` as const;

/** The sandboxes that the tests had, in order. */
const had: Sandbox[] = [];

const nothing = { to: "0x00000000000000000000000000000000000000aa", data: "0x" } as const;

/** Left under way by a test that is over; each has a later one. */
const left: Promise<unknown>[] = [];

async function createMerchant({ client, wallets }: Sandbox) {
  const body = { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "500000000" };
  const { data: merchant } = await client.POST(path, { params, body });
  if (merchant === undefined) throw new Error("The merchant was not created.");
  return merchant;
}

/** Returns the number of requests that were answered with a status. */
async function countAnswers(control: string, status: number): Promise<number> {
  const { data } = z
    .object({ data: z.array(z.unknown()) })
    .parse(await (await fetch(`${control}/requests?status=${status}`)).json());
  return data.length;
}

test("the fixture gives a test a sandbox with a client and wallets that act", async ({ sandbox }) => {
  had.push(sandbox);
  const { client, wallets } = sandbox;
  const merchant = await createMerchant(sandbox);
  const enrolled = await wallets.merchant.enroll(merchant);
  const { data } = await client.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
    params: { path: { program: "prg_demo", id: merchant.id }, header: { "Idempotency-Key": "enrollment-1" } },
    body: enrolled.body,
  });
  expect(data).toMatchObject({ id: merchant.id, status: "enrolled" });
});

test("the error of a call has the line of the test that called", async ({ sandbox }) => {
  had.push(sandbox);
  const { purchase } = await sandbox.given.purchase({ state: "created" });
  const refused = sandbox.client.retrying.claim(purchase);
  await expect(refused).rejects.toMatchObject({
    name: "ProblemError",
    stack: expect.stringMatching(/fixture\.test\.ts:\d+:\d+/),
  });
});

test("the sandbox of a test refuses wrong arguments as any other does", async ({ sandbox }) => {
  had.push(sandbox);
  const wrong = { code: "argument_invalid" };
  expect(() => sandbox.openWallet("0x12")).toThrow(expect.objectContaining(wrong));
  expect(() => sandbox.openWallet(undefined as never)).toThrow(expect.objectContaining(wrong));
  await expect(sandbox.receiver.next({ status: 200 } as never)).rejects.toMatchObject(wrong);
  await expect(sandbox.receiver.next(undefined, -1)).rejects.toMatchObject(wrong);
});

test("the fixture restores its sandbox before the next test", async ({ sandbox }) => {
  expect(sandbox.description.urls).toEqual(had.at(-1)?.description.urls);
  expect(await sandbox.store.list("merchants", {})).toEqual([]);
  expect(await sandbox.store.list("idempotency", {})).toEqual([]);
});

test("calls of a test that has ended are refused", async ({ sandbox }) => {
  const [earlier] = had;
  if (earlier === undefined) throw new Error("The first test had a sandbox.");
  const late = "The test that had this sandbox is over";
  await expect(createMerchant(earlier)).rejects.toThrow(late);
  expect(() => earlier.wallets.buyer.faucet(1n)).toThrow(late);
  expect(() => earlier.chain.client.mine({ blocks: 1 })).toThrow(late);
  expect(() => earlier.snapshot()).toThrow(late);
  expect(() => earlier.openWallet(anyKey)).toThrow(late);
  expect(() => earlier.chain.request({ method: "evm_mine" })).toThrow(late);
  expect(() => earlier.chain.stop()).toThrow(late);
  expect(() => earlier.store.next("merchants")).toThrow(late);
  expect(await sandbox.store.list("merchants", {})).toEqual([]);
});

test.fails("a test may fail with requests, faults and waiting transactions left", async ({ sandbox }) => {
  had.push(sandbox);
  await sandbox.chain.client.setAutomine(false);
  await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "drop", count: null });
  const { stranger } = sandbox.wallets;
  await stranger.submit({ to: stranger.address, data: "0x" });
  const url = `${sandbox.description.urls.api}/v1/routing/capabilities`;
  for (let number = 0; number < 20; number += 1) void fetch(url).catch(() => undefined);
  throw new Error("An integrator's test failed.");
});

test("the next test starts without the requests, faults and transactions of a failed test", async ({
  sandbox,
}) => {
  expect(sandbox.faults.list()).toEqual([]);
  const { receipt } = await sandbox.wallets.stranger.faucet(1n);
  expect(receipt).toMatchObject({ status: "success", transactionIndex: 0 });
});

test("a test may end with a request in progress", async ({ sandbox }) => {
  await sandbox.client.GET("/v1/routing/capabilities");
  left.push(createMerchant(sandbox).catch((error: unknown) => error));
  expect(left).toHaveLength(1);
});

test("a request in progress at the end of a test has no effect in the next test", async ({ sandbox }) => {
  await left.at(-1);
  expect(await sandbox.store.list("merchants", {})).toEqual([]);
});

test("no call in progress at the end of a test affects a later test, at any step", {
  tags: "thorough",
}, async () => {
  const pool = openPool({ seed: "left" }, "worker");
  onTestFinished(async () => await pool.close());
  const begin = (sandbox: Sandbox) => [
    createMerchant(sandbox),
    sandbox.wallets.buyer.faucet(1n),
    sandbox.openWallet(sandbox.chain.accounts.wallets.merchant.privateKey).submit(nothing),
    sandbox.chain.client.mine({ blocks: 3 }),
    sandbox.chain.request({ method: "evm_mine" }),
    sandbox.clock.travel({ days: 8 }),
  ];
  const first = await pool.lease();
  const fresh = await first.sandbox.fingerprint();
  await first.end();
  for (let round = 0; round < 20; round += 1) {
    const earlier = await pool.lease();
    const begun = Promise.allSettled(begin(earlier.sandbox));
    await earlier.end();
    const later = await pool.lease();
    await begun;
    expect(await later.sandbox.fingerprint()).toEqual(fresh);
    const { receipt } = await later.sandbox.wallets.stranger.faucet(1n);
    expect(receipt).toMatchObject({ status: "success", transactionIndex: 0 });
    await later.end();
  }
});

test("a test may end while a call waits forever", async ({ sandbox }) => {
  const { chain, receiver, wallets } = sandbox;
  await chain.client.setAutomine(false);
  const hash = await wallets.buyer.submit(nothing);
  left.push(wallets.merchant.faucet(1n), wallets.buyer.receipt(hash), receiver.next());
  for (const one of left) void one.catch(() => undefined);
  expect(await chain.client.getTransaction({ hash })).toMatchObject({ blockNumber: null });
});

test("a wait of a test that has ended is refused, and its delivery is left for the next test", async ({
  sandbox,
}) => {
  const { receiver } = sandbox;
  const [faucet, receipt, delivery] = left.slice(-3);
  await expect(delivery).rejects.toMatchObject({ code: "not_leased" });
  await expect(faucet).rejects.toMatchObject({ code: "not_leased" });
  await expect(receipt).rejects.toMatchObject({ code: "not_leased" });
  await fetch(receiver.url, { method: "POST", body: "{}" });
  expect(await receiver.next()).toMatchObject({ number: 1 });
});

// The next test would wait until these calls are given up, as long as a test may take.
const patient = { seed: "held", receiptTimeoutMs: 60_000, deliveryTimeoutMs: 60_000 };

/** The calls that a test can leave in progress, which take a minute by themselves. */
const slowCalls: { what: string; begin: (sandbox: Sandbox) => Promise<Promise<unknown>[]> }[] = [
  {
    what: "an activation whose transaction a fault drops",
    async begin({ given, faults, client }) {
      const { purchase } = await given.purchase({ state: "created" });
      await faults.set({ layer: "relayer", action: "drop", point: "broadcast", count: null });
      return [client.retrying.activate(purchase)];
    },
  },
  {
    what: "an activation while mining is paused",
    async begin({ given, faults, client, wallets }) {
      const { purchase } = await given.purchase({ state: "created" });
      await faults.set({ layer: "chain", action: "pause_mining" });
      return [client.retrying.activate(purchase), wallets.buyer.faucet(5n)];
    },
  },
  {
    what: "a write that a fault delays",
    async begin(sandbox) {
      await sandbox.client.GET("/v1/routing/capabilities");
      await sandbox.faults.set("slow", { delay_ms: 60_000, count: null });
      return [createMerchant(sandbox)];
    },
  },
  {
    what: "a given state whose writes a fault delays",
    async begin({ given, faults }) {
      await faults.set("slow", { delay_ms: 60_000, count: null });
      return [given.merchant({ state: "pending" })];
    },
  },
  {
    what: "a request whose calls of the node a fault delays",
    async begin(sandbox) {
      const point = "before_call";
      await sandbox.faults.set({ layer: "rpc", point, action: "delay", delay_ms: 60_000, count: null });
      return [createMerchant(sandbox)];
    },
  },
  {
    what: "a delivery that a fault delays",
    async begin({ given, faults, deliverAll }) {
      await given.merchant({ state: "pending" });
      await faults.set({ layer: "delivery", action: "delay", delay_ms: 60_000, count: null });
      return [deliverAll()];
    },
  },
  {
    what: "a delivery that is waited for",
    begin: async ({ receiver }) => [receiver.next(undefined, 60_000)],
  },
];

test.for(slowCalls)("the next test does not wait for $what", { tags: "thorough" }, async ({ begin }) => {
  const pool = openPool(patient, "worker");
  onTestFinished(async () => await pool.close());
  const first = await pool.lease();
  const fresh = await first.sandbox.fingerprint();
  const begun = (await begin(first.sandbox)).map((call) => call.catch((error: unknown) => error));
  await expect.poll(() => isHeld(first.sandbox)).toBe(true);
  await first.end();
  const second = await pool.lease();
  for (const call of begun) expect(await call).toMatchObject({ code: "not_leased" });
  expect(await second.sandbox.fingerprint()).toEqual(fresh);
  expect(second.sandbox.faults.list()).toEqual([]);
  // A wait after it is as long as ever.
  await second.sandbox.faults.set("slow", { delay_ms: 300 });
  const slowed = performance.now();
  await createMerchant(second.sandbox);
  expect(performance.now() - slowed).toBeGreaterThan(290);
});

/** Returns whether a fault has acted, if one is set. */
function isHeld({ faults }: Sandbox): boolean {
  const all = faults.list();
  return all.length === 0 || all.some(({ hits }) => hits > 0);
}

test("a request that the sandbox's client has not sent does not delay the next test either", {
  tags: "thorough",
}, async () => {
  const pool = openPool(patient, "worker");
  onTestFinished(async () => await pool.close());
  const first = await pool.lease();
  const { faults, given, description } = first.sandbox;
  const { purchase } = await given.purchase({ state: "created" });
  const [{ key }] = description.accounts;
  const { api } = description.urls;
  const { credential } = await requestAccess(api, key, fetch);
  await faults.set({ layer: "relayer", action: "drop", point: "broadcast", count: null });
  const activated = createApiClient(api, credential)
    .retrying.activate(purchase)
    .catch((error: unknown) => error);
  await expect.poll(() => faults.list()[0]?.hits).toBe(1);
  await first.end();
  await pool.lease();
  // The credential, with which it is repeated, is gone with the rest.
  expect(await activated).toMatchObject({ code: "credential_invalid" });
});

test("a test that has ended cannot restore its snapshot", async () => {
  const pool = openPool({ seed: "kept" }, "worker");
  onTestFinished(async () => await pool.close());
  const first = await pool.lease();
  const snapshot = await first.sandbox.snapshot();
  await first.sandbox.wallets.buyer.faucet(1n);
  await snapshot.restore();
  await first.end();
  await pool.lease();
  expect(() => snapshot.restore()).toThrow("The test that had this sandbox is over");
});

test("a test that begins before the previous test has ended gets an error that says so", async () => {
  const pool = openPool({ seed: "ending" }, "worker");
  onTestFinished(async () => await pool.close());
  const first = await pool.lease();
  const ending = first.end();
  await expect(pool.lease()).rejects.toThrow(
    "The end of the test before is not finished, so its sandbox is not free. Await everything that a test begins, and pass the fixture's end to afterEach.",
  );
  await ending;
  await pool.lease();
});

test("the client of a test that has ended repeats no request", async () => {
  const pool = openPool({ seed: "repeating" }, "worker");
  onTestFinished(async () => await pool.close());
  const { sandbox, end } = await pool.lease();
  const { purchase } = await sandbox.given.purchase({ state: "created" });
  const { urls } = sandbox.description;
  await sandbox.faults.set("node-down");
  const activated = sandbox.client.retrying.activate(purchase);
  const sent = async () => await countAnswers(urls.control, 503);
  await expect.poll(sent).not.toBe(0);
  const whenItEnded = await sent();
  await Promise.all([end(), expect(activated).rejects.toMatchObject({ code: "not_leased" })]);
  expect(await sent()).toBeLessThanOrEqual(whenItEnded + 1);
});

test("a test may end its sandbox", async ({ sandbox }) => {
  had.push(sandbox);
  await sandbox.close();
  await expect(fetch(sandbox.description.urls.api)).rejects.toThrow();
});

test("the test after a test that closed its sandbox gets a new sandbox", async ({ sandbox }) => {
  expect(sandbox.description.urls).not.toEqual(had.at(-1)?.description.urls);
  expect((await createMerchant(sandbox)).status).toBe("pending");
});

test("two tests of one worker cannot use the sandbox at once, and the error says what to do", async () => {
  const pool = openPool({}, "worker");
  const first = await pool.lease();
  await expect(pool.lease()).rejects.toThrow('sandboxTest({ scope: "test" })');
  await first.end();
  const second = await pool.lease();
  expect(second.sandbox.description.urls).toEqual(first.sandbox.description.urls);
  await pool.close();
});

const apart = sandboxTest({ scope: "test", seed: "apart" });

apart.concurrent.for(["first", "second", "third"])(
  "tests that run at once each have their own: the %s",
  async (_name, { sandbox, expect: expectHere }) => {
    expectHere((await createMerchant(sandbox)).status).toBe("pending");
    expectHere(await sandbox.store.list("merchants", {})).toHaveLength(1);
  },
);
