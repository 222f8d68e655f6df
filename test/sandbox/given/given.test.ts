import { join } from "node:path";
import { encodeFunctionData } from "viem";
import { expect, expectTypeOf, test } from "vitest";
import { purchaseRegistrarAbi, testUsdcAbi } from "../../../protocol/abi.generated.ts";
import { decodeCall } from "../../../protocol/call.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { setMining } from "../../../sandbox/chain/clock/mining.ts";
import type { components } from "../../../sandbox/client/api-client.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import { openPool } from "../../../testkit/pool/pool.ts";
import { playScenario } from "../../../testkit/scenario/play-scenario.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

const program = "prg_demo";
/** Sends a request to the API or the control API, and returns what came back. */
async function ask(url: string, method: "GET" | "POST", bearer?: string, body?: unknown) {
  const answer = await fetch(url, {
    method,
    headers: {
      ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
}

/** Issues a credential with an account's key. */
async function issue({ description }: Sandbox): Promise<string> {
  const { urls, accounts } = description;
  return (await ask(`${urls.api}/v1/routing/access`, "POST", accounts[0]?.key)).body.credential;
}

/** The hashes of all transactions, in the order of their blocks. */
async function transactionHashes({ chain }: Sandbox) {
  const hashes: string[] = [];
  const last = Number(await chain.client.getBlockNumber({ cacheTime: 0 }));
  for (let number = 0; number <= last; number += 1)
    hashes.push(...(await chain.client.getBlock({ blockNumber: BigInt(number) })).transactions);
  return hashes;
}

test("equal seeds give equal transactions, ids and fingerprints", { tags: "thorough" }, async () => {
  const give = async (seed: string) => {
    await using sandbox = await createSandbox({ seed });
    const { given } = sandbox;
    const made = [
      await given.purchase({ state: "refunded" }),
      await given.purchase({ state: "refund_due", route: "merchant_direct", permit: true }),
      await given.purchase({ state: "expired" }),
      await given.purchase({ state: "denied", program: "prg_other" }),
    ];
    return {
      ids: made.map(({ merchant, purchase, refund }) => [merchant.id, purchase.id, refund?.id]),
      transactions: await transactionHashes(sandbox),
      fingerprint: await sandbox.fingerprint(),
    };
  };
  const first = await give("equal");
  expect(await give("equal")).toEqual(first);
  expect((await give("other")).transactions).not.toEqual(first.transactions);
});

test("a restore undoes given states, and the same call gives the same again", async () => {
  await using sandbox = await createSandbox({ seed: "given-restore" });
  const start = await sandbox.snapshot();
  await sandbox.given.purchase({ state: "approved" });
  const once = await sandbox.fingerprint();
  await start.restore();
  await sandbox.given.purchase({ state: "approved" });
  expect(await sandbox.fingerprint()).toEqual(once);
});

test("purchases of any states and routes follow each other under one merchant", {
  tags: "thorough",
}, async () => {
  const sandbox = await freshSandbox();
  const merchants = new Set<string>();
  for (const state of ["partially_paid", "refund_due", "created", "refunded", "paid"] as const)
    for (const route of ["merchant_direct", "registrar_offer"] as const) {
      const options = state === "created" ? { state } : { state, route };
      merchants.add((await sandbox.given.purchase(options)).merchant.id);
    }
  expect(merchants.size).toBe(1);
});

test("a buyer's allowance for another purchase is what it was", async () => {
  const sandbox = await freshSandbox();
  const { given, wallets } = sandbox;
  const { purchase } = await given.purchase({ state: "active", amount: "7000000" });
  await wallets.buyer.approve(purchase);
  await given.purchase({ state: "partially_paid" });
  await given.purchase({ state: "paid", route: "merchant_direct" });
  const { receipt } = await wallets.buyer.pay(purchase);
  expect(receipt.status).toBe("success");
});

test("a payment under a permit is one transaction of the buyer's", async () => {
  const sandbox = await freshSandbox();
  const { given, wallets, chain } = sandbox;
  const sent = async () => await chain.client.getTransactionCount({ address: wallets.buyer.address });
  const { payments } = await given.purchase({ state: "paid", permit: true });
  expect(await sent()).toBe(1);
  const [payment] = payments;
  expect(payment?.amount).toBe("25000000");
  const { input } = await chain.client.getTransaction({ hash: payment?.transaction_hash ?? "0x" });
  expect(decodeCall(purchaseRegistrarAbi, input)?.function).toBe("payWithPermit");
  await given.purchase({ state: "paid" });
  expect(await sent()).toBe(3);
});

test("credentials of a test stay valid when a state is given, its client's and one that it issued itself", async () => {
  const sandbox = await freshSandbox();
  const { given, client, description } = sandbox;
  const own = await issue(sandbox);
  const { purchase } = await given.purchase({ state: "reconciled" });
  const path = `/v1/routing/programs/${program}/purchases/${purchase.id}`;
  expect((await ask(description.urls.api + path, "GET", own)).status).toBe(200);
  const params = { path: { program, id: purchase.id } };
  const read = async () =>
    (await client.GET("/v1/routing/programs/{program}/purchases/{id}", { params })).response.status;
  expect(await read()).toBe(200);
  await given.purchase({ state: "claimed", merchant: purchase.merchant_id });
  expect(await read()).toBe(200);
});

test("a state can be given after the credential for it has expired", async () => {
  const sandbox = await freshSandbox();
  const first = await sandbox.given.purchase({ state: "active" });
  await sandbox.clock.travel({ days: 8 });
  const second = await sandbox.given.purchase({ state: "active" });
  expect(second.merchant.id).toBe(first.merchant.id);
});

test("given states neither count for the rate limit nor are stopped by it", async () => {
  await using sandbox = await createSandbox({ rateLimit: { requests: 2, seconds: 86_400 } });
  const { purchase } = await sandbox.given.purchase({ state: "refunded" });
  const read = async () =>
    await sandbox.client.GET("/v1/routing/programs/{program}/purchases/{id}", {
      params: { path: { program, id: purchase.id } },
    });
  expect([(await read()).response.status, (await read()).response.status]).toEqual([200, 200]);
  expect((await read()).error?.code).toBe("rate_limited");
});

test("a refund that is due stays due until it is requested again", async () => {
  const sandbox = await freshSandbox();
  const { given, client, chain, relayer, faults } = sandbox;
  const { purchase, decision } = await given.purchase({ state: "refund_due" });
  expect(faults.list().map(({ remaining }) => remaining)).toEqual([0]);
  await chain.client.mine({ blocks: 3 });
  await relayer.follow();
  const params = { path: { program, id: purchase.id }, header: { "Idempotency-Key": "refund-again" } };
  const read = await client.GET("/v1/routing/programs/{program}/purchases/{id}", {
    params: { path: params.path },
  });
  expect(read.data).toMatchObject({ status: "refund_due", figures: { refunded: "0" } });
  const body = { decision_id: decision.id };
  const { data } = await client.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", {
    params,
    body,
  });
  expect(data?.refund).toMatchObject({ status: "collected", award: "25000000" });
});

test("a merchant is given pending, enrolled and funded", async () => {
  const sandbox = await freshSandbox();
  const { given } = sandbox;
  const { merchant: pending } = await given.merchant({ state: "pending", cap: "5000000", name: "Shop" });
  expect(pending).toMatchObject({ status: "pending", name: "Shop", funding: { cap: "5000000" } });
  const { merchant: enrolled } = await given.merchant({ state: "enrolled" });
  expect(enrolled).toMatchObject({ status: "enrolled", funding: { allowance: "0" } });
  expect(enrolled.id).not.toBe(pending.id);
  const { merchant: funded } = await given.merchant({ state: "funded" });
  expect(funded).toMatchObject({ id: enrolled.id, funding: { allowance: enrolled.funding.cap } });
  const { token, funding_source } = sandbox.description.contracts;
  const args = [funding_source, 1n] as const;
  const data = encodeFunctionData({ abi: testUsdcAbi, functionName: "approve", args });
  await sandbox.wallets.merchant.send({ to: token, data });
  expect((await given.merchant({ state: "funded" })).merchant.funding.allowance).toBe(enrolled.funding.cap);
  const { merchant: other } = await given.merchant({ state: "funded", wallet: "other_merchant" });
  expect(other).toMatchObject({ status: "enrolled", funding: { allowance: other.funding.cap } });
  expect((await given.purchase({ state: "refunded", merchant: other })).merchant.id).toBe(other.id);
});

test("a purchase is of the merchant that the wallet is enrolled as, no matter which program enrolled it", async () => {
  const sandbox = await freshSandbox();
  const { given, client, wallets } = sandbox;
  const header = (key: string) => ({ "Idempotency-Key": key });
  const { data: merchant } = await client.POST("/v1/routing/programs/{program}/merchants", {
    params: { path: { program }, header: header("my-own-merchant") },
    body: { wallet: wallets.merchant.address, name: "Mine", funding_cap: "90000000" },
  });
  if (merchant === undefined) throw new Error("The merchant was not created.");
  const { body } = await wallets.merchant.enroll(merchant);
  await client.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
    params: { path: { program, id: merchant.id }, header: header("its-enrollment") },
    body,
  });
  const made = await given.purchase({ state: "refunded", route: "merchant_direct" });
  expect(made.merchant).toMatchObject({ id: merchant.id, name: "Mine", funding: { allowance: "90000000" } });
});

test("a merchant that is passed is funded only where the state needs it", async () => {
  const sandbox = await freshSandbox();
  const { given, chain, wallets, description } = sandbox;
  const { merchant } = await given.merchant({ state: "enrolled" });
  const allowance = async () => {
    const { token, funding_source } = description.contracts;
    return await chain.client.readContract({
      address: token,
      abi: testUsdcAbi,
      functionName: "allowance",
      args: [wallets.merchant.address, funding_source],
    });
  };
  await given.purchase({ state: "approved", merchant });
  expect(await allowance()).toBe(0n);
  await given.purchase({ state: "refunded", merchant });
  expect(await allowance()).toBe(BigInt(merchant.funding.cap) - 25_000_000n);
});

test("a merchant whose wallet has approved less than its cap is not funded yet", async () => {
  const { given, wallets, description } = await freshSandbox();
  const { token, funding_source } = description.contracts;
  const approve = { abi: testUsdcAbi, functionName: "approve", args: [funding_source, 1n] } as const;
  await wallets.merchant.send({ to: token, data: encodeFunctionData(approve) });
  const { merchant } = await given.merchant({ state: "funded" });
  expect(merchant.funding.allowance).toBe(merchant.funding.cap);
});

test("given states wait for as many confirmations as the sandbox requires", {
  tags: "thorough",
}, async () => {
  await using sandbox = await createSandbox({ confirmations: 3 });
  for (const route of ["registrar_offer", "merchant_direct"] as const) {
    const { refund } = await sandbox.given.purchase({ state: "refunded", route });
    expect(refund.status).toBe("collected");
  }
});

test("states can be given in a data directory that an earlier process used", {
  tags: "thorough",
}, async () => {
  const dataDirectory = join(await temporaryFolder(), "kept");
  const give = async () => {
    await using sandbox = await createSandbox({ dataDirectory });
    return await sandbox.given.purchase({ state: "active" });
  };
  const [first, second] = [await give(), await give()];
  expect(second.merchant.id).toBe(first.merchant.id);
  expect(second.purchase.id).not.toBe(first.purchase.id);
});

test("calls at once run one after the other", async () => {
  const sandbox = await freshSandbox();
  const states = ["paid", "refunded", "partially_paid"] as const;
  const made = await Promise.all(states.map(async (state) => await sandbox.given.purchase({ state })));
  expect(made.map(({ purchase }) => [purchase.status, purchase.payment_status])).toEqual([
    ["active", "paid"],
    ["refunded", "paid"],
    ["active", "partially_paid"],
  ]);
});

test("a scenario records a given state as what makes it, and can be played", {
  tags: "thorough",
}, async () => {
  await using sandbox = await createSandbox({ seed: "given-scenario" });
  await sandbox.record("A refund that is due");
  const { urls } = sandbox.description;
  const options = { purchase: { state: "refund_due", route: "merchant_direct" } };
  expect((await ask(`${urls.control}/given`, "POST", undefined, options)).status).toBe(201);
  const scenario = await sandbox.stopRecording();
  expect(JSON.stringify(scenario)).not.toContain("POST /given");
  await playScenario(scenario);
});

test("a given state that a test has left unfinished ends with its lease, and the next test has none of it", async () => {
  const pool = openPool({ seed: "given-lease" }, "worker");
  const first = await pool.lease();
  const { purchase } = await first.sandbox.given.purchase({ state: "paid" });
  const left = first.sandbox.given.purchase({ state: "refunded" });
  left.catch(() => undefined);
  await first.end();
  await expect(left).rejects.toMatchObject({ code: "not_leased" });
  expect(() => first.sandbox.given.merchant({ state: "pending" })).toThrow("The test that had this sandbox");
  const second = await pool.lease();
  const again = await second.sandbox.given.purchase({ state: "paid" });
  expect(again.purchase.id).toBe(purchase.id);
  const claimed = await second.sandbox.given.purchase({ state: "claimed" });
  const decision = await second.sandbox.reviewer.decide(claimed.purchase, claimed.claim, { award: "1" });
  expect(decision.outcome).toBe("approved");
  await second.end();
  await pool.close();
});

test("the reviewer signs any decision, and records only those that the API accepts", async () => {
  const sandbox = await freshSandbox();
  const { given, reviewer, client, rotateKeys } = sandbox;
  const { purchase, claim } = await given.purchase({ state: "claimed", claimed: "10000000" });
  const write = (key: string) => ({
    params: { path: { program, id: purchase.id }, header: { "Idempotency-Key": key } },
  });
  const tooMuch = await reviewer.sign(purchase, claim, { award: "10000001" });
  const path = "/v1/routing/programs/{program}/purchases/{id}/decisions";
  const { error } = await client.POST(path, { ...write("too-much"), body: tooMuch });
  expect(error).toMatchObject({ code: "validation_failed", errors: [{ pointer: "/award" }] });
  await expect(reviewer.decide(purchase, claim, { award: "10000001" })).rejects.toMatchObject({
    name: "ProblemError",
    code: "validation_failed",
    status: 422,
    message: expect.stringContaining("/award must be at most 10000000"),
  });
  await rotateKeys("reviewer");
  const decidedAt = claim.created_at;
  await sandbox.clock.travel(60);
  const decision = await reviewer.decide(purchase, claim, { award: "9000000", decidedAt });
  expect(decision).toMatchObject({ outcome: "approved", award: "9000000", decided_at: decidedAt });
  const next = await given.purchase({ state: "claimed" });
  await sandbox.clock.travel(60);
  const denied = await reviewer.decide(next.purchase, next.claim, { award: "0" });
  const now = toTimestamp(await sandbox.clock.now());
  expect(denied).toMatchObject({ outcome: "denied", award: "0", decided_at: now });
});

test("the types have the fields of each state", async () => {
  const sandbox = await freshSandbox();
  const { given } = sandbox;
  type Claim = components["schemas"]["Claim"];
  const { claim: none } = await given.purchase({ state: "created" });
  expectTypeOf(none).toEqualTypeOf<Claim | null>();
  const { claim } = await given.purchase({ state: "claimed" });
  expectTypeOf(claim).toEqualTypeOf<Claim>();
  const { decision } = await given.purchase({ state: "denied" });
  expectTypeOf(decision).toEqualTypeOf<components["schemas"]["Decision"]>();
  const { refund } = await given.purchase({ state: "refunded" });
  expectTypeOf(refund).toEqualTypeOf<components["schemas"]["Refund"]>();
  expect([none, claim.requested_amount, decision.award, refund.award]).toEqual([
    null,
    "25000000",
    "0",
    "25000000",
  ]);
});

test("a given state is refused while mining is stopped", async () => {
  const sandbox = await freshSandbox();
  await setMining(sandbox.chain.client, "never");
  await expect(sandbox.given.purchase({ state: "paid" })).rejects.toMatchObject({
    code: "given_refused",
    message: expect.stringContaining("Mining is stopped"),
  });
});

test("a given state is refused when mining is stopped while it is created", {
  tags: "thorough",
}, async () => {
  const { chain, given, requestLog } = await freshSandbox();
  const refused = expect(given.purchase({ state: "paid" })).rejects.toMatchObject({
    code: "given_refused",
    message: expect.stringContaining("Mining is stopped"),
  });
  while (requestLog.newest().length === 0) await new Promise(setImmediate);
  await setMining(chain.client, "never");
  await refused;
  await setMining(chain.client, "transaction");
  expect((await given.purchase({ state: "active" })).purchase.status).toBe("active");
});

test("a transaction that reverts and a refusal of the API are thrown with their reason", async () => {
  const sandbox = await freshSandbox();
  const { given, wallets } = sandbox;
  const { merchant } = await given.merchant({ state: "funded", cap: "5000000" });
  await expect(given.purchase({ state: "paid", merchant })).rejects.toMatchObject({
    name: "ProblemError",
    code: "validation_failed",
    message: expect.stringContaining("/amount must not be above the merchant's funding cap (5000000)"),
  });
  await given.purchase({ state: "refunded", merchant, amount: "3000000" });
  const before = await sandbox.chain.client.getBlockNumber({ cacheTime: 0 });
  for (const state of ["refund_due", "refunded"] as const)
    await expect(given.purchase({ state, amount: "4000000" })).rejects.toMatchObject({
      code: "given_invalid",
      message: `award "4000000" is above what is left of the funding cap of ${merchant.id}, 2000000. Pass less, or another merchant.`,
    });
  expect(await sandbox.chain.client.getBlockNumber({ cacheTime: 0 })).toBe(before);
  await wallets.deployer.setPaused(program, true);
  await expect(
    given.purchase({ state: "active", route: "merchant_direct", amount: "5" }),
  ).rejects.toMatchObject({
    code: "given_refused",
    message: expect.stringMatching(
      /register, reverted with ProgramPaused\(program 0x.*\)\. See routing-sandbox explain 0x/,
    ),
  });
});

test("a given state whose transaction is held again and again is refused with what to do", {
  tags: "thorough",
}, async () => {
  const sandbox = await freshSandbox();
  await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "hold", count: null });
  await expect(sandbox.given.purchase({ state: "active" })).rejects.toMatchObject({
    code: "retry_limit",
    message: expect.stringMatching(
      /activate is unknown after 21 identical requests; the last one got 202\. Clear the faults that hold it/,
    ),
  });
});

test("a given state repeats its requests as client.retrying does, the one for its first credential included", {
  tags: "thorough",
}, async () => {
  await using sandbox = await createSandbox({ seed: "given-retries" });
  const isDown = async (count: number | null) => {
    await sandbox.faults.clear();
    await sandbox.faults.set("node-down", { count });
  };
  await isDown(15);
  expect((await sandbox.given.merchant({ state: "pending" })).merchant.status).toBe("pending");
  expect(sandbox.faults.list()).toMatchObject([{ hits: 15 }]);
  await isDown(null);
  await expect(sandbox.given.purchase({ state: "created" })).rejects.toMatchObject({
    code: "retry_limit",
    message: expect.stringContaining("after 21 identical requests; the last one got 503 rpc_unavailable"),
  });
  await using fresh = await createSandbox({ seed: "given-retries" });
  await fresh.faults.set("node-down");
  await expect(fresh.given.merchant({ state: "pending" })).rejects.toMatchObject({
    code: "retry_limit",
    message: expect.stringContaining("POST /v1/routing/access is unknown after 21 identical requests"),
  });
});

test("a merchant whose enrollment was not confirmed is confirmed by the next call", {
  tags: "thorough",
}, async () => {
  const { faults, given } = await freshSandbox();
  const match = { operation: "confirmEnrollment" };
  await faults.set({ layer: "api", action: "503", point: "before_commit", match, count: null });
  await expect(given.merchant({ state: "enrolled" })).rejects.toMatchObject({ code: "retry_limit" });
  await faults.clear();
  const { merchant } = await given.merchant({ state: "enrolled" });
  expect(merchant).toMatchObject({ status: "enrolled", funding: { allowance: "0" } });
  const { purchase } = await given.purchase({ state: "refunded" });
  expect(purchase).toMatchObject({ merchant_id: merchant.id, status: "refunded" });
});
