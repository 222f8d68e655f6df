import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findFailure } from "../../../check-contract/attack.ts";
import { attacks, attacksWithPermit } from "../../../check-contract/attacks/all.ts";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterAll(async () => await fixture.close());

const tried = [...attacks, ...attacksWithPermit];
describe.each(Object.entries(Object.groupBy(tried, ({ area }) => area)))(
  "refuses every attack of the area %s",
  (_area, ofArea) => {
    // vitest would cut a long $name.
    test.each(ofArea.map((attack) => [attack.name, attack] as const))("%s", async (_name, attack) => {
      expect(await findFailure(attack, fixture)).toBeNull();
    });
  },
);
