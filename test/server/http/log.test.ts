import { expect, test } from "vitest";
import { problem, Stage } from "../stage.ts";

test("every request is logged by its id, and no secret, signature or stack is", async () => {
  const lines: { [name: string]: unknown }[] = [];
  const write = (fields: { [name: string]: unknown }, message: string) => lines.push({ ...fields, message });
  await using stage = await Stage.open({ seed: "log", log: { info: write, error: write } });
  const purchase = await stage.paidPurchase();
  const body = await stage.claimBody(purchase);
  await stage.post(stage.path(`/purchases/${purchase.id}/claims`), body);
  const missing = await stage.get(stage.path("/purchases/pur_aaaaaaaaaaaaaaaaaaaa"));
  await stage.sandbox.chain.anvil.stop();
  const failed = await stage.get(stage.path(""));

  const of = (id: unknown) => lines.filter(({ request_id }) => request_id === id);
  expect(of(missing.headers["x-request-id"])).toEqual([
    expect.objectContaining({
      method: "GET",
      status: 404,
      code: "not_found",
      caller: expect.stringMatching(/^crd_/),
      path: stage.path("/purchases/pur_aaaaaaaaaaaaaaaaaaaa"),
    }),
  ]);
  expect(problem(failed).code).toBe("rpc_unavailable");
  expect(of(failed.headers["x-request-id"])).toEqual([
    expect.objectContaining({ message: "rpc_unavailable", causes: expect.any(Array) }),
    expect.objectContaining({ status: 503, code: "rpc_unavailable" }),
  ]);
  const text = JSON.stringify(lines);
  for (const secret of [stage.credential, stage.accountKey, body.signature, "Bearer", "whsec_"])
    expect(text).not.toContain(secret);
  expect(text).not.toMatch(/node_modules|\\n\s+at /);
});
