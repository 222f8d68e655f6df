import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setMining } from "../../../sandbox/chain/clock/mining.ts";
import { createExplorableSandbox } from "../../../testkit/explore/explorable-sandbox.ts";
import type { ExploreOptions } from "../../../testkit/explore/options.ts";
import { openReceiver } from "../../kit/external-receiver.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

test("equal steps with other bytes in an answer have another digest", { tags: "thorough" }, async () => {
  const explore = async (gasBudgetWei: bigint) => {
    await using sandbox = await createExplorableSandbox({ seed: "explored", gasBudgetWei });
    return await sandbox.explore({ steps: 10 });
  };
  const one = await explore(10n ** 18n);
  const other = await explore(2n * 10n ** 18n);
  expect(other.counts).toEqual(one.counts);
  expect(other.digest).not.toBe(one.digest);
});

test("a failure that cannot be repeated is reported as such, with all steps", {
  tags: "thorough",
}, async () => {
  const sandbox = await freshSandbox();
  let calls = 0;
  const check = () => {
    calls += 1;
    if (calls === 12) throw new Error("only once");
  };
  const failed: unknown = await sandbox.explore({ steps: 20, check }).catch((error: unknown) => error);
  expect(String(failed)).toContain("The same steps did not fail again, so the sequence is not shortened");
  expect(failed).toMatchObject({ code: "exploration_failed", sequence: { length: expect.any(Number) } });
});

test("an exploration does not fail if the backend accepts no event at the first attempt", {
  tags: "thorough",
}, async () => {
  await using receiver = await openReceiver();
  const seen = new Set<string | undefined>();
  receiver.answer = ({ headers: { "webhook-id": id } }, response) => {
    response.writeHead(seen.has(id) ? 204 : 503).end();
    seen.add(id);
  };
  await using sandbox = await createExplorableSandbox({ seed: "hesitant", receiverUrl: receiver.url });
  const { steps } = await sandbox.explore({ steps: 12, check: () => {}, reset: () => seen.clear() });
  expect(steps).toBe(12);
});

test("deliveries for a check are counted under check, not under the step before it", {
  tags: "thorough",
}, async () => {
  const sandbox = await freshSandbox();
  const { counts } = await sandbox.explore({ steps: 40, check: () => {} });
  expect(counts["check"]?.["200"]).toBeGreaterThan(5);
  expect(Object.keys(counts["createPurchase"] ?? {})).not.toContain("200");
});

test("the sandbox is fresh again afterwards", async () => {
  const sandbox = await freshSandbox();
  const before = await sandbox.fingerprint();
  const done: number[] = [];
  await sandbox.explore({ steps: 25, stepsPerWalk: 10, onProgress: (steps) => done.push(steps) });
  expect(await sandbox.fingerprint()).toEqual(before);
  expect(done).toEqual([10, 20, 25]);
});

test("check is called after every checkEvery steps of a walk and at its end, and reset before each walk", async () => {
  const sandbox = await freshSandbox();
  let checks = 0;
  const checksOfWalks: number[] = [];
  await sandbox.explore({
    steps: 4,
    stepsPerWalk: 3,
    checkEvery: 2,
    reset: () => {
      checks = 0;
    },
    check: () => {
      checks += 1;
    },
    onProgress: () => checksOfWalks.push(checks),
  });
  expect(checksOfWalks).toEqual([2, 1]);
});

test("invalid options are refused by their names", async () => {
  const sandbox = await freshSandbox();
  const refusals: [unknown, string][] = [
    [{ steps: 0 }, "steps must be a whole number from 1 to 100000, not 0."],
    [{ steps: 1.5 }, "steps must be a whole number from 1 to 100000, not 1.5."],
    [{ steps: "2000" }, 'steps must be a number, not "2000".'],
    [{ stepsPerWalk: 201 }, "stepsPerWalk must be a whole number from 1 to 200, not 201."],
    [{ seed: "" }, "seed is empty. Leave it out for its default."],
    [{ check: true }, "check must be a function, not true."],
    [
      { step: 5 },
      "explore has no option step. Use steps, seed, stepsPerWalk, check, checkEvery, reset, scenario, onProgress.",
    ],
    [5, "explore takes an object of options, not 5. Pass one such as { steps: 500 }."],
    [[], "explore takes an object of options, not []. Pass one such as { steps: 500 }."],
    [{ steps: Number.NaN }, "steps must be a whole number from 1 to 100000, not NaN."],
    [{ steps: Number.POSITIVE_INFINITY }, "steps must be a whole number from 1 to 100000, not Infinity."],
    [
      { scenario: "/no/such/folder/failing.yaml" },
      'scenario is "/no/such/folder/failing.yaml", and there is no folder /no/such/folder. Name a file in a folder that exists.',
    ],
    [
      { scenario: "/proc/failing.yaml" },
      expect.stringContaining('scenario is "/proc/failing.yaml", which cannot be written: '),
    ],
    [{ scenario: tmpdir() }, `scenario is "${tmpdir()}", which is a folder. Name a file in it.`],
  ];
  for (const [options, message] of refusals)
    await expect(Reflect.apply(sandbox.explore, sandbox, [options])).rejects.toMatchObject({
      code: "argument_invalid",
      message,
    });
});

test("a sandbox that is live, used, or delivers by itself is refused", { tags: "thorough" }, async () => {
  const sandbox = await freshSandbox();
  await sandbox.given.merchant({ state: "pending" });
  await expect(sandbox.explore({ steps: 1 })).rejects.toMatchObject({
    code: "scenario_refused",
    message:
      "The sandbox has been used already, and explore begins with a fresh one. Explore before anything else, or in another sandbox.",
  });
  for (const [options, code] of [
    [{ mode: "live" }, "scenario_refused"],
    [{ autoDeliver: true }, "argument_invalid"],
    [{ confirmations: 2 }, "argument_invalid"],
    [{ rateLimit: { requests: 100, seconds: 60 } }, "argument_invalid"],
    [{ gasBudgetWei: 1n }, "argument_invalid"],
  ] as const) {
    await using other = await createExplorableSandbox(options);
    await expect(other.explore({ steps: 1 })).rejects.toMatchObject({ code });
  }
});

test("a sandbox that does not mine at each transaction, or has faults, is refused", async () => {
  const sandbox = await freshSandbox();
  await sandbox.faults.set("slow", { delay_ms: 1 });
  await expect(sandbox.explore({ steps: 1 })).rejects.toThrow("faults that are set. Clear the faults first.");
  await sandbox.faults.clear();
  await setMining(sandbox.chain.client, "never");
  await expect(sandbox.explore({ steps: 1 })).rejects.toThrow("cannot be used with mining never.");
});

test("during an exploration, a sandbox refuses a second exploration and every change", async () => {
  const sandbox = await freshSandbox();
  const refused: unknown[] = [];
  const attempts = [
    async () => await sandbox.explore({ steps: 1 }),
    async () => await sandbox.given.merchant({ state: "pending" }),
    async () => await sandbox.clock.travel(1),
    async () => await sandbox.snapshot(),
    async () => await sandbox.receiver.pin("http://127.0.0.1:9/"),
    async () => await sandbox.receiver.resend("evt_none"),
  ];
  const check = async () => {
    for (const attempt of attempts) refused.push(await attempt().catch((error: unknown) => error));
  };
  const exploring = sandbox.explore({ steps: 2, check });
  await expect(sandbox.explore({ steps: 1 })).rejects.toThrow(
    "The sandbox is already being explored, so explore cannot be used.",
  );
  await exploring;
  expect(refused.length).toBe(12);
  for (const error of refused) expect(error).toMatchObject({ code: "being_explored" });
  await sandbox.explore({ steps: 1 });
});

test("a sandbox that is closed ends its exploration, even while a check never resolves", async () => {
  const reached = Promise.withResolvers<void>();
  const check = async () => {
    reached.resolve();
    await new Promise(() => {});
  };
  await using sandbox = await createExplorableSandbox();
  const exploring = sandbox.explore({ steps: 20, check }).catch((error: unknown) => error);
  await reached.promise;
  await sandbox.close();
  expect(await exploring).toMatchObject({ code: "closed" });
});

test("a check that closes the sandbox and throws at once ends the exploration", async () => {
  await using sandbox = await createExplorableSandbox({ seed: "explored" });
  let closing: Promise<void> = Promise.resolve();
  const check = () => {
    closing = sandbox.close();
    throw new Error("thrown at once");
  };
  // An error without a handler would fail the run.
  await expect(sandbox.explore({ steps: 5, check })).rejects.toMatchObject({ code: "closed" });
  await closing;
});

test("a sequence whose file can no longer be written is reported with the reason", async () => {
  const sandbox = await freshSandbox();
  const file = join(await temporaryFolder(), "failing.yaml");
  const check = async () => {
    await mkdir(file, { recursive: true });
    throw new Error("always");
  };
  await expect(sandbox.explore({ steps: 5, scenario: file, check })).rejects.toMatchObject({
    code: "exploration_failed",
    message: expect.stringContaining(`${file} cannot be written`),
  });
});

test("a check reads through the sandbox's client, whose credential the walk does not revoke", {
  tags: "thorough",
}, async () => {
  const sandbox = await freshSandbox();
  const [{ program }] = sandbox.description.accounts;
  let reads = 0;
  const check: ExploreOptions["check"] = async ({ purchases }) => {
    for (const { id, status } of purchases) {
      const params = { path: { program, id } };
      const answer = await sandbox.client.GET("/v1/routing/programs/{program}/purchases/{id}", { params });
      expect(answer.data?.status).toBe(status);
      reads += 1;
    }
  };
  await sandbox.explore({ steps: 60, stepsPerWalk: 30, check });
  expect(reads).toBeGreaterThan(20);
});

test("an error of onProgress ends the exploration", async () => {
  const sandbox = await freshSandbox();
  const onProgress = async () => await Promise.reject(new Error("no progress"));
  await expect(sandbox.explore({ steps: 1, onProgress })).rejects.toThrow("no progress");
});
