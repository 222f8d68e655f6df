import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type Scenario, scenarioSchema } from "../../../sandbox/scenarios/scenario.ts";
import { readScenario } from "../../../sandbox/scenarios/scenario-file.ts";
import { playScenario } from "../../../testkit/scenario/play-scenario.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";
import { createMerchant } from "../../sandbox/scenarios/create-merchant.ts";

const shipped = fileURLToPath(new URL("../../../examples/scenarios/", import.meta.url));
const files = await readdir(shipped);
test.for(files)(
  "the scenario %s comes out as it was recorded (if it is to change: npx node scripts/record-scenarios.ts)",
  async (file) => {
    const scenario = await readScenario(join(shipped, file));
    const titles: string[] = [];
    await playScenario(scenario, { onStep: (number, { title }) => titles.push(`${number} ${title}`) });
    expect(titles).toHaveLength(scenario.steps.length);
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
      if (!("answer" in step && "status" in step.answer)) throw new Error("Step 2 is answered.");
      return { answer: { status, body: { ...step.answer.body, ...fields } } };
    });
  const differences: [Scenario, object][] = [
    [answered(200, {}), { step: 2, field: "answer.status" }],
    [answered(201, { name: "Corner Shop" }), { step: 2, field: "answer.body.name" }],
    [answered(201, { more: null }), { step: 2, field: "answer.body.more" }],
    [
      changed(2, (step) => {
        if (!("answer" in step && "status" in step.answer)) throw new Error("Step 2 is answered.");
        const { name: _, ...body } = step.answer.body;
        return { answer: { ...step.answer, body } };
      }),
      { step: 2, field: "answer.body.name" },
    ],
    [changed(3, () => ({ block: `12 0x${"0".repeat(64)}` })), { step: 3, field: "block" }],
    [
      { ...scenario, steps: [] },
      { step: null, field: "block" },
    ],
  ];
  for (const [altered, difference] of differences)
    await expect(playScenario(altered)).rejects.toMatchObject(difference);
  await expect(playScenario(answered(201, { name: "Corner Shop" }))).rejects.toMatchObject({
    code: "scenario_differs",
    message:
      "Step 2 (Create a merchant) differs in answer.body.name: expected Corner Shop, got Corner Books.",
  });
  const lines = answered(201, { "a\nb": "c\u2028d" });
  for (const step of lines.steps) step.title = step.title.replace(" ", "\n");
  await expect(playScenario(lines)).rejects.toThrow(
    "Step 2 (Create\\u000aa merchant) differs in answer.body.a\\u000ab: expected c\\u2028d, got nothing.",
  );
});

test("a scenario can state only what answers must say", async () => {
  const sandbox = await freshSandbox();
  await sandbox.record("stated");
  await createMerchant(sandbox, "stated");
  const { end: _, ...recorded } = await sandbox.stopRecording();
  const [access, created] = recorded.steps;
  if (access === undefined || !("answer" in access) || created === undefined || !("answer" in created))
    throw new Error("Two requests.");
  const [{ answer: __, ...issue }, { answer: ___, ...request }] = [access, created];
  const stating = (expect: object, more: object[] = []): Scenario =>
    scenarioSchema.parse({ ...recorded, steps: [access, { ...request, expect }, ...more] });
  const body = { status: "pending", funding: { collected: "0" } };
  await playScenario(stating({ status: [201, 202], body }));
  // The same key gets the same bytes; what was issued before is another answer.
  await playScenario(stating({ status: [201] }, [{ ...request, expect: { status: [201], same_as: 2 } }]));

  const differences: [Scenario, object][] = [
    [stating({ status: [409] }), { step: 2, field: "answer.status" }],
    [
      stating({ status: [201], body: { funding: { collected: "1" } } }),
      {
        step: 2,
        field: "answer.body.funding.collected",
        message: expect.stringContaining("expected 1, got 0"),
      },
    ],
    [stating({ status: [201], body: [] }), { step: 2, field: "answer.body" }],
    // The credential has further scopes.
    [
      scenarioSchema.parse({
        ...recorded,
        steps: [{ ...issue, expect: { status: [201], body: { scopes: ["records:read"] } } }],
      }),
      { step: 1, field: "answer.body.scopes" },
    ],
    [
      stating({ status: [201] }, [{ ...request, expect: { status: [201], same_as: 1 } }]),
      { step: 3, field: "answer.body" },
    ],
  ];
  for (const [scenario, difference] of differences)
    await expect(playScenario(scenario)).rejects.toMatchObject(difference);
});
