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
  test.each(family)("$name", async (attack) => {
    expect(await findFailure(attack, stage)).toBeNull();
  });
});
