import { encodeFunctionData, type Hex } from "viem";
import { expect, test } from "vitest";
import { purchaseRegistrarAbi } from "../../../../protocol/abi.generated.ts";
import { type Answer, problem, type Schema } from "../../../kit/answer.ts";
import { resetBeforeEach } from "../../../kit/reset-before-each.ts";
import { TestKit } from "../../../kit/test-kit.ts";

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
  const { contracts } = kit.sandbox.description;
  const data = encodeFunctionData({
    abi: purchaseRegistrarAbi,
    functionName: "payBatch",
    args: [[paid, registered].map(({ commitment }): Hex => commitment.hash as Hex), [1_000n, 2_000n]],
  });
  batch = (await kit.wallet("buyer").send({ to: contracts.registrar, data })).transaction_hash;
  return kit;
});

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
