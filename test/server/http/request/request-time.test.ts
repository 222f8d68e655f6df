import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromTimestamp, toTimestamp } from "../../../../protocol/values/time.ts";
import type { ChainNode } from "../../../../sandbox/chain/start-chain.ts";
import { defaultPeriods } from "../../../../server/limits.ts";
import { problem } from "../../../kit/answer.ts";
import { TestKit } from "../../../kit/test-kit.ts";

const hour = 3_600;
const rateLimit = { requests: 4, seconds: hour };

let kit: TestKit;
let merchantId: string;
let restore: () => Promise<void>;
/** Runs before the service reads the time. */
let beforeReading = async () => {};

async function adaptChain(chain: ChainNode): Promise<ChainNode> {
  const now = async () => {
    await beforeReading();
    return await chain.clock.now();
  };
  return { ...chain, clock: { ...chain.clock, now } };
}

beforeAll(async () => {
  kit = await TestKit.open({ seed: "request-time", adaptChain });
  merchantId = (await kit.enrolledMerchant("900000000")).id;
  restore = (await kit.sandbox.snapshot()).restore;
});
afterAll(async () => await kit[Symbol.asyncDispose]());

/** Mines a block so many seconds later, over a connection that the sandbox does not know. Returns its time. */
async function mineLater(seconds: number, { sandbox } = kit): Promise<number> {
  const timestamp = Number((await sandbox.chain.client.getBlock()).timestamp) + seconds;
  await fetch(sandbox.chain.anvil.url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_mine", params: [{ timestamp }] }),
  });
  return timestamp;
}

/** Sends the head of a request, does something while the service waits for the body, and sends the body. */
async function sendAround(
  path: string,
  body: unknown,
  between: () => Promise<unknown>,
  { of = kit, secret = of.credential }: { of?: TestKit; secret?: string } = {},
): Promise<{ status: number; body: unknown }> {
  const bytes = JSON.stringify(body);
  const sending: ClientRequest = request(`${of.sandbox.description.urls.api}${path}`, {
    method: "POST",
    agent: false,
    headers: {
      Authorization: `Bearer ${secret}`,
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(bytes),
      "Idempotency-Key": "around-body",
      Expect: "100-continue",
    },
  });
  sending.flushHeaders();
  const responding = once(sending, "response");
  await once(sending, "continue");
  await between();
  sending.end(bytes);
  const [response] = await responding;
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

const purchases = "/v1/routing/programs/prg_demo/purchases";
const purchaseBody = () => ({
  merchant_id: merchantId,
  buyer: kit.wallet("buyer").address,
  amount: "25000000",
  terms: {},
});

describe("time that passes after a request began to be checked", () => {
  test("is the time of what it creates, and no id is lost by starting over", async () => {
    await restore();
    let time = 0;
    const created = await sendAround(purchases, purchaseBody(), async () => {
      time = await mineLater(hour);
    });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ created_at: toTimestamp(time) });
    await restore();
    const undisturbed = await kit.post(purchases, purchaseBody(), { "Idempotency-Key": "undisturbed" });
    expect(created.body).toMatchObject({ id: JSON.parse(undisturbed.text).id });
  });

  test("is the time of a credential, which is issued once although nothing of the chain is read for it", async () => {
    await restore();
    const before = (await kit.sandbox.store.list("credentials", {})).length;
    let time = 0;
    const issued = await sendAround(
      "/v1/routing/access",
      {},
      async () => {
        time = await mineLater(hour);
      },
      { secret: kit.accountKey },
    );
    expect(issued.status).toBe(201);
    const credentials = (await kit.sandbox.store.list("credentials", {})).map(({ value }) => value);
    expect(credentials.slice(before)).toMatchObject([{ issued_at: time }]);
    await restore();
    const undisturbed = await sendAround("/v1/routing/access", {}, async () => {}, {
      secret: kit.accountKey,
    });
    expect(undisturbed.body).toMatchObject({ credential_id: credentials.at(-1)?.id });
  });

  test("ends a credential, and nothing is created", async () => {
    await restore();
    const late = await sendAround(purchases, purchaseBody(), async () => await mineLater(366 * 24 * hour));
    expect(late.status).toBe(401);
    expect(await kit.sandbox.store.list("purchases", {})).toEqual([]);
  });

  test("does not let a fault act twice on one request", async () => {
    await restore();
    await kit.sandbox.faults.set("answer-lost", { operation: "createPurchase" });
    const [fault] = kit.sandbox.faults.list();
    await expect(sendAround(purchases, purchaseBody(), async () => await mineLater(hour))).rejects.toThrow();
    expect(kit.sandbox.faults.list()).toMatchObject([{ action: fault?.action, hits: 1, remaining: 0 }]);
    const again = await sendAround(purchases, purchaseBody(), async () => {});
    expect(again.status).toBe(201);
    expect(await kit.sandbox.store.list("purchases", {})).toHaveLength(1);
  });

  test("has a fault before the commit act on the request that it stops, once", async () => {
    await restore();
    await kit.sandbox.faults.set({ layer: "api", point: "before_commit", action: "503" });
    const stopped = await sendAround(purchases, purchaseBody(), async () => await mineLater(hour));
    expect(stopped.status).toBe(503);
    const again = await sendAround(purchases, purchaseBody(), async () => {});
    expect(again.status).toBe(201);
  });

  test("does not move the request to another window of the rate limit: it counts when its head was checked", async () => {
    await using limited = await TestKit.open({ seed: "request-time", rateLimit });
    const read = async () => (await limited.get(limited.path(""))).status;
    const start = Math.ceil((await limited.sandbox.clock.now()) / hour) * hour;
    await limited.sandbox.clock.travelTo(start);
    expect([await read(), await read(), await read()]).toEqual([200, 200, 200]);
    const refused = await sendAround(purchases, {}, async () => await mineLater(hour, limited), {
      of: limited,
    });
    expect(refused.status).toBe(422);
    expect([await read(), await read(), await read(), await read(), await read()]).toEqual([
      200, 200, 200, 200, 429,
    ]);
  });
});

test("a read that waits for the node has the time at which the node answers", async () => {
  await restore();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  beforeReading = async () => {
    ask();
    await released;
  };
  const reading = kit.get("/v1/routing/capabilities");
  await asked;
  const time = await mineLater(hour);
  release();
  expect(JSON.parse((await reading).text)).toMatchObject({ now: toTimestamp(time) });
  beforeReading = async () => {};
});

test("a request right after a block has the time of the block", async () => {
  await restore();
  for (let round = 0; round < 40; round += 1) {
    const time = await mineLater(hour);
    const answer =
      round % 2 === 0
        ? await kit.get("/v1/routing/capabilities")
        : await kit.get(kit.path("/purchases/none"));
    if (round % 2 === 0) expect(JSON.parse(answer.text)).toMatchObject({ now: toTimestamp(time) });
    else expect(problem(answer).code).toBe("not_found");
  }
});

test("a request at the same moment as a block has the time before it or the time of it, all of it", async () => {
  await restore();
  for (let round = 0; round < 20; round += 1) {
    const before = Number((await kit.sandbox.chain.client.getBlock()).timestamp);
    const [time, created] = await Promise.all([
      mineLater(60),
      kit.post(purchases, purchaseBody(), { "Idempotency-Key": `same-moment-${round}` }),
    ]);
    const { created_at, deadlines } = JSON.parse(created.text);
    expect([before, time].map(toTimestamp)).toContain(created_at);
    expect(deadlines.offer_deadline - fromTimestamp(created_at)).toBe(defaultPeriods.offer_deadline);
  }
});
