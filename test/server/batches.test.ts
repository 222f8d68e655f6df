import { encodeFunctionData, type Hex } from "viem";
import { expect, test } from "vitest";
import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { type Answer, problem, type Schema } from "../kit/answer.ts";
import { resetBeforeEach } from "../kit/reset-before-each.ts";
import { TestKit } from "../kit/test-kit.ts";

let kit: TestKit;
let paid: Schema<"Purchase">;
let registered: Schema<"Purchase">;
let registration: Hex;
let batch: Hex;

/** The buyer pays an active purchase and one that its merchant has registered, which the service does not know yet, in one batch. */
resetBeforeEach(async () => {
  kit = await TestKit.shared({ receiptTimeoutMs: 30_000 });
  const merchant = await kit.enrolledMerchant();
  paid = await kit.activePurchase(merchant);
  registered = await kit.createPurchase(merchant);
  registration = await kit.act("merchant", "purchase", registered.id, "register");
  await kit.act("buyer", "purchase", paid.id, "approve");
  batch = await payBatch([paid, registered], [1_000n, 2_000n]);
  return kit;
});

async function payBatch(purchases: readonly Schema<"Purchase">[], amounts: readonly bigint[]): Promise<Hex> {
  const ids = purchases.map(({ commitment }): Hex => commitment.hash as Hex);
  const call = { abi: purchaseRegistrarAbi, functionName: "payBatch", args: [ids, amounts] } as const;
  const to = kit.sandbox.description.contracts.registrar;
  return (await kit.wallet("buyer").send({ to, data: encodeFunctionData(call) })).transaction_hash;
}

const submissions: { readonly [route: string]: () => Promise<Answer> } = {
  "POST …/reconcile": async () => await kit.post(kit.path(`/purchases/${paid.id}/reconcile`), {}),
  "the wallet route": async () =>
    await kit.post(`/wallet/${kit.program}/purchase/${paid.id}`, {
      action: "pay",
      transaction_hash: batch,
    }),
};

test.each(Object.entries(submissions))(
  "%s names the purchase of a batch that is not confirmed, and what it takes",
  async (_, submit) => {
    const refused = await submit();
    expect(refused.status).toBe(409);
    expect(problem(refused)).toMatchObject({
      code: "state_conflict",
      purchase: registered.id,
      current_state: "created",
      allowed: ["registration"],
      detail:
        `The batch also pays ${registered.id}, which is created, and a batch is recorded as a whole. ` +
        `Take that purchase's next step first: it is under "allowed".`,
    });
    const confirmed = await kit.post(kit.path(`/purchases/${registered.id}/registration`), {
      transaction_hash: registration,
    });
    expect(confirmed.status).toBe(200);
    expect((await submit()).status).toBe(200);
  },
);

test("each payment of a batch that pays one purchase twice is recorded", async () => {
  const twice = await payBatch([paid, paid], [3_000n, 4_000n]);
  const reconciled = await kit.post(kit.path(`/purchases/${paid.id}/reconcile`), {
    transaction_hashes: [twice],
  });
  const { applied } = JSON.parse(reconciled.text) as Schema<"Reconciliation">;
  expect(applied.map(({ amount }) => amount)).toEqual(["3000", "4000"]);
});

test("a reconciliation takes a batch that a reorg removed back from every purchase that it had paid", async () => {
  await kit.post(kit.path(`/purchases/${registered.id}/registration`), { transaction_hash: registration });
  const { applied } = await kit.reconcile(paid);
  await kit.reorg(1);
  const taken = await kit.reconcile(registered);
  expect(taken).toMatchObject({ applied: [], affected_purchases: [registered.id, paid.id] });
  expect(taken.reverted.toSorted((left, right) => left.log_index - right.log_index)).toEqual(applied);
  const { figures, receipts } = await kit.readPurchase(paid);
  expect({ reconciled: figures.reconciled, receipts }).toEqual({ reconciled: "0", receipts: [] });
});
