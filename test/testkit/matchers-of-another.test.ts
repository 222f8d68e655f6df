import { expect } from "vitest";
import { createExplorableSandbox } from "../../testkit/explore/explorable-sandbox.ts";
import { sandboxMatchers } from "../../testkit/matchers.ts";
import { sandboxTest } from "../../testkit/vitest.ts";

const test = sandboxTest({ seed: "matchers" });

// Vitest has one set of matchers for all files of a worker.
const closed = await createExplorableSandbox();
await closed.close();
expect.extend(sandboxMatchers(() => closed));

test("a test with a sandbox has the matchers of that sandbox, whatever was installed before", async ({
  sandbox,
}) => {
  const { payments } = await sandbox.given.purchase({ state: "paid" });
  await expect(payments[0]?.transaction_hash).toBeAcceptedAs("payment");
});
