import { expect, test } from "vitest";
import { TamperedNode } from "../../check-contract/fixture/tampered-node.ts";
import { problem } from "../kit/answer.ts";
import { TestKit } from "../kit/test-kit.ts";

test("a key whose request the node failed after its transaction was sent stays with it, and gets its success", async () => {
  const tampered = new TamperedNode();
  await using kit = await TestKit.open({
    seed: "node-failure",
    receiptTimeoutMs: 30_000,
    adaptChain: async (chain) => tampered.adapt(chain),
  });
  const merchant = await kit.enrolledMerchant();
  const [first, second] = [await kit.createPurchase(merchant), await kit.createPurchase(merchant)];
  const activate = async ({ id, commitment }: typeof first) =>
    await kit.post(
      kit.path(`/purchases/${id}/activate`),
      { commitment_hash: commitment.hash },
      { "Idempotency-Key": "activate-1" },
    );
  // The logs of a block are read once the transaction that was sent is in it.
  tampered.change("eth_getLogs", (answer, parameters) => {
    if (JSON.stringify(parameters).includes("blockHash")) throw new Error("The node fails.");
    return answer;
  });
  const failed = await activate(first);
  expect(failed.status).toBe(503);
  expect(problem(failed).code).toBe("rpc_unavailable");
  tampered.clear();
  const other = await activate(second);
  expect(other.status).toBe(422);
  expect(problem(other).code).toBe("idempotency_key_reused");
  const succeeded = await activate(first);
  expect(succeeded.status).toBe(200);
  expect(JSON.parse(succeeded.text)).toMatchObject({
    purchase: { id: first.id, status: "active" },
    operation: { attempt: 1, hashes: { length: 1 } },
  });
});
