import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { ProblemError, unwrap } from "../../../sandbox/client/api-client.ts";
import { sandboxTest } from "../../../testkit/vitest.ts";

const test = sandboxTest({ seed: "unwrap" });
const merchants = "/v1/routing/programs/{program}/merchants";
const params = { path: { program: "prg_demo" }, header: { "Idempotency-Key": "merchant-1" } };

/** Returns the error that a promise is rejected with. */
async function errorOf(promise: Promise<unknown>): Promise<ProblemError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProblemError)) throw new Error(`No ProblemError: ${error}`);
  return error;
}

test("unwrap returns the data of an answer", async ({ sandbox: { client, wallets } }) => {
  const body = { wallet: wallets.merchant.address, name: "Corner Books", funding_cap: "500000000" };
  const merchant = unwrap(await client.POST(merchants, { params, body }));
  expect(merchant.enrollment.transaction.from).toBe(wallets.merchant.address);
});

test("unwrap throws a refusal with every field error and the request id", async ({ sandbox: { client } }) => {
  const body = { wallet: "0x1", name: "", funding_cap: "0" } as const;
  const error = await errorOf(client.POST(merchants, { params, body }).then(unwrap));
  const { status, code, detail, checks, requestId, problem } = error;
  expect({ status, code, checks }).toEqual({ status: 422, code: "validation_failed", checks: [] });
  expect(requestId).toMatch(/^req_/);
  expect(problem.errors).toHaveLength(3);
  const errors = (problem.errors ?? []).map((error) => `${error.pointer} ${error.detail}`);
  expect(detail).toBe(errors[0]);
  expect(error.message).toBe(
    `The API responded with 422 validation_failed: ${errors.join("\n  ")}\n  request ${requestId}`,
  );
});

test("unwrap throws a refused transaction with both sides of each failed check", async ({ sandbox }) => {
  const { purchase } = await sandbox.given.purchase({ state: "active" });
  const { program, id } = purchase;
  const { stranger, buyer } = sandbox.wallets;
  await stranger.approve(purchase);
  const { transaction_hash } = await stranger.pay(purchase);
  const path = "/v1/routing/programs/{program}/purchases/{id}/reconcile";
  const answer = sandbox.client.POST(path, {
    params: { path: { program, id }, header: { "Idempotency-Key": "reconcile" } },
    body: { transaction_hashes: [transaction_hash] },
  });
  const error = await errorOf(answer.then(unwrap));
  expect(error).toMatchObject({ status: 422, code: "binding_mismatch" });
  const failed = error.checks.filter(({ ok }) => !ok).map(({ name }) => name);
  expect(failed).toContain("wallet");
  expect(error.checks.map(({ name }) => name)).toContain("chain");
  const lines = error.message.split("\n").slice(1);
  expect(lines).toContain(`  ✗ wallet: expected ${buyer.address}, is ${stranger.address}`);
  expect(lines).toHaveLength(failed.length + 1);
});

test("unwrap throws an error for an answer that is not a problem", () => {
  const response = new Response(null, { status: 502 });
  expect(() => unwrap({ error: "<html>", response })).toThrow(
    "The response with the status 502 has neither data nor a problem: <html>. Check that the URL is the routing API's.",
  );
});

test("the exported client needs no schema library", async () => {
  const folder = new URL("../../../sandbox/client/", import.meta.url);
  const seen = new Set<string>();
  const walk = async (file: URL): Promise<void> => {
    if (seen.has(file.href)) return;
    seen.add(file.href);
    const text = await readFile(file, "utf8");
    const imports = text.matchAll(/^(?:import|export) (?!type)[^;]*? from "([^"]+)";/gm);
    for (const [, from = ""] of imports)
      if (from.startsWith(".")) await walk(new URL(from, file));
      else seen.add(from);
  };
  await walk(new URL("api-client.ts", folder));
  expect([...seen].filter((from) => !/^(?:file|node):/.test(from))).toEqual(["openapi-fetch"]);
});
