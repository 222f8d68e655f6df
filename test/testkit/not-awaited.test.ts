import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { SandboxError } from "../../sandbox/lib/errors/sandbox-error.ts";
import type { ExplorableSandbox } from "../../testkit/explore/explorable-sandbox.ts";
import { sandboxFixture } from "../../testkit/fixture.ts";
import { type Lease, openPool } from "../../testkit/pool/pool.ts";
import { sandboxTest } from "../../testkit/vitest.ts";
import { openReceiver } from "../kit/external-receiver.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const pool = openPool({ seed: "not-awaited" }, "worker");
afterAll(async () => await pool.close());

/** Ends a lease, and returns the message of a test that would end with it. */
async function endOf({ findForgotten, end }: Lease): Promise<string | undefined> {
  const forgotten = await findForgotten();
  await end();
  return forgotten?.message;
}

const anyKey = `0x${"11".repeat(32)}` as const;

/** The calls of a sandbox, each by its name. */
const calls: { [name: string]: (sandbox: ExplorableSandbox) => Promise<unknown> } = {
  "given.purchase": ({ given }) => given.purchase({ state: "created" }),
  "given.merchant": ({ given }) => given.merchant({ state: "pending" }),
  "given.request": ({ given }) => given.request({ merchant: { state: "pending" } }),
  "reviewer.sign": ({ reviewer }) =>
    reviewer.sign(noPurchase, { id: "clm_1", claim_hash: anyKey }, { award: "0" }),
  "client.GET": ({ client }) => client.GET("/v1/routing/capabilities"),
  "client.retrying.GET": ({ client }) => client.retrying.GET("/v1/routing/capabilities"),
  "client.retrying.deliver": ({ client }) => client.retrying.deliver("prg_demo"),
  "wallets.buyer.faucet": ({ wallets }) => wallets.buyer.faucet(1n),
  "openWallet(0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A).faucet": (sandbox) =>
    sandbox.openWallet(anyKey).faucet(1n),
  "clock.travel": ({ clock }) => clock.travel(5),
  "clock.travelTo": ({ clock }) => clock.travelTo(1_800_000_000),
  "faults.set": ({ faults }) => faults.set("answer-lost"),
  "faults.clear": ({ faults }) => faults.clear(),
  "receiver.next": ({ receiver }) => receiver.next(),
  "receiver.pin": ({ receiver }) => receiver.pin("http://127.0.0.1:9/"),
  "chain.client.mine": ({ chain }) => chain.client.mine({ blocks: 1 }),
  "chain.request": ({ chain }) => chain.request({ method: "evm_mine" }),
  deliverAll: ({ deliverAll }) => deliverAll(),
  snapshot: (sandbox) => sandbox.snapshot(),
  fingerprint: (sandbox) => sandbox.fingerprint(),
  explain: (sandbox) =>
    sandbox.explain({ call: { from: `0x${"11".repeat(20)}`, to: `0x${"22".repeat(20)}`, data: "0x" } }),
  rotateKeys: (sandbox) => sandbox.rotateKeys("reviewer"),
};

const noPurchase = {
  id: "pur_1",
  program: "prg_demo",
  commitment: { hash: anyKey, typed_data: { domain: { chainId: 1 } } },
} as never;

test("each call that a test has not awaited is reported by the name under which the test called it", async () => {
  const lease = await pool.lease();
  for (const call of Object.values(calls)) void call(lease.sandbox);
  expect(await endOf(lease)).toBe(
    `The test ended without awaiting ${Object.keys(calls)
      .map((name) => `${name}()`)
      .join(", ")}. Await every call of the sandbox.`,
  );
});

test("a call that has finished without being awaited is reported too", async () => {
  const lease = await pool.lease();
  void lease.sandbox.faults.set("answer-lost");
  await expect.poll(() => lease.sandbox.faults.list()).toHaveLength(1);
  expect(await endOf(lease)).toBe(
    "The test ended without awaiting faults.set(). Await every call of the sandbox.",
  );
});

test("a call that anything waits for is not reported, in whichever way, and whether or not it has finished", async () => {
  const lease = await pool.lease();
  const { sandbox } = lease;
  await sandbox.clock.now();
  const own = async () => await sandbox.client.GET("/v1/routing/capabilities");
  const left = [
    own(),
    sandbox.wallets.buyer.faucet(1n).then(() => "paid"),
    sandbox.receiver.next().catch(() => "none"),
    sandbox.fingerprint().finally(() => {}),
    Promise.race([sandbox.deliverAll(), sandbox.snapshot()]),
    expect(sandbox.explain("0x")).rejects.toThrow("transaction hash"),
  ];
  const settled = Promise.allSettled(left);
  await left.at(-1);
  expect(await endOf(lease)).toBeUndefined();
  await settled;
});

test("the requests that a call makes are not reported besides it", async () => {
  await using receiver = await openReceiver();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  receiver.answer = async (_request, response) => {
    arrive();
    await released;
    response.end();
  };
  const { sandbox, findForgotten, end } = await pool.lease();
  await sandbox.given.merchant({ state: "pending" });
  await sandbox.receiver.pin(receiver.url);
  void sandbox.deliverAll();
  await arrived;
  const forgotten = await findForgotten();
  release();
  await end();
  expect(forgotten?.message).toBe(
    "The test ended without awaiting deliverAll(). Await every call of the sandbox.",
  );
});

test("a given state that has not finished is reported, even if a function waits for it", async () => {
  const lease = await pool.lease();
  const { given } = lease.sandbox;
  const own = async () => await given.merchant({ state: "pending" });
  const left = [
    own(),
    given.purchase({ state: "created" }).then(() => "made"),
    given.request({ merchant: { state: "pending" } }).catch(() => "none"),
  ];
  const settled = Promise.allSettled(left);
  expect(await endOf(lease)).toBe(
    "The test ended without awaiting given.merchant(), given.purchase(), given.request(). Await every call of the sandbox.",
  );
  await settled;
});

test("a given state that has finished before its test ends is not reported if a function waited for it", async () => {
  const lease = await pool.lease();
  const made = lease.sandbox.given.purchase({ state: "created" }).then(({ purchase }) => purchase.status);
  expect(await made).toBe("created");
  expect(await endOf(lease)).toBeUndefined();
});

test("a call in progress is refused at the end of its test with its name", async () => {
  const { sandbox, end } = await pool.lease();
  const waiting = sandbox.receiver.next();
  const refused = expect(waiting).rejects.toThrow(
    "over, and still waits for receiver.next(); await everything",
  );
  await end();
  await refused;
});

const forgetful = sandboxTest({ seed: "not-awaited", trace: "never" });

forgetful.fails("a test of vitest that passes without awaiting a call fails", async ({ sandbox }) => {
  void sandbox.given.purchase({ state: "created" });
  expect(sandbox.faults.list()).toEqual([]);
});

const apart = sandboxTest({ seed: "not-awaited", trace: "never", scope: "test" });

apart.fails("so does one with a sandbox of its own", async ({ sandbox }) => {
  void sandbox.deliverAll();
  expect(sandbox.faults.list()).toEqual([]);
});

test("the hook that ends a test in any runner throws what the test has not awaited, unless the test has failed", async () => {
  const fixture = sandboxFixture({ seed: "not-awaited", trace: "never" });
  const forget = async (result: "passed" | "failed") => {
    await fixture.begin();
    void fixture.sandbox.deliverAll();
    const currentTest = { title: "t", file: "t.js", state: result, fullTitle: () => "t" };
    return await fixture.end.call({ currentTest }).then(
      () => null,
      (error: unknown) => error,
    );
  };
  const error = await forget("passed");
  expect(error).toBeInstanceOf(SandboxError);
  expect(error).toMatchObject({ code: "not_awaited", message: expect.stringContaining("deliverAll()") });
  expect(await forget("failed")).toBeNull();
  await fixture.close();
});

test("the trace of a test that fails while a given state is made names that state, and not what the test awaits", async () => {
  const traceFolder = await temporaryFolder();
  const fixture = sandboxFixture({ seed: "not-awaited", traceFolder });
  await fixture.begin();
  const awaiting = Promise.allSettled([fixture.sandbox.given.purchase({ state: "refunded" })]);
  void fixture.sandbox.deliverAll();
  const err = new Error("Timeout of 5 s exceeded");
  const currentTest = { title: "t", file: "t.js", state: "failed", err, fullTitle: () => "t" };
  await fixture.end.call({ currentTest });
  await fixture.close();
  await awaiting;
  const trace = await readFile(join(traceFolder, "t-t.trace.html"), "utf8");
  expect(trace).toContain("Timeout of 5 s exceeded");
  expect(trace).toContain("given.purchase() had not finished when the test ended.");
  expect(trace).not.toContain("without awaiting");
});
