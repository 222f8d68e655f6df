import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFailure } from "../../check-contract/attack.ts";
import { attacks, attacksWithPermit } from "../../check-contract/attacks/all.ts";
import { Stage } from "../../check-contract/stage/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(async () => await stage.close());

const tried = [...attacks, ...attacksWithPermit];
describe.each(Object.entries(Object.groupBy(tried, ({ family }) => family)))("%s", (_family, family) => {
  // vitest would cut a long $name.
  test.each(family.map((attack) => [attack.name, attack] as const))("%s", async (_name, attack) => {
    expect(await findFailure(attack, stage)).toBeNull();
  });
});
