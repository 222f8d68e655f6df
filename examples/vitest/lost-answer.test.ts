import { sandboxTest } from "routing-sandbox/vitest"; // also installs the matchers below
import { expect } from "vitest";

const test = sandboxTest({ seed: "checkout" });

test("a refund survives a lost answer", async ({ sandbox }) => {
  // biome-ignore lint/correctness/noUnusedVariables: what a test can take from a sandbox
  const { given, reviewer, client, faults, clock } = sandbox;
  const { purchase, claim } = await given.purchase({
    state: "claimed",
    amount: "25000000",
    claimed: "10000000",
  });
  const decision = await reviewer.decide(purchase, claim, { award: "10000000" });

  await faults.set("answer-lost", { operation: "executeRefund" }); // committed, then the connection drops
  const refund = await client.retrying.refund(purchase, decision); // resends the identical body with the identical key
  expect(refund.status).toBe("collected");

  await sandbox.deliverAll();
  expect(refund.transaction_hash).toBeAcceptedAs("refund", purchase);
});
