import { expect, test } from "vitest";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { freshSandbox } from "../../kit/fresh-sandbox.ts";

test("a given state repeats its requests as client.retrying does, the one for its first credential included", async () => {
  await using sandbox = await createSandbox({ seed: "given-retries" });
  const isDown = async (count: number | null) => {
    await sandbox.faults.clear();
    await sandbox.faults.set("node-down", { count });
  };
  await isDown(15);
  expect((await sandbox.given.merchant({ state: "pending" })).merchant.status).toBe("pending");
  expect(sandbox.faults.list()).toMatchObject([{ hits: 15 }]);
  await isDown(null);
  await expect(sandbox.given.purchase({ state: "created" })).rejects.toMatchObject({
    code: "retry_limit",
    message: expect.stringContaining("after 21 identical requests; the last one got 503 rpc_unavailable"),
  });
  await using fresh = await createSandbox({ seed: "given-retries" });
  await fresh.faults.set("node-down");
  await expect(fresh.given.merchant({ state: "pending" })).rejects.toMatchObject({
    code: "retry_limit",
    message: expect.stringContaining("POST /v1/routing/access is unknown after 21 identical requests"),
  });
});

test("a merchant whose enrollment was not confirmed is confirmed by the next call", async () => {
  const { faults, given } = await freshSandbox();
  const match = { operation: "confirmEnrollment" };
  await faults.set({ layer: "api", action: "503", point: "before_commit", match, count: null });
  await expect(given.merchant({ state: "enrolled" })).rejects.toMatchObject({ code: "retry_limit" });
  await faults.clear();
  const { merchant } = await given.merchant({ state: "enrolled" });
  expect(merchant).toMatchObject({ status: "enrolled", funding: { allowance: "0" } });
  const { purchase } = await given.purchase({ state: "refunded" });
  expect(purchase).toMatchObject({ merchant_id: merchant.id, status: "refunded" });
});
