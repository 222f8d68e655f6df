import { expect } from "vitest";
import { sandboxTest } from "../../sandbox/vitest.ts";

const test = sandboxTest({ seed: "fixture" });
const path = "/v1/routing/programs/{program}/merchants";
const params = { path: { program: "prg_demo" }, header: { "Idempotency-Key": "merchant-1" } };

test("the fixture gives a test a sandbox with a client and wallets that act", async ({ sandbox }) => {
  const { client, wallets } = sandbox;
  const body = { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "500000000" };
  const { data: merchant } = await client.POST(path, { params, body });
  if (merchant === undefined) throw new Error("The merchant was not created.");
  const enrolled = await wallets.merchant.enroll(merchant);
  const { data } = await client.POST("/v1/routing/programs/{program}/merchants/{id}/enrollment", {
    params: { path: { program: "prg_demo", id: merchant.id }, header: { "Idempotency-Key": "enrollment-1" } },
    body: enrolled.body,
  });
  expect(data).toMatchObject({ id: merchant.id, status: "enrolled" });
});

test("and takes it back to its first moment before the next one", async ({ sandbox }) => {
  expect(await sandbox.store.list("merchants", {})).toEqual([]);
  expect(await sandbox.store.list("idempotency", {})).toEqual([]);
});
