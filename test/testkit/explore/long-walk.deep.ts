import { expect, test } from "vitest";
import { createExplorableSandbox } from "../../../testkit/explore/explorable-sandbox.ts";

test.each(["first", "second", "third"])(
  "20,000 random steps are as documented, with the seed %s",
  { timeout: 7_200_000 },
  async (seed) => {
    await using sandbox = await createExplorableSandbox();
    const { steps } = await sandbox.explore({ steps: 20_000, seed });
    expect(steps).toBe(20_000);
  },
);
