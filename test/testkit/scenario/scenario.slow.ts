import { expect, test } from "vitest";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { actorsOf } from "../../../testkit/demo/actors.ts";
import { silentPrinter } from "../../../testkit/demo/printer.ts";
import { Session } from "../../../testkit/demo/session.ts";
import { enrollMerchant } from "../../../testkit/demo/show-merchant.ts";
import { demoSteps } from "../../../testkit/demo/show-purchase.ts";
import { playScenario } from "../../../testkit/scenario/play-scenario.ts";
import { controlSandbox } from "../../kit/control.ts";
import { createMerchant } from "../../sandbox/scenarios/create-merchant.ts";

test("concurrent requests of many clients are recorded in an order that can be repeated, with programs, blocks and time", async () => {
  await using sandbox = await createSandbox({ seed: "recorded", programs: ["prg_demo", "prg_books"] });
  await sandbox.record("Many at once");
  const { wallets, chain, clock } = sandbox;
  const names = Array.from({ length: 10 }, (_, number) => `Store ${number}`.replace(" ", "-"));
  await Promise.all([
    ...names.map((name) => createMerchant(sandbox, name)),
    wallets.buyer.faucet(1n),
    wallets.stranger.faucet(2n),
  ]);
  await chain.client.mine({ blocks: 3 });
  await clock.travel({ days: 8 });
  const { data } = await createMerchant(sandbox, "renewed");
  expect(data?.name).toBe("renewed");
  const scenario = await sandbox.stopRecording();
  expect(scenario.steps.length).toBeGreaterThanOrEqual(15);
  await playScenario(scenario);
});

test("transactions that the relayer sends again are recorded with their request, and can be played", async () => {
  await using sandbox = await createSandbox({ seed: "sent-again", receiptTimeoutMs: 50 });
  await sandbox.record("A dropped transaction");
  const session = await Session.open(actorsOf(sandbox.description), silentPrinter);
  const purchase = await demoSteps.createPurchase(
    session,
    await enrollMerchant(session),
    "dropped",
    "25000000",
  );
  const set = await fetch(`${sandbox.description.urls.control}/faults`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ layer: "relayer", point: "broadcast", action: "drop" }),
  });
  expect(set.status).toBe(201);
  await demoSteps.activate(session, purchase, "activate");
  const scenario = await sandbox.stopRecording();
  expect(scenario.steps.at(-1)).toMatchObject({
    answer: { status: 202 },
    block: expect.any(String),
  });
  expect(await sandbox.relayer.list("prg_demo", { limit: 10 })).toMatchObject([{ status: "confirmed" }]);
  await playScenario(scenario);
});

test("answers that a fault has lost are recorded as lost, and are lost again", async () => {
  await using sandbox = await createSandbox({ seed: "lost" });
  await sandbox.record("Lost answers");
  const set = async (fault: object) => {
    await controlSandbox(sandbox.description, "POST", "/faults", fault);
  };
  const { purchase, decision } = await sandbox.given.purchase({ state: "approved" });
  await set({ intent: "answer-lost", operation: "executeRefund" });
  await set({ layer: "api", action: "partial", match: { operation: "executeRefund" } });
  await set({ layer: "api", point: "before_commit", action: "429", match: { operation: "executeRefund" } });
  await sandbox.client.retrying.refund(purchase, decision);
  const scenario = await sandbox.stopRecording();
  const sent = scenario.steps.flatMap((step) =>
    "api" in step && "answer" in step && step.api.endsWith("/refunds") ? [step.answer] : [],
  );
  expect(sent).toMatchObject([{ status: 429 }, { lost: true }, { lost: true }, { status: 201 }]);
  await playScenario(scenario);
  const { steps } = scenario;
  const answered = steps.map((step) =>
    "answer" in step && "lost" in step.answer ? { ...step, answer: { status: 201, body: {} } } : step,
  );
  await expect(playScenario({ ...scenario, steps: answered })).rejects.toThrow(
    "differs in answer.status: expected 201, got a dropped connection.",
  );
  const unset = steps.filter((step) => !("control" in step));
  await expect(playScenario({ ...scenario, steps: unset })).rejects.toMatchObject({
    code: "scenario_differs",
  });
});
