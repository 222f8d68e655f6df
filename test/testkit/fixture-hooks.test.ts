import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TestWallet } from "../../sandbox/wallets/test-wallet.ts";
import { sandboxFixture } from "../../testkit/fixture.ts";
import { freePort } from "../kit/free-port.ts";

const fixture = sandboxFixture({ seed: "hooks" });

describe("a fixture of hooks", () => {
  beforeEach(fixture.begin);
  afterEach(fixture.end);
  afterAll(fixture.close);
  const digests: string[] = [];
  let late: { wallet: TestWallet; call: Promise<unknown> } | undefined;

  test.for([1, 2, 3])(
    "gives test %i the state of the first, whatever the one before has left",
    async (number) => {
      const { sandbox } = fixture;
      digests.push((await sandbox.fingerprint()).digest);
      expect(new Set(digests).size).toBe(1);
      expect(digests).toHaveLength(number);
      await sandbox.given.purchase({ state: "paid" });
      await sandbox.chain.client.setAutomine(false);
      await sandbox.faults.set({ layer: "relayer", point: "broadcast", action: "drop" });
      if (number === 2) await sandbox.close();
    },
  );

  test("a test may end with a call that it has not awaited", () => {
    const wallet = fixture.sandbox.wallets.buyer;
    late = {
      wallet,
      call: wallet.faucet(1n).then(
        (sent) => sent.receipt.status,
        (error) => error.code,
      ),
    };
    expect(late).toBeDefined();
  });

  test("the later calls of the previous test are refused, and its open call has ended", async () => {
    expect(["success", "not_leased"]).toContain(await late?.call);
    await expect((async () => await late?.wallet.faucet(1n))()).rejects.toMatchObject({ code: "not_leased" });
    expect((await fixture.sandbox.fingerprint()).digest).toBe(digests[0]);
  });

  const explored = { done: 0, end: Promise.resolve<unknown>(null) };

  test("a test may end with an exploration whose check never resolves", async () => {
    const begun = Promise.withResolvers<void>();
    const check = async () => {
      begun.resolve();
      explored.done += 1;
      await new Promise(() => {});
    };
    explored.end = fixture.sandbox.explore({ steps: 2_000, check }).catch((error: unknown) => error);
    await begun.promise;
    expect(explored.done).toBe(1);
  });

  test("the remaining steps of the previous test's exploration are refused", async () => {
    expect(await explored.end).toMatchObject({ code: "not_leased" });
    expect(explored.done).toBe(1);
    expect((await fixture.sandbox.fingerprint()).digest).toBe(digests[0]);
  });

  test("a second test at the same time is refused", async () => {
    await expect(fixture.begin()).rejects.toMatchObject({ code: "not_leased" });
    expect(await fixture.sandbox.clock.now()).toBeGreaterThan(0);
  });
});

test("outside of a test the fixture has no sandbox, and says where to use it", () => {
  expect(() => fixture.sandbox).toThrow(
    "No test has the sandbox now. Call begin() of the fixture in beforeEach, and use its sandbox inside a test.",
  );
});

test("a test that times out while its sandbox starts does not keep it from the next test", async () => {
  const late = sandboxFixture({ seed: "late" });
  const begun = late.begin().catch((error: unknown) => error);
  await late.end();
  await late.begin();
  expect(await begun).toMatchObject({ code: "not_leased" });
  expect(await late.sandbox.clock.now()).toBeGreaterThan(0);
  await late.end();
  await late.close();
});

test("a fixture closes what tests that have timed out have started", async () => {
  const api = await freePort();
  const late = sandboxFixture({ seed: "late", ports: { api } });
  const begun: Promise<unknown>[] = [];
  for (const _ of [1, 2]) {
    begun.push(late.begin().catch(({ code }) => code));
    await late.end();
  }
  await late.close();
  expect(await Promise.all(begun)).toEqual(["not_leased", "not_leased"]);
  await expect(fetch(`http://127.0.0.1:${api}/`)).rejects.toThrow("fetch failed");
});

test("a fixture that no test has used closes", async () => {
  await expect(sandboxFixture().close()).resolves.toBeUndefined();
});
