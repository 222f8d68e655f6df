import { request } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { requestAccess } from "../../../sandbox/client/access/request-access.ts";
import { createSandbox, type Sandbox } from "../../../sandbox/create-sandbox.ts";
import type { Snapshot } from "../../../sandbox/snapshots/snapshot.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

let sandbox: Sandbox;
let start: Snapshot;

beforeAll(async () => {
  sandbox = await createSandbox({ seed: "faults", receiptTimeoutMs: 200 });
  start = await sandbox.snapshot();
});
beforeEach(async () => await start.restore());
afterAll(async () => await sandbox.close());

const path = "/v1/routing/programs/{program}/merchants";

function merchant(key: string) {
  return {
    params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": key } },
    body: { wallet: sandbox.wallets.merchant.address, name: "Corner Books", funding_cap: "500000000" },
  };
}

const createMerchant = async (key = "merchant-1") => await sandbox.client.POST(path, merchant(key));

/** Issues a credential of the other program, so that the sandbox's own client keeps its own. */
async function otherCredential(): Promise<string> {
  const { urls, accounts } = sandbox.description;
  return (await requestAccess(urls.api, accounts[1]?.key ?? "", fetch)).credential;
}

async function setOver(method: string, body?: unknown) {
  const response = await fetch(`${sandbox.description.urls.control}/faults`, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

describe("faults of the API:", () => {
  test("answer-lost records the write and drops the connection; a repeat gets the stored answer", async () => {
    await sandbox.faults.set("answer-lost", { operation: "createMerchant" });
    await expect(createMerchant()).rejects.toThrow("fetch failed");
    expect(await sandbox.store.list("merchants", {})).toHaveLength(1);
    const { response, data } = await createMerchant();
    expect(response.headers.get("idempotent-replayed")).toBe("true");
    expect(data?.status).toBe("pending");
  });

  test("a fault before the commit records nothing, not even the key", async () => {
    await createMerchant("merchant-0");
    const before = await sandbox.store.export();
    await sandbox.faults.set({ layer: "api", point: "before_commit", action: "reset" });
    await expect(createMerchant()).rejects.toThrow("fetch failed");
    expect(await sandbox.store.export()).toEqual(before);
  });

  test.each([
    ["429", "rate_limited", "before_commit"],
    ["429", "rate_limited", "after_commit"],
    ["503", "rpc_unavailable", "before_commit"],
    ["503", "rpc_unavailable", "after_commit"],
  ] as const)("an answer %s, which is %s, at %s has Retry-After", async (action, code, point) => {
    await createMerchant("merchant-0");
    await sandbox.faults.set({ layer: "api", point, action });
    const { response, error } = await createMerchant();
    expect(error).toMatchObject({ status: Number(action), code, retryable: true });
    expect(response.headers.get("retry-after")).toBe("1");
    const { length } = await sandbox.store.list("merchants", {});
    expect(length).toBe(point === "after_commit" ? 2 : 1);
  });

  test("a partial answer declares its whole length and ends early", async () => {
    await createMerchant("merchant-0");
    await sandbox.faults.set({ layer: "api", action: "partial", match: { operation: "createMerchant" } });
    const { promise, resolve } = Promise.withResolvers<{ declared: number; received: number }>();
    const { api } = sandbox.description.urls;
    const { body } = merchant("merchant-1");
    const headers = {
      Authorization: `Bearer ${await otherCredential()}`,
      "Content-Type": "application/json",
      "Idempotency-Key": "merchant-1",
    };
    request(`${api}${path.replace("{program}", "prg_other")}`, { method: "POST", headers }, (response) => {
      let received = 0;
      response.on("data", (chunk: Buffer) => {
        received += chunk.length;
      });
      const declared = Number(response.headers["content-length"]);
      response.once("error", () => resolve({ declared, received }));
      response.once("end", () => resolve({ declared, received }));
    }).end(JSON.stringify(body));
    const { declared, received } = await promise;
    expect(received).toBe(Math.floor(declared / 2));
    expect(received).toBeGreaterThan(0);
  });

  test("slow delays a write, and a snapshot does not wait for it", async () => {
    await createMerchant("merchant-0");
    await sandbox.faults.set("slow", { delay_ms: 60_000 });
    const slow = createMerchant();
    await expect.poll(() => sandbox.faults.list()).toMatchObject([{ hits: 1 }]);
    await sandbox.snapshot();
    // A restore ends the delay, and the request comes after it.
    await start.restore();
    expect((await slow).response.status).toBe(201);
    expect(await sandbox.store.list("merchants", {})).toHaveLength(1);
  });

  test("a delay ends when the sandbox closes", async () => {
    await using other = await createSandbox({ seed: "closing" });
    await other.given.merchant({ state: "pending" });
    await other.faults.set("slow", { delay_ms: 60_000, operation: "issueAccess" });
    const slow = other.client.POST(path, merchant("closing")).catch(() => null);
    await expect.poll(() => other.faults.list()).toMatchObject([{ hits: 1 }]);
    await other.close();
    await slow;
  });

  test("a fault with an occurrence acts from that matching request on, and a snapshot has its count", async () => {
    const limited = { operation: "createMerchant", occurrence: 3 } as const;
    await sandbox.faults.set("answer-lost", { operation: "createMerchant" });
    await sandbox.faults.set({
      layer: "api",
      point: "after_commit",
      action: "429",
      match: limited,
      count: 2,
    });
    expect(await setOver("POST", { intent: "answer-lost", ...limited, occurrence: 9 })).toMatchObject({
      status: 201,
      body: { match: { operation: "createMerchant", occurrence: 9 }, matched: 0 },
    });
    await expect(createMerchant("merchant-1")).rejects.toThrow("fetch failed");
    const afterFirst = await sandbox.snapshot();
    const statuses = async (keys: readonly string[]) => {
      const answered: number[] = [];
      for (const key of keys) answered.push((await createMerchant(key)).response.status);
      return answered;
    };
    // A repeat is a matching request too.
    expect(await statuses(["merchant-1", "merchant-3", "merchant-3", "merchant-3"])).toEqual([
      201, 429, 429, 201,
    ]);
    await afterFirst.restore();
    expect(sandbox.faults.list().map(({ hits, matched }) => [hits, matched])).toEqual([
      [1, undefined],
      [0, 1],
      [0, 1],
    ]);
    expect(await statuses(["merchant-1", "merchant-3"])).toEqual([201, 429]);
  });

  test.each([[0], [1.5], ["2"]])("an occurrence of %j is refused", async (occurrence) => {
    const answer = await setOver("POST", { intent: "answer-lost", occurrence });
    expect(answer).toMatchObject({ status: 422, body: { code: "validation_failed" } });
    expect(sandbox.faults.list()).toEqual([]);
  });

  test("a fault acts on the write, the program and the object that it is limited to", async () => {
    const { merchant: first } = await sandbox.given.merchant({ state: "pending" });
    const match = { operation: "confirmEnrollment", program: "prg_demo", subject_id: first.id };
    const faults = [
      { ...match, operation: "createMerchant", subject_id: "" },
      { ...match, program: "prg_other" },
      { ...match, subject_id: "mer_other" },
    ];
    for (const other of faults)
      await sandbox.faults.set({ layer: "api", point: "before_commit", action: "503", match: other });
    await sandbox.faults.set({ layer: "api", point: "before_commit", action: "503", match });
    const { error } = await sandbox.client.POST(`${path}/{id}/enrollment`, {
      params: {
        path: { program: "prg_demo", id: first.id },
        header: { "Idempotency-Key": "enrollment-1" },
      },
      body: {},
    });
    expect(error?.code).toBe("rpc_unavailable");
    expect(sandbox.faults.list().map(({ hits }) => hits)).toEqual([0, 0, 0, 1]);
  });

  test("a fault acts on no read and on no request that is refused before", async () => {
    await createMerchant("merchant-0");
    await sandbox.faults.set({ layer: "api", point: "before_commit", action: "503", count: null });
    await sandbox.faults.set("answer-lost", { count: null });
    const params = { path: { program: "prg_demo" } };
    expect((await sandbox.client.GET("/v1/routing/programs/{program}", { params })).response.status).toBe(
      200,
    );
    const { body } = merchant("merchant-wrong");
    const wrong = { ...merchant("merchant-wrong"), body: { ...body, funding_cap: "-1" } };
    expect((await sandbox.client.POST(path, wrong)).response.status).toBe(422);
    expect(sandbox.faults.list().map(({ hits }) => hits)).toEqual([0, 0]);
  });
});

describe("faults of the node's RPC:", () => {
  test("under node-down, writes are answered 503 until it is cleared, and nothing is recorded", async () => {
    await createMerchant("merchant-0");
    const before = await sandbox.store.export();
    await sandbox.faults.set("node-down");
    const { error, response } = await createMerchant();
    expect(error).toMatchObject({ code: "rpc_unavailable", retryable: true });
    expect(response.headers.get("retry-after")).toBe("1");
    expect(await sandbox.store.export()).toEqual(before);
    await sandbox.faults.clear();
    expect((await createMerchant()).response.status).toBe(201);
  });

  test("under node-down for the relayer only, a write is answered 202, and the same request continues once it is cleared", async () => {
    const { purchase } = await sandbox.given.purchase({ state: "created" });
    await sandbox.faults.set("node-down", { caller: "relayer", method: "eth_sendRawTransaction" });
    const params = {
      path: { program: purchase.program, id: purchase.id },
      header: { "Idempotency-Key": "activate-1" },
    };
    const activate = async () =>
      await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
        params,
        body: { commitment_hash: purchase.commitment.hash },
      });
    expect((await activate()).response.status).toBe(202);
    await sandbox.faults.clear();
    const { data } = await activate();
    expect(data?.purchase.status).toBe("active");
  });

  test("node-down leaves snapshots, the control API, explain and the explorer as they are", async () => {
    const { purchase, payments } = await sandbox.given.purchase({ state: "paid" });
    const [payment] = payments;
    await sandbox.faults.set("node-down");
    const snapshot = await sandbox.snapshot();
    const { control } = sandbox.description.urls;
    for (const shown of [
      "status",
      "explorer/overview",
      "explorer/purchases",
      `explorer/purchases/${purchase.id}`,
    ])
      expect([shown, (await fetch(`${control}/${shown}`)).status]).toEqual([shown, 200]);
    expect((await sandbox.explain(payment?.transaction_hash as `0x${string}`)).accepted).toBe(true);
    await snapshot.restore();
    expect(sandbox.faults.list()).toMatchObject([{ layer: "rpc", remaining: null }]);
  });

  test.each(["rpc_error", "lose_response", "delay"] as const)(
    "%s acts on the method that it names",
    async (action) => {
      await createMerchant("merchant-0");
      const delay = action === "delay" ? { delay_ms: 5 } : {};
      await sandbox.faults.set({ layer: "rpc", action, ...delay, match: { method: "eth_getBlockByNumber" } });
      const { response } = await createMerchant();
      expect(response.status).toBe(action === "delay" ? 201 : 503);
      expect(sandbox.faults.list()).toMatchObject([{ action, hits: 1, remaining: 0 }]);
      expect((await createMerchant()).response.status).toBe(201);
    },
  );
});

describe("faults of the chain:", () => {
  test("reorg replaces the newest blocks at once", async () => {
    const { client } = sandbox.chain;
    await client.mine({ blocks: 3 });
    const own = await sandbox.snapshot();
    const { number, hash } = await client.getBlock({ blockTag: "latest" });
    expect(await sandbox.faults.set("reorg", { depth: 2 })).toMatchObject({
      layer: "chain",
      point: "now",
      depth: 2,
      hits: 1,
      remaining: 0,
    });
    expect((await client.getBlock({ blockNumber: number })).hash).not.toBe(hash);
    await expect(own.restore()).rejects.toMatchObject({ code: "stale_snapshot" });
  });

  test("a reorg that is too deep is refused and not listed", async () => {
    await expect(sandbox.faults.set("reorg", { depth: 999_999 })).rejects.toMatchObject({
      code: "fault_invalid",
    });
    expect(sandbox.faults.list()).toEqual([]);
  });

  test("reorg at a point of the relayer is a fault of the relayer", async () => {
    expect(
      await sandbox.faults.set("reorg", { point: "after_mined", kind: "offer", depth: 2 }),
    ).toMatchObject({
      layer: "relayer",
      match: { kind: "offer" },
      depth: 2,
      remaining: 1,
    });
  });

  test("pause_mining lasts until the faults are cleared", async () => {
    await sandbox.faults.set({ layer: "chain", action: "pause_mining" });
    expect(await sandbox.chain.client.getAutomine()).toBe(false);
    await sandbox.faults.clear();
    expect(await sandbox.chain.client.getAutomine()).toBe(true);
  });
});

test("the control API sets, lists and clears faults in both forms", async () => {
  const lost = {
    layer: "api",
    point: "after_commit",
    action: "reset",
    match: { operation: "executeRefund" },
  };
  expect(await setOver("POST", { intent: "answer-lost", operation: "executeRefund" })).toEqual({
    status: 201,
    body: { ...lost, remaining: 1, hits: 0 },
  });
  expect(await setOver("POST", { ...lost, count: null })).toEqual({
    status: 201,
    body: { ...lost, remaining: null, hits: 0 },
  });
  expect(await setOver("GET")).toEqual({ status: 200, body: { data: sandbox.faults.list() } });
  expect(sandbox.faults.list()).toHaveLength(2);
  expect(await setOver("DELETE")).toEqual({ status: 200, body: { data: [] } });
});

test("faults and their counts are in snapshots, snapshot files and, while they can act, the fingerprint", async () => {
  await createMerchant("merchant-0");
  const clean = await sandbox.fingerprint();
  await sandbox.faults.set("answer-lost", { operation: "createMerchant", count: 2 });
  await expect(createMerchant()).rejects.toThrow("fetch failed");
  const snapshot = await sandbox.snapshot();
  const set = sandbox.faults.list();
  expect(set).toMatchObject([{ hits: 1, remaining: 1 }]);
  const withFault = await sandbox.fingerprint();
  expect(withFault.parts).toMatchObject({ faults: expect.stringMatching(/^0x/) });
  expect(clean.parts).toBeUndefined();

  const file = `${await temporaryFolder()}/faults.snapshot`;
  await sandbox.save(file);
  await using loaded = await createSandbox({ from: file });
  expect(loaded.faults.list()).toEqual(set);

  await expect(createMerchant()).rejects.toThrow("fetch failed");
  expect((await sandbox.fingerprint()).parts).toBeUndefined();
  await snapshot.restore();
  expect(sandbox.faults.list()).toEqual(set);
  expect(await sandbox.fingerprint()).toEqual(withFault);
});

test("a fault that acts until it is cleared is in the fingerprint", async () => {
  await sandbox.faults.set("node-down", { count: null });
  expect((await sandbox.fingerprint()).parts).toMatchObject({ faults: expect.stringMatching(/^0x/) });
});

test("the routing API sets no faults", async () => {
  const answer = await fetch(`${sandbox.description.urls.api}/faults`, { method: "POST" });
  expect(answer.status).toBe(404);
});

describe("faults that can never act:", () => {
  test("an id for a write whose path has none is refused, and no fault is set", async () => {
    const match = { operation: "createMerchant", subject_id: "mer_1" };
    const fault = { layer: "api", point: "after_commit", action: "reset", match } as const;
    const why =
      'The option subject_id is "mer_1", and the path of createMerchant has no id. Leave out the option subject_id.';
    await expect(sandbox.faults.set(fault)).rejects.toThrow(why);
    expect(await setOver("POST", fault)).toMatchObject({ status: 422, body: { detail: why } });
    expect(sandbox.faults.list()).toEqual([]);
  });

  test("headers that are no plain object are refused as what they are", async () => {
    const headers = new Headers({ "retry-after": "3" }) as never;
    await expect(
      sandbox.faults.set({ layer: "delivery", action: "answer", status: 503, headers }),
    ).rejects.toThrow("The option headers must be an object, not an instance of Headers.");
  });

  test("a method that no node has is refused, and no fault is set", async () => {
    await expect(sandbox.faults.set("node-down", { method: "eth_sendRawTransactoin" })).rejects.toThrow(
      'The option method must be a method of the node, such as "eth_sendRawTransaction", not "eth_sendRawTransactoin".',
    );
    expect(sandbox.faults.list()).toEqual([]);
  });
});

describe("a transaction that reorgs remove again and again:", () => {
  test.each(["after_mined", "after_confirmed"] as const)(
    "at %s, the relayer ends without a success, and the write succeeds once the fault is gone",
    { tags: "thorough" },
    async (point) => {
      const { purchase } = await sandbox.given.purchase({ state: "created" });
      const post = async () =>
        await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
          params: {
            path: { program: "prg_demo", id: purchase.id },
            header: { "Idempotency-Key": "activate-1" },
          },
          body: { commitment_hash: purchase.commitment.hash },
        });
      await sandbox.faults.set({ layer: "relayer", point, action: "reorg", count: null });
      // 503 when a reorg took the block while it was read.
      expect([202, 503]).toContain((await post()).response.status);
      await sandbox.faults.clear();
      const { response, data } = await post();
      expect(response.status).toBe(200);
      expect(data).toMatchObject({ purchase: { status: "active" } });
    },
  );
});

describe("common faults:", () => {
  test.each([["answer-lost"], ["slow"]] as const)(
    "a point at which %s would be another fault is refused",
    async (intent) => {
      // @ts-expect-error its type has no point
      const set = async () => await sandbox.faults.set(intent, { point: "before_commit" });
      await expect(set()).rejects.toMatchObject({ code: "fault_invalid" });
      expect(sandbox.faults.list()).toEqual([]);
    },
  );

  test.each([[null], [[]], [5], ["executeRefund"]])(
    "%j is refused in place of their options",
    async (options) => {
      await expect(sandbox.faults.set("answer-lost", options as object)).rejects.toThrow(
        'The options of a fault are an object such as { operation: "executeRefund" }',
      );
      expect(sandbox.faults.list()).toEqual([]);
    },
  );
});
