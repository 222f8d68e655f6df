import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Answer, problem } from "../../../kit/answer.ts";
import { TestKit } from "../../../kit/test-kit.ts";

const rateLimit = { requests: 3, seconds: 60 };

let kit: TestKit;
beforeAll(async () => {
  kit = await TestKit.open({ seed: "rate-limit", rateLimit });
});
beforeEach(async () => await travelTo(0));
afterAll(async () => await kit[Symbol.asyncDispose]());

/** Travels to a second of the next window. */
async function travelTo(second: number): Promise<void> {
  const { clock } = kit.sandbox;
  const window = Math.floor((await clock.now()) / rateLimit.seconds) + 1;
  await clock.travelTo(window * rateLimit.seconds + second);
}

async function read(): Promise<Answer> {
  return await kit.get(kit.path(""));
}

async function readTimes(times: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let sent = 0; sent < times; sent += 1) statuses.push((await read()).status);
  return statuses;
}

function expectLimited(answer: Answer, retryAfter: number): void {
  expect(answer.status).toBe(429);
  expect(answer.headers["retry-after"]).toBe(String(retryAfter));
  expect(problem(answer)).toMatchObject({
    code: "rate_limited",
    detail:
      "3 requests in 60 s are allowed. Wait for the seconds of Retry-After, then send the request again.",
    retryable: true,
  });
}

describe("with a rate limit of three requests in 60 seconds", () => {
  test.each([0, 1, 17, 59])(
    "the third request in second %i passes, and the fourth has to wait until the next window",
    async (second) => {
      if (second > 0) await kit.sandbox.clock.travel(second);
      expect(await readTimes(3)).toEqual([200, 200, 200]);
      expectLimited(await read(), 60 - second);
      expectLimited(await read(), 60 - second);
    },
  );

  test("the window ends with its last second, and the next one has its own count", async () => {
    expect(await readTimes(3)).toEqual([200, 200, 200]);
    await kit.sandbox.clock.travel(59);
    expectLimited(await read(), 1);
    await kit.sandbox.clock.travel(1);
    expect(await readTimes(3)).toEqual([200, 200, 200]);
    expectLimited(await read(), 60);
  });

  test("requests of the last second of a window do not count in the first second of the next", async () => {
    await kit.sandbox.clock.travel(59);
    expect(await readTimes(2)).toEqual([200, 200]);
    await kit.sandbox.clock.travel(1);
    expect(await readTimes(3)).toEqual([200, 200, 200]);
    expectLimited(await read(), 60);
  });

  test("a restore to an earlier window resets its count", async () => {
    const snapshot = await kit.sandbox.snapshot();
    await kit.sandbox.clock.travel(60);
    expect(await readTimes(3)).toEqual([200, 200, 200]);
    expectLimited(await read(), 60);
    await snapshot.restore();
    expect(await readTimes(3)).toEqual([200, 200, 200]);
    expectLimited(await read(), 60);
  });

  test("a restore to an earlier window brings back its count", async () => {
    expect(await readTimes(2)).toEqual([200, 200]);
    const snapshot = await kit.sandbox.snapshot();
    await kit.sandbox.clock.travel(60);
    expect(await readTimes(1)).toEqual([200]);
    await snapshot.restore();
    expect(await readTimes(1)).toEqual([200]);
    expectLimited(await read(), 60);
  });

  test("a restore in the same window goes back to the count of the snapshot", async () => {
    expect(await readTimes(1)).toEqual([200]);
    const snapshot = await kit.sandbox.snapshot();
    expect(await readTimes(2)).toEqual([200, 200]);
    expectLimited(await read(), 60);
    await snapshot.restore();
    expect(await readTimes(2)).toEqual([200, 200]);
    expectLimited(await read(), 60);
  });

  test("each caller has its own count", async () => {
    expect(await readTimes(3)).toEqual([200, 200, 200]);
    expectLimited(await read(), 60);
    expect((await kit.raw("/v1/routing/capabilities")).status).toBe(200);
    const { credential } = await kit.issue(kit.otherAccountKey);
    const headers = { Authorization: `Bearer ${credential}` };
    expect((await kit.raw("/v1/routing/programs/prg_other", { headers })).status).toBe(200);
    expect((await kit.raw("/v1/routing/capabilities")).status).toBe(200);
    expectLimited(await read(), 60);
  });

  test("callers without a credential share one count", async () => {
    for (let sent = 0; sent < 3; sent += 1)
      expect((await kit.raw("/v1/routing/capabilities")).status).toBe(200);
    expectLimited(await kit.raw("/v1/routing/capabilities"), 60);
    expect((await read()).status).toBe(200);
  });

  test("a request that is refused for its content counts", async () => {
    for (let sent = 0; sent < 3; sent += 1)
      expect((await kit.get(kit.path("/transactions?limit=0"))).status).toBe(422);
    expectLimited(await read(), 60);
  });

  test("a request without a valid credential gets 401 and does not count", async () => {
    for (let sent = 0; sent < 4; sent += 1) {
      expect(problem(await kit.raw(kit.path(""))).code).toBe("credential_missing");
      const headers = { Authorization: "Bearer rsc_unknown" };
      expect(problem(await kit.raw(kit.path(""), { headers })).code).toBe("credential_invalid");
    }
    expect(await readTimes(3)).toEqual([200, 200, 200]);
  });

  test("a request above the limit is refused before its program, its key and its body are checked", async () => {
    expect(await readTimes(3)).toEqual([200, 200, 200]);
    expectLimited(await kit.get("/v1/routing/programs/prg_other"), 60);
    expectLimited(await kit.post(kit.path("/merchants"), "{", { "Idempotency-Key": "short" }), 60);
  });
});
