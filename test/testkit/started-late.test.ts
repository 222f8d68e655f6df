import { expect } from "vitest";
import { sandboxTest } from "../../testkit/vitest.ts";

const test = sandboxTest();

// The start takes longer than the test may.
test.fails("a test that times out while its sandbox starts", { timeout: 50 }, async ({ sandbox }) => {
  await sandbox.given.merchant({ state: "pending" });
});

test("does not keep the sandbox from the next test", async ({ sandbox }) => {
  expect((await sandbox.given.merchant({ state: "pending" })).merchant.status).toBe("pending");
});
