import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFailure } from "../../sandbox/check-contract/attack.ts";
import { attacks } from "../../sandbox/check-contract/attacks/all.ts";
import { Stage } from "../../sandbox/check-contract/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(async () => await stage.close());

describe.each(Object.entries(Object.groupBy(attacks, ({ family }) => family)))("%s", (_family, family) => {
<<<<<<< HEAD
  // vitest would cut a long $name.
  test.each(family.map((attack) => [attack.name, attack] as const))("%s", async (_name, attack) => {
=======
  // Titles that are interpolated by their name are cut.
  const named = family.map((attack) => [attack.name, attack] as const);

  test.each(named)("%s", async (_name, attack) => {
>>>>>>> 8901a8b (Try a node of another chain id, and title each attack with its whole name)
    expect(await findFailure(attack, stage)).toBeNull();
  });
});
