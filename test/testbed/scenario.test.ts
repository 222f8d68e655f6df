import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../../sandbox/create-sandbox.ts";
import { playScenario } from "../../sandbox/scenario/play-scenario.ts";
import type { Scenario } from "../../sandbox/scenario/scenario.ts";
import { readScenario } from "../../sandbox/scenario/scenario-file.ts";
import { cli } from "../cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const shipped = fileURLToPath(new URL("../../scenarios/", import.meta.url));
const files = await readdir(shipped);

/** Creates a merchant with the sandbox's own client. */
async function createMerchant({ client, wallets }: Sandbox, name: string) {
  const header = { "Idempotency-Key": `merchant-${name}` };
  const body = { wallet: wallets.merchant.address, name, funding_cap: "500000000" };
  return await client.POST("/v1/routing/programs/{program}/merchants", {
    params: { path: { program: "prg_demo" }, header },
    body,
  });
}

test.for(files)(
  "the scenario %s comes out as it was recorded (if it is to change: npm run scenarios:record)",
  {
    timeout: 60_000,
  },
  async (file) => {
    const scenario = await readScenario(join(shipped, file));
    const told: string[] = [];
    await playScenario(scenario, { told: (number, { title }) => told.push(`${number} ${title}`) });
    expect(told).toHaveLength(scenario.steps.length);
  },
);

test("three scenarios ship", () => expect(files).toHaveLength(3));

test("the first step and field that differ are named, and so is an end that differs", async () => {
  const scenario = await readScenario(join(shipped, "lost-response.yaml"));
  /** The scenario up to a step, which is changed. */
  const changed = (number: number, change: (step: Scenario["steps"][number]) => object): Scenario => {
    const kept = scenario.steps.slice(0, number);
    const last = kept[number - 1];
    if (last === undefined) throw new Error(`There is no step ${number}.`);
    return { ...scenario, steps: [...kept.slice(0, -1), { ...last, ...change(last) }] };
  };
  const answered = (status: number, fields: object) =>
    changed(2, (step) => {
      if (!("answer" in step)) throw new Error("Step 2 is a request.");
      return { answer: { status, body: { ...step.answer.body, ...fields } } };
    });
  const differences: [Scenario, object][] = [
    [answered(200, {}), { step: 2, field: "answer.status" }],
    [answered(201, { name: "Corner Shop" }), { step: 2, field: "answer.body.name" }],
    [answered(201, { more: null }), { step: 2, field: "answer.body.more" }],
    [changed(3, () => ({ block: `12 0x${"0".repeat(64)}` })), { step: 3, field: "block" }],
    [
      { ...scenario, steps: [] },
      { step: null, field: "block" },
    ],
  ];
  for (const [altered, difference] of differences)
    await expect(playScenario(altered)).rejects.toMatchObject(difference);
  await expect(playScenario(answered(201, { name: "Corner Shop" }))).rejects.toThrow(
    "Step 2 (Create a merchant) differs in answer.body.name: Corner Shop was recorded, Corner Books came.",
  );
});

test("what many clients do at once is recorded in an order that can be repeated, with programs, blocks and time", async () => {
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
  const { error } = await createMerchant(sandbox, "too-late");
  expect(error?.code).toBe("credential_expired");
  const scenario = await sandbox.stopRecording();
  expect(scenario.steps.length).toBeGreaterThanOrEqual(15);
  await playScenario(scenario);
});

test("a recording needs a fresh sandbox and no restore within", async () => {
  await using sandbox = await createSandbox({ seed: "refused" });
  const mark = await sandbox.snapshot();
  await sandbox.record("Restored");
  await expect(sandbox.record("Twice")).rejects.toThrow("A recording is under way");
  await createMerchant(sandbox, "first");
  await sandbox.wallets.buyer.faucet(1n);
  await createMerchant(sandbox, "second");
  await mark.restore();
  await expect(sandbox.stopRecording()).rejects.toThrow("Blocks left the chain by a reorg or a restore");
  await sandbox.wallets.buyer.faucet(1n);
  await expect(sandbox.record("Used")).rejects.toThrow("The sandbox has a past");
  await expect(sandbox.stopRecording()).rejects.toThrow("Nothing is being recorded");
});

test("a file that is no scenario is refused with what is wrong and where", async () => {
  const file = join(await temporaryFolder(), "broken.yaml");
  await expect(readScenario(file)).rejects.toThrow("cannot be read");
  await writeFile(file, "steps: [\n");
  await expect(readScenario(file)).rejects.toThrow(/is no YAML: .* at line 2/);
  await writeFile(file, "format: routing-sandbox-scenario\nversion: 2\n");
  await expect(readScenario(file)).rejects.toThrow(/is no scenario that can be played:\n.*version/s);
});

test("the command line records the running sandbox until it is interrupted", async () => {
  const dataDirectory = await temporaryFolder();
  await using sandbox = await createSandbox({ dataDirectory });
  const file = join(dataDirectory, "recorded.yaml");
  const args = [cli, "scenario", "record", file, "--title", "A merchant", "--data-dir", dataDirectory];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  await once(createInterface(child.stdout), "line");
  await createMerchant(sandbox, "first");
  child.kill("SIGINT");
  expect(await exited).toEqual([0, null]);
  const scenario = await readScenario(file);
  expect(scenario).toMatchObject({ title: "A merchant", steps: [{}, { title: "Create a merchant" }] });
});
