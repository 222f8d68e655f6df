import { execFile } from "node:child_process";
import http from "node:http";
import { Socket } from "node:net";
import { mock } from "node:test";
import timers from "node:timers";
import promisedTimers from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { unwrap } from "../../sandbox/client/api-client.ts";
import type { ExplorableSandbox } from "../../testkit/explore/explorable-sandbox.ts";
import { freshSandbox } from "../kit/fresh-sandbox.ts";
import { programFile } from "../program-file.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  mock.timers.reset();
});

/** Uses every part that waits or connects: retries, delays, deliveries, identical requests, wallets, snapshots. */
async function useAll(sandbox: ExplorableSandbox): Promise<void> {
  const { given, reviewer, client, faults, receiver, chain } = sandbox;
  const { purchase, claim } = await given.purchase({ state: "claimed", claimed: "10000000" });
  const decision = await reviewer.decide(purchase, claim, { award: "10000000" });
  await faults.set("answer-lost", { operation: "executeRefund" });
  await faults.set({
    layer: "api",
    point: "before_commit",
    action: "503",
    match: { operation: "executeRefund" },
  });
  await faults.set({
    layer: "api",
    point: "before_commit",
    action: "429",
    match: { operation: "executeRefund" },
  });
  expect((await client.retrying.refund(purchase, decision)).status).toBe("collected");

  await faults.set("slow", { operation: "createPurchase", delay_ms: 20 });
  const { purchase: other } = await given.purchase({ state: "created" });
  const header = { "Idempotency-Key": "identical-requests" };
  const activate = async () =>
    unwrap(
      await client.retrying.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
        params: { path: { program: other.program, id: other.id }, header },
        body: { commitment_hash: other.commitment.hash },
      }),
    );
  const activated = await Promise.all([activate(), activate()]);
  expect(activated.map((answer) => answer.purchase.status)).toEqual(["active", "active"]);

  await faults.set({ layer: "delivery", action: "delay", delay_ms: 20 });
  const [notification] = await sandbox.deliverAll();
  expect(notification?.status).toBe("delivered");
  const { body, verified } = await receiver.next();
  expect([body.length > 0, verified]).toEqual([true, true]);
  expect((await receiver.resend(notification ?? "")).status).toBe(200);
  await expect(receiver.next(({ number }) => number === 0, 20)).rejects.toThrow("within 20 ms");

  const before = await sandbox.snapshot();
  await sandbox.clock.travel({ days: 30 });
  const { response } = await client.GET("/v1/routing/programs/{program}/purchases/{id}", {
    params: { path: { program: other.program, id: other.id } },
  });
  expect(response.status).toBe(200);
  await before.restore();
  await faults.set("reorg");
  await chain.client.mine({ blocks: 1 });
}

/** Tests the sandbox after each of the steps, all but the first of which are further cases of the same rule. */
function testEach(steps: { [name: string]: () => unknown }): void {
  for (const [index, [name, step]] of Object.entries(steps).entries())
    test(name, { tags: index === 0 ? [] : ["thorough"] }, async () => {
      const sandbox = await freshSandbox();
      step();
      await useAll(sandbox);
      expect((await sandbox.fingerprint()).digest).toMatch(/^0x/);
    });
}

const timerNames = [
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
  "setImmediate",
  "clearImmediate",
] as const;

describe("fake timers do not reach the sandbox:", () => {
  const fakes: { [name: string]: () => unknown } = {
    "vi.useFakeTimers() with everything that Node itself does not need": () =>
      vi.useFakeTimers({ toFake: [...timerNames, "Date", "performance", "hrtime"] }),
    "vi.useFakeTimers()": () => vi.useFakeTimers(),
    "a date of the tests": () => vi.setSystemTime(new Date("2001-01-01")),
    "mock.timers of node:test": () =>
      mock.timers.enable({ apis: ["setTimeout", "setInterval", "setImmediate", "Date"] }),
    "fake timers that also replace the exports of Node's modules": () => {
      const never = () => new Promise<never>(() => {});
      for (const name of ["setTimeout", "setInterval", "setImmediate"] as const)
        vi.spyOn(timers, name).mockImplementation((() => ({})) as never);
      for (const name of ["setTimeout", "setImmediate"] as const)
        vi.spyOn(promisedTimers, name).mockImplementation(never as never);
    },
  };
  testEach(fakes);
});

test("fake timers of node:test from before the first sandbox do not reach it", {
  tags: "thorough",
}, async () => {
  const run = promisify(execFile)(process.execPath, [programFile("fake-timers-first")], { timeout: 50_000 });
  expect((await run).stdout).toBe("done\n");
});

test("a date that was faked before the package was loaded does not reach it", async () => {
  const run = promisify(execFile)(process.execPath, [programFile("fake-date-first")], { timeout: 50_000 });
  expect((await run).stdout).toBe("near\n");
});

/** A class that nothing can be made of. */
class Unusable {
  constructor() {
    throw new Error("The test has replaced this.");
  }
}

const refuse = () => {
  throw new Error("The test allows no connection.");
};

const ofFetch = ["fetch", "Headers", "Request", "Response", "FormData", "Blob"];

describe("the sandbox reaches its own parts past", () => {
  const replacements: { [name: string]: () => unknown } = {
    "a stubbed fetch": () => vi.stubGlobal("fetch", refuse),
    "a stubbed WebSocket": () => vi.stubGlobal("WebSocket", Unusable),
    "a library that replaces http.request": () => {
      vi.spyOn(http, "request").mockImplementation(refuse);
      vi.spyOn(http, "get").mockImplementation(refuse);
    },
    "a library that replaces the connections of sockets": () =>
      vi.spyOn(Socket.prototype, "connect").mockImplementation(refuse),
    "removed globals of fetch": () => {
      for (const name of ofFetch) vi.stubGlobal(name, undefined);
      for (const name of ofFetch) Reflect.deleteProperty(globalThis, name);
    },
    "polyfills of the globals of fetch": () => {
      for (const name of ofFetch) vi.stubGlobal(name, Unusable);
    },
    "a removed structuredClone": () => vi.stubGlobal("structuredClone", undefined),
    "a URL that only makes URLs of objects": () => vi.stubGlobal("URL", { createObjectURL: refuse }),
    "a stubbed performance": () => vi.stubGlobal("performance", undefined),
  };
  testEach(replacements);
});
