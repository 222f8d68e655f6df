import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { attacks } from "../../../check-contract/attacks/all.ts";
import { ContractFixture } from "../../../check-contract/fixture/contract-fixture.ts";

let fixture: ContractFixture;
beforeAll(async () => {
  fixture = await ContractFixture.open();
});
afterEach(async () => await fixture.reset());
afterAll(async () => await fixture.close());

test("every attack that is refused has a cause", async () => {
  for (const attack of attacks) {
    if (attack.stopped.code !== "binding_mismatch" || attack.stopped.status !== 422) continue;
    await fixture.reset();
    const answer = await attack.run(fixture);
    const parsed = z.object({ explain: z.url().optional() }).parse(answer.body);
    if (parsed.explain === undefined) continue;
    const { cause } = await fixture.sandbox.explain(`0x${parsed.explain.slice(-64)}`);
    expect(cause, attack.name).toMatch(/^[A-Z].*\.$/);
  }
});
