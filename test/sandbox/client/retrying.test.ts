import type { Hex } from "viem";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  type ApiClientOptions,
  createApiClient,
  ProblemError,
  RetryLimitError,
  unwrap,
} from "../../../sandbox/client/api-client.ts";
import { retryPolicy } from "../../../sandbox/client/retry-policy.ts";
import { waitInRealTime } from "../../../sandbox/client/retrying-fetch.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import * as timers from "../../../sandbox/lib/time/timers.ts";
import { sandboxTest } from "../../../testkit/vitest.ts";
import { openFaultyProxy, type Treatment } from "./faulty-proxy.ts";

const inSandbox = sandboxTest({ seed: "retrying" });
const program = "prg_demo";

/** Returns a client with a credential of its own, whose requests a faulty proxy passes on. */
async function openClient(
  { description }: Sandbox,
  faults: readonly Treatment[],
  options?: ApiClientOptions,
) {
  const { urls, accounts } = description;
  const access = unwrap(
    await createApiClient(urls.api, accounts[0]?.key).POST("/v1/routing/access", { body: {} }),
  );
  const proxy = await openFaultyProxy(urls.api, faults);
  const client = createApiClient(proxy.url, access.credential, { wait: async () => {}, ...options });
  return { client, proxy };
}

/** Returns what a promise is rejected with. */
async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
}

inSandbox("a write is sent again, identically, until its answer arrives", async ({ sandbox }) => {
  const faults: Treatment[] = ["lose request", "lose answer", "cut answer", "answer 502", "answer 503"];
  const { client, proxy } = await openClient(sandbox, faults);
  await using _ = proxy;
  const { purchase, decision } = await sandbox.given.purchase({ state: "approved" });
  const refund = await client.retrying.refund(purchase, decision);
  expect(refund).toMatchObject({ status: "collected", purchase_id: purchase.id });
  expect(proxy.seen).toHaveLength(6);
  const [first] = proxy.seen;
  expect(first?.key).toMatch(/^[0-9a-f-]{36}$/);
  expect(first?.body).toBe(JSON.stringify({ decision_id: decision.id }));
  expect(new Set(proxy.seen.map((one) => JSON.stringify(one))).size).toBe(1);
  const explained = await sandbox.explain(refund.transaction_hash ?? "0x");
  expect(explained).toMatchObject({ accepted: true, step: "refund", subject: purchase.id });
});

inSandbox("a write without an idempotency key is sent once", async ({ sandbox }) => {
  const { accounts, urls } = sandbox.description;
  await using proxy = await openFaultyProxy(urls.api, ["lose answer"]);
  const { retrying } = createApiClient(proxy.url, accounts[0]?.key, { wait: async () => {} });
  const error = await reasonOf(retrying.POST("/v1/routing/access", { body: {} }));
  expect(error).toBeInstanceOf(TypeError);
  expect(proxy.seen).toHaveLength(1);
});

inSandbox("a read is sent again, and a refusal is thrown at once", async ({ sandbox }) => {
  const { client, proxy } = await openClient(sandbox, ["lose answer", "answer 503"]);
  await using _ = proxy;
  const params = { path: { program } };
  const read = unwrap(await client.retrying.GET("/v1/routing/programs/{program}", { params }));
  expect(read.id).toBe(program);
  expect(proxy.seen).toHaveLength(3);
  const error = await reasonOf(client.retrying.refund({ program, id: "pur_none" }, { id: "dec_none" }));
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ status: 422, code: "validation_failed" });
  expect(proxy.seen).toHaveLength(4);
});

test("a number of requests that is not whole or below 1 is refused", () => {
  for (const mostRequests of [Number.NaN, 0, -1, 1.5, Number.POSITIVE_INFINITY])
    expect(() => createApiClient("http://127.0.0.1:9", undefined, { mostRequests })).toThrow(
      `mostRequests must be a whole number from 1, not ${mostRequests}. Pass one such as 5.`,
    );
});

/** A moment, and two seconds later in the three forms of a date of HTTP. */
const moment = "Sun, 06 Nov 1994 08:49:37 GMT";
const later = ["Sun, 06 Nov 1994 08:49:39 GMT", "Sunday, 06-Nov-94 08:49:39 GMT", "Sun Nov  6 08:49:39 1994"];

test("a Retry-After that is a date asks for the time from the answer's own date until then", async () => {
  const asked = [
    ...later,
    moment,
    "Sat, 05 Nov 1994 08:49:37 GMT",
    "2",
    "soon",
    "2.5",
    "00000000000000000003",
    "1".repeat(20),
  ];
  const left = [...asked];
  const waited: (number | undefined)[] = [];
  const client = createApiClient("http://127.0.0.1:9", undefined, {
    async fetch() {
      const retryAfter = left.shift();
      return retryAfter === undefined
        ? Response.json({})
        : new Response(null, { status: 503, headers: { Date: moment, "Retry-After": retryAfter } });
    },
    wait: async ({ seconds }) => void waited.push(seconds),
  });
  await client.retrying.GET("/v1/routing/capabilities");
  expect(waited).toEqual([2, 2, 2, 0, 0, 2, undefined, undefined, 3, Number("1".repeat(20))]);
});

class FetchTypeError extends TypeError {
  override readonly name = "FetchTypeError";
}

test.each([
  ["a system's code", Object.assign(new Error("reset"), { name: "FetchError", code: "ECONNRESET" })],
  [
    "a cause with a code of undici",
    new Error("failed", { cause: Object.assign(new Error(), { code: "UND_ERR_SOCKET" }) }),
  ],
  ["several refused addresses", new AggregateError([Object.assign(new Error(), { code: "EAI_AGAIN" })])],
  ["another kind of TypeError", new FetchTypeError("failed")],
  ["a timeout of its own", new DOMException("timeout", "TimeoutError")],
  ["the error of a DOM environment", new DOMException("failed", "NetworkError")],
])("a connection that another fetch has lost with %s is tried again", async (_, lost) => {
  let sent = 0;
  const client = createApiClient("http://127.0.0.1:9", undefined, {
    async fetch() {
      sent += 1;
      if (sent === 1) throw lost;
      return Response.json({});
    },
    wait: async () => {},
  });
  await client.retrying.GET("/v1/routing/capabilities");
  expect(sent).toBe(2);
});

class GuardedError extends Error {
  readonly #text = "not lost";
  override get message() {
    return this.#text;
  }
}

test.each([
  ["an abort of its own", new DOMException("aborted", "AbortError")],
  ["a class whose prototype has a message that cannot be read", new GuardedError()],
])("an error that another fetch throws as %s is passed on", async (_, thrown) => {
  const fetch = async () => await Promise.reject(thrown);
  const client = createApiClient("http://127.0.0.1:9", undefined, { fetch, wait: async () => {} });
  expect(await reasonOf(client.retrying.GET("/v1/routing/capabilities"))).toBe(thrown);
});

inSandbox(
  "a pause of any length that an early request is asked for moves the clock by at most a day",
  async ({ sandbox: { clock } }) => {
    const { signal } = new AbortController();
    for (const seconds of [86_400, 86_401, 1e20, Number.POSITIVE_INFINITY]) {
      const before = await clock.now();
      await retryPolicy(clock, 0).wait({ seconds, isEarly: true, sent: 1, signal });
      expect((await clock.now()) - before).toBe(86_400);
    }
  },
);

inSandbox("a request that was aborted is not sent again", async ({ sandbox }) => {
  const { client, proxy } = await openClient(sandbox, []);
  await using _ = proxy;
  const signal = AbortSignal.abort(new TypeError("The test has ended."));
  const params = { path: { program } };
  const read = client.retrying.GET("/v1/routing/programs/{program}", { params, signal });
  expect(await reasonOf(read)).toMatchObject({ message: "The test has ended." });
  expect(proxy.seen).toHaveLength(0);
});

inSandbox("an abort ends the wait for the next request at once", async ({ sandbox }) => {
  const { client, proxy } = await openClient(sandbox, ["answer 503"], { wait: waitInRealTime });
  await using _ = proxy;
  const ended = new AbortController();
  const params = { path: { program } };
  const read = reasonOf(
    client.retrying.GET("/v1/routing/programs/{program}", { params, signal: ended.signal }),
  );
  await expect.poll(() => proxy.seen.length).toBe(1);
  ended.abort(new Error("The test has ended."));
  expect(await read).toMatchObject({ message: "The test has ended." });
  expect(proxy.seen).toHaveLength(1);
});

inSandbox("a client repeats nothing after its own signal has aborted", async ({ sandbox }) => {
  const ended = new AbortController();
  const { client, proxy } = await openClient(sandbox, ["answer 503"], {
    signal: ended.signal,
    wait: async () => ended.abort(new Error("The lease has ended.")),
  });
  await using _ = proxy;
  const params = { path: { program } };
  const reason = await reasonOf(client.retrying.GET("/v1/routing/programs/{program}", { params }));
  expect(reason).toMatchObject({ message: "The lease has ended." });
  expect(proxy.seen).toHaveLength(1);
});

inSandbox("a client whose signal has aborted sends nothing", async ({ sandbox }) => {
  const signal = AbortSignal.abort(new Error("The lease has ended."));
  const { client, proxy } = await openClient(sandbox, [], { signal });
  await using _ = proxy;
  const params = { path: { program } };
  const reason = await reasonOf(client.retrying.GET("/v1/routing/programs/{program}", { params }));
  expect(reason).toMatchObject({ message: "The lease has ended." });
  expect(proxy.seen).toHaveLength(0);
});

inSandbox(
  "after the most requests the error has the first sentence of the last problem",
  async ({ sandbox }) => {
    const { client, proxy } = await openClient(sandbox, [], { mostRequests: 2 });
    await using _ = proxy;
    const { purchase } = await sandbox.given.purchase({ state: "paid" });
    await sandbox.faults.set("node-down", { count: null });
    const error = await reasonOf(client.retrying.reconcile(purchase));
    expect(error).toMatchObject({
      code: "retry_limit",
      message: expect.stringMatching(
        /the last one got 503 rpc_unavailable: [A-Z][^.]+\. Clear the faults that hold it/,
      ),
    });
  },
);

inSandbox("after the most requests the error says what was answered last", async ({ sandbox }) => {
  const { client, proxy } = await openClient(sandbox, ["lose request", "answer 503", "lose request"], {
    mostRequests: 2,
  });
  await using _ = proxy;
  const { purchase, decision } = await sandbox.given.purchase({ state: "approved" });
  const error = await reasonOf(client.retrying.refund(purchase, decision));
  expect(error).toBeInstanceOf(RetryLimitError);
  expect(error).toMatchObject({
    code: "retry_limit",
    message: `The outcome of POST /v1/routing/programs/${program}/purchases/${purchase.id}/refunds is unknown after 2 identical requests; the last one got 503. Clear the faults that hold it, or wait for the chain and send it again; read the object to see what took effect.`,
  });
  const params = { path: { program } };
  await expect(client.retrying.GET("/v1/routing/programs/{program}", { params })).resolves.toMatchObject({
    data: { id: program },
  });
});

inSandbox(
  "after the most requests that got 202 the error has that of the relay operation",
  async ({ sandbox }) => {
    const { client, proxy } = await openClient(sandbox, [], { mostRequests: 2 });
    await using _ = proxy;
    const { purchase } = await sandbox.given.purchase({ state: "created" });
    const operator = sandbox.chain.deployment.programs.find(({ id }) => id === program)?.operator ?? "0x";
    await sandbox.chain.client.setBalance({ address: operator, value: 0n });
    const error = await reasonOf(client.retrying.activate(purchase));
    expect(error).toMatchObject({
      code: "retry_limit",
      message: expect.stringContaining(`the last one got 202: The operator ${operator} has 0 ether, and `),
    });
  },
);

inSandbox("the sandbox's client collects a refund whose relay operation was held", async ({ sandbox }) => {
  const { purchase, decision } = await sandbox.given.purchase({ state: "refund_due" });
  const { retrying } = sandbox.client;
  const refund = await retrying.refund(purchase, decision);
  expect(refund.status).toBe("collected");
});

inSandbox("every named write returns what it made", async ({ sandbox: { client, wallets, reviewer } }) => {
  const { retrying } = client;
  const pending = await retrying.createMerchant(program, {
    wallet: wallets.merchant.address,
    name: "Corner Books",
    funding_cap: "500000000",
  });
  const enrollment = await wallets.merchant.enroll(pending);
  const merchant = await retrying.enroll(pending, enrollment.body);
  expect(merchant).toMatchObject({ id: pending.id, status: "enrolled" });
  await wallets.merchant.fund(merchant);
  const terms = {
    buyer: wallets.buyer.address,
    beneficiary: wallets.beneficiary.address,
    amount: "25000000",
    terms: { sku: "course-42" },
  };
  const direct = await retrying.createPurchase(merchant, terms);
  const registered = await wallets.merchant.register(direct);
  const active = await retrying.register(direct, { transaction_hash: registered.transaction_hash });
  expect(active).toMatchObject({ id: direct.id, status: "active", route: "merchant_direct" });

  const created = await retrying.createPurchase(merchant, terms);
  expect(created.id).not.toBe(direct.id);
  const purchase = await retrying.activate(created);
  expect(purchase).toMatchObject({ status: "active", route: "registrar_offer" });
  await wallets.buyer.approve(purchase);
  await wallets.buyer.pay(purchase);
  expect(await retrying.reconcile(purchase)).toMatchObject({ payment_status: "paid" });
  const { body } = await wallets.beneficiary.claim(purchase, { amount: 10_000_000n, reason: "Cancelled." });
  const claim = await retrying.claim(purchase, body);
  expect(claim).toMatchObject({ requested_amount: "10000000" });
  const signed = await reviewer.sign(purchase, claim, { award: "10000000" });
  const decision = await retrying.decide(purchase, signed);
  expect(decision).toMatchObject({ outcome: "approved", award: "10000000" });
  expect(await retrying.refund(purchase, decision)).toMatchObject({ status: "collected" });
  expect(await retrying.deliver(program, { id: pending.event_id })).toMatchObject({
    event_id: pending.event_id,
    status: "delivered",
  });
});

test("in mode deterministic a 202 moves the clock by what it asks for, up to 20 times and once for each required confirmation", async () => {
  await using sandbox = await createSandbox({ seed: "retrying", confirmations: 4 });
  const { given, client, clock, faults } = sandbox;
  const { purchase } = await given.purchase({ state: "created" });
  const before = await clock.now();
  const active = await client.retrying.activate(purchase);
  expect(active.status).toBe("active");
  expect((await clock.now()) - before).toBe(4);
  await faults.set({ layer: "api", point: "before_commit", action: "503", count: 3 });
  await client.retrying.reconcile(purchase);
  expect((await clock.now()) - before, "a 503 moves nothing").toBe(4);
  await faults.set({ layer: "api", point: "before_commit", action: "429", count: 100 });
  const unknown = { code: "retry_limit", message: expect.stringContaining(" after 24 identical requests") };
  expect(await reasonOf(client.retrying.reconcile(purchase))).toMatchObject(unknown);
  const other = { state: "pending", wallet: "other_merchant" } as const;
  expect(await reasonOf(given.merchant(other))).toMatchObject(unknown);
});

test.each([
  [3, 3_000],
  [3_600, 60_000],
  [undefined, 10],
])(
  "in mode live a Retry-After of %s is waited for %i ms, without a travel",
  async (seconds, milliseconds) => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    vi.spyOn(timers, "setTimeout").mockImplementation(setTimeout);
    onTestFinished(() => {
      vi.restoreAllMocks();
      vi.useRealTimers();
    });
    const travel = vi.fn(async () => 0);
    const { wait } = retryPolicy({ mode: "live", travel }, 1);
    let hasEnded = false;
    const waited = wait({ seconds, isEarly: true, sent: 1, signal: new AbortController().signal });
    void waited.then(() => {
      hasEnded = true;
    });
    await vi.advanceTimersByTimeAsync(milliseconds - 1);
    expect(hasEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(hasEnded).toBe(true);
    expect(travel).not.toHaveBeenCalled();
  },
);

test("in mode deterministic a rate limit ends with its window in sandbox time", async () => {
  await using sandbox = await createSandbox({ seed: "retrying", rateLimit: { requests: 3, seconds: 3_600 } });
  const { client, clock } = sandbox;
  const params = { path: { program } };
  const before = await clock.now();
  for (let read = 1; read <= 5; read += 1)
    unwrap(await client.retrying.GET("/v1/routing/programs/{program}", { params }));
  const window = Math.floor(before / 3_600) + 1;
  expect(await clock.now()).toBe(window * 3_600);
});

test("equal runs give named writes equal keys, even after several restores", {
  tags: "thorough",
}, async () => {
  await using sandbox = await createSandbox({ seed: "retrying" });
  const { client, given, wallets } = sandbox;
  const create = async (wallet: { address: Hex }) =>
    await client.retrying.createMerchant(program, {
      wallet: wallet.address,
      name: "Corner Books",
      funding_cap: "500000000",
    });
  await create(wallets.merchant);
  await given.merchant({ state: "pending", wallet: "buyer" });
  const start = await sandbox.snapshot();
  const run = async () => {
    const keys: (string | null)[] = [];
    const note = {
      onRequest({ request }: { request: Request }) {
        keys.push(request.headers.get("Idempotency-Key"));
      },
    };
    client.retrying.use(note);
    for (const wallet of [wallets.beneficiary, wallets.other_merchant]) await create(wallet);
    client.retrying.eject(note);
    await given.merchant({ state: "pending", wallet: "other_buyer" });
    return { keys, digest: (await sandbox.fingerprint()).digest };
  };
  const first = await run();
  expect(new Set(first.keys).size).toBe(2);
  for (let restores = 1; restores <= 2; restores += 1) {
    await start.restore();
    expect(await run()).toEqual(first);
  }
});
