import { expect, test } from "vitest";
import { z } from "zod";
import type { Part } from "../../../sandbox/lib/part.ts";
import { readScenario } from "../../../sandbox/scenarios/scenario-file.ts";
import { createExplorableSandbox } from "../../../testkit/explore/explorable-sandbox.ts";
import { ExplorationError } from "../../../testkit/explore/exploration-error.ts";
import type { ExploreOptions } from "../../../testkit/explore/options.ts";
import { playScenario } from "../../../testkit/scenario/play-scenario.ts";
import { runCli } from "../../cli/run-cli.ts";
import { type ExternalReceiver, openReceiver } from "../../kit/external-receiver.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
import { temporaryFolder } from "../../temporary-folder.ts";

test("a thousand random valid and invalid steps all do what is documented", {
  timeout: 300_000,
}, async () => {
  const sandbox = await freshSandbox();
  const { steps, counts } = await sandbox.explore({ steps: 1_000 });
  expect(steps).toBe(1_000);
  const answers = Object.values(counts).flatMap((kind) => Object.entries(kind));
  const sum = (isCounted: (answer: string) => boolean) =>
    answers.reduce((all, [answer, times]) => (isCounted(answer) ? all + times : all), 0);
  const refused = sum((answer) => /^4|reverted/.test(answer));
  // About as many of each.
  expect(refused / sum(() => true)).toBeGreaterThan(0.35);
  expect(refused / sum(() => true)).toBeLessThan(0.65);
  // Nothing ends in a refusal of its own, and every step of the lifecycle succeeds often.
  for (const kind of ["activate", "confirmRegistration", "reconcile", "fileClaim", "decide", "refund"])
    expect((counts[kind]?.["200"] ?? 0) + (counts[kind]?.["201"] ?? 0), kind).toBeGreaterThan(5);
  for (const kind of [
    "repeat",
    "travel",
    "reorg",
    "deliver",
    "snapshot",
    "restore",
    "fault",
    "submit",
    "fund",
  ])
    expect(Object.keys(counts), kind).toContain(kind);
});

test("a backend that processes a repeated event twice is found", async () => {
  await using receiver = await openReceiver();
  await using sandbox = await createExplorableSandbox({ seed: "doubled", receiverUrl: receiver.url });
  const reset = () => void receiver.received.splice(0);
  const check = () => {
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    if (new Set(ids).size < ids.length) throw new Error("an event was processed twice");
  };
  const failed: unknown = await sandbox
    .explore({ steps: 100, checkEvery: 5, check, reset })
    .catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ExplorationError);
  if (!(failed instanceof ExplorationError)) return;
  expect(failed.message).toMatch(/^After "Send event \d+ again", your check/);
  const play = async (played: () => void) => {
    reset();
    await playScenario(failed.scenario, { check: played, options: { receiverUrl: receiver.url } });
  };
  await expect(play(check)).rejects.toThrow("an event was processed twice");
  await play(() => {});
});

/** A backend that follows purchases by their events, but for those of one type. */
function followPurchases(receiver: ExternalReceiver, ignored: string) {
  const statuses: { [type: string]: string } = {
    "purchase.created": "created",
    "purchase.activated": "active",
    "purchase.registered": "active",
    "purchase.claimed": "claimed",
    "refund.due": "refund_due",
    "refund.collected": "refunded",
  };
  const statusAfter = (type: string, data: { outcome?: string }) =>
    type === "purchase.decided" ? data.outcome : statuses[type];
  const known = new Map<string, string>();
  // An event that is sent again must not change anything: it may be older than the newest one.
  const processed = new Set<string>();
  receiver.answer = ({ body, headers }, response) => {
    const { type, data } = JSON.parse(body);
    const id = String(headers["webhook-id"]);
    const status = processed.has(id) || type === ignored ? undefined : statusAfter(type, data);
    if (status !== undefined) known.set(data.purchase_id, status);
    processed.add(id);
    response.writeHead(204).end();
  };
  const reset = () => {
    known.clear();
    processed.clear();
  };
  const check: ExploreOptions["check"] = ({ purchases }) => {
    for (const { id, status } of purchases)
      if (known.get(id) !== status) throw new Error(`The backend has ${id} as ${known.get(id)}.`);
  };
  /** The backend's state as a part of a sandbox. */
  const part: Part<{ known: [string, string][]; processed: string[] }> = {
    name: "backend",
    schema: z.strictObject({
      known: z.array(z.tuple([z.string(), z.string()])),
      processed: z.array(z.string()),
    }),
    capture: () => ({ known: [...known], processed: [...processed] }),
    restore(state) {
      reset();
      for (const [id, status] of state.known) known.set(id, status);
      for (const id of state.processed) processed.add(id);
    },
  };
  return { check, reset, part };
}

test("a bug of the user's backend is found by its check, and the shortest sequence fails until it is fixed", async () => {
  await using receiver = await openReceiver();
  const file = `${await temporaryFolder()}/failing.yaml`;
  await using sandbox = await createExplorableSandbox({ seed: "explored", receiverUrl: receiver.url });
  const wrong = followPurchases(receiver, "purchase.registered");
  const failed = await sandbox
    .explore({ steps: 200, stepsPerWalk: 40, scenario: file, check: wrong.check, reset: wrong.reset })
    .catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: "exploration_failed", seed: "explored" });
  expect(String(failed)).toContain(
    'After "Confirm the registration of purchase 1", your check: expected no error',
  );
  expect(String(failed)).toContain(
    `Play it with your check: await playScenario(await readScenario("${file}"), { check }). If your backend receives the events, add options: { receiverUrl } next to check.\n`,
  );
  const scenario = await readScenario(file);
  const names = scenario.steps.map(({ title }) => title);
  // The credential and the merchant, three steps, and the deliveries.
  expect(names.slice(4).filter((name) => name !== "Deliver the oldest event")).toEqual([
    expect.stringMatching(/^Create purchase 1 /),
    "The wallet merchant registers purchase 1",
    "Confirm the registration of purchase 1",
  ]);

  const play = { options: { receiverUrl: receiver.url } };
  wrong.reset();
  await expect(playScenario(scenario, { ...play, check: wrong.check })).rejects.toThrow(
    "The backend has pur_",
  );
  const right = followPurchases(receiver, "none");
  await playScenario(scenario, { ...play, check: right.check });
});

test("a backend that processes every event passes, because an exploration with a check restores no snapshots", async () => {
  await using receiver = await openReceiver();
  await using sandbox = await createExplorableSandbox({ seed: "f", receiverUrl: receiver.url });
  const { check, reset } = followPurchases(receiver, "none");
  const { counts } = await sandbox.explore({ steps: 100, checkEvery: 10, check, reset });
  expect(receiver.received.length).toBeGreaterThan(20);
  expect(Object.keys(counts)).toContain("reorg");
  expect(Object.keys(counts)).not.toContain("restore");
});

test("a backend whose state is a part of the sandbox passes walks that restore snapshots", async () => {
  await using receiver = await openReceiver();
  const { check, reset, part } = followPurchases(receiver, "none");
  await using sandbox = await createExplorableSandbox({
    seed: "i",
    receiverUrl: receiver.url,
    parts: [part],
  });
  const { counts } = await sandbox.explore({ steps: 100, checkEvery: 10, check, reset });
  expect(Object.keys(counts)).toContain("restore");
});

test("equal seeds give equal walks and hashes, and another seed gives others", async () => {
  const explore = async (options: ExploreOptions) => {
    await using sandbox = await createExplorableSandbox({ seed: "explored" });
    return await sandbox.explore({ steps: 60, stepsPerWalk: 20, ...options });
  };
  const first = await explore({ seed: "one" });
  expect(await explore({ seed: "one" })).toEqual(first);
  const other = await explore({ seed: "two" });
  expect(other.digest).not.toBe(first.digest);
});

test("the command line runs the same steps on its own sandbox", async () => {
  const printed = JSON.parse(await runCli("explore", "--steps", "30", "--seed", "one", "--json"));
  await using sandbox = await createExplorableSandbox({ seed: "one" });
  expect(printed).toEqual(await sandbox.explore({ steps: 30 }));
});
