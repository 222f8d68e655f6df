import { expect, test } from "vitest";
import { problem } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";

test("every request is logged by its id, and no secret, signature or stack is", async () => {
  const lines: { [name: string]: unknown }[] = [];
  const write = (fields: { [name: string]: unknown }, message: string) => lines.push({ ...fields, message });
  await using kit = await TestKit.open({ seed: "log", log: { info: write, error: write } });
  const purchase = await kit.paidPurchase();
  const body = await kit.claimBody(purchase);
  await kit.post(kit.path(`/purchases/${purchase.id}/claims`), body);
  const missing = await kit.get(kit.path("/purchases/pur_aaaaaaaaaaaaaaaaaaaa"));
  await kit.sandbox.chain.anvil.stop();
  const failed = await kit.get(kit.path(""));

  const of = (id: unknown) => lines.filter(({ request_id }) => request_id === id);
  expect(of(missing.headers["x-request-id"])).toEqual([
    expect.objectContaining({
      method: "GET",
      status: 404,
      code: "not_found",
      caller: expect.stringMatching(/^crd_/),
      path: kit.path("/purchases/pur_aaaaaaaaaaaaaaaaaaaa"),
    }),
  ]);
  expect(problem(failed).code).toBe("rpc_unavailable");
  expect(of(failed.headers["x-request-id"])).toEqual([
    expect.objectContaining({ message: "rpc_unavailable", causes: expect.any(Array) }),
    expect.objectContaining({ status: 503, code: "rpc_unavailable" }),
  ]);
  const text = JSON.stringify(lines);
  for (const secret of [kit.credential, kit.accountKey, body.signature, "Bearer", "whsec_"])
    expect(text).not.toContain(secret);
  expect(text).not.toMatch(/node_modules|\\n\s+at /);
});
