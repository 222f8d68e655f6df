import { expect, test } from "vitest";
import { TamperedNode } from "../../../check-contract/fixture/tampered-node.ts";
import { createSandbox } from "../../../sandbox/create-sandbox.ts";
import { problemSchema } from "../../../server/schemas/problem.ts";
import { sendEnrollment } from "./sent-enrollment.ts";

test("a transaction is accepted at the last required confirmation, not one earlier, and no request waits for it", async () => {
  await using sandbox = await createSandbox({
    seed: "confirmations",
    confirmations: 3,
    receiptTimeoutMs: 3_600_000,
  });
  const confirm = await sendEnrollment(sandbox);

  for (const confirmations of [1, 2]) {
    const { error, response } = await confirm();
    const { code, binding } = problemSchema.parse(error);
    expect(code).toBe("transaction_unconfirmed");
    expect(response.headers.get("retry-after")).toBe("1");
    expect(binding?.checks.filter(({ ok }) => !ok)).toEqual([
      { name: "confirmations", ok: false, expected: 3, actual: confirmations },
    ]);
    await sandbox.chain.client.mine({ blocks: 1 });
  }
  expect((await confirm()).data?.status).toBe("enrolled");

  // A request would wait for an hour.
  const { purchase } = await sandbox.given.purchase({ state: "created" });
  const path = { program: purchase.program, id: purchase.id };
  const activate = async () =>
    await sandbox.client.POST("/v1/routing/programs/{program}/purchases/{id}/activate", {
      params: { path, header: { "Idempotency-Key": "activate-1" } },
      body: { commitment_hash: purchase.commitment.hash },
    });
  for (const confirmations of [1, 2]) {
    const { response, data } = await activate();
    expect([response.status, response.headers.get("retry-after")]).toEqual([202, "1"]);
    expect(data?.operation).toMatchObject({ status: "mined", confirmations });
    await sandbox.chain.client.mine({ blocks: 1 });
  }
  const { response, data } = await activate();
  expect([response.status, data?.operation.status]).toEqual([200, "confirmed"]);
});

test("a transaction that nodes have in different blocks, as after a reorg, is refused for that only once it has its confirmations", async () => {
  const tampered = new TamperedNode();
  await using sandbox = await createSandbox({
    seed: "confirmations",
    confirmations: 2,
    adaptChain: async (chain) => tampered.adapt(chain),
  });
  const confirm = await sendEnrollment(sandbox);
  tampered.change("eth_getTransactionReceipt", (receipt) => ({
    ...Object(receipt),
    blockHash: `0x${"11".repeat(32)}`,
  }));
  const codeOf = async () => problemSchema.parse((await confirm()).error).code;
  expect(await codeOf()).toBe("transaction_unconfirmed");
  await sandbox.chain.client.mine({ blocks: 1 });
  expect(await codeOf()).toBe("binding_mismatch");
});
