import { encodeFunctionData, type Hex } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import type { Snapshot } from "../../../sandbox/state/snapshot.ts";
import { type Answer, problem, type Schema, Stage } from "../stage.ts";

let stage: Stage;
let paid: Schema<"Purchase">;
let registered: Schema<"Purchase">;
let registration: Hex;
let batch: Hex;
let mark: Snapshot;

/** The buyer pays an active purchase and one that its merchant has registered, which the service does not know yet, in one batch. */
beforeAll(async () => {
  stage = await Stage.open({ seed: "batches", receiptTimeoutMs: 30_000 });
  const merchant = await stage.enrolledMerchant();
  paid = await stage.activePurchase(merchant);
  registered = await stage.createPurchase(merchant);
  registration = await stage.act("merchant", "purchase", registered.id, "register");
  await stage.act("buyer", "purchase", paid.id, "approve");
  const { contracts } = stage.sandbox.description;
  const data = encodeFunctionData({
    abi: purchaseRegistrarAbi,
    functionName: "payBatch",
    args: [[paid, registered].map(({ commitment }): Hex => commitment.hash as Hex), [1_000n, 2_000n]],
  });
  batch = (await stage.wallet("buyer").send({ to: contracts.registrar, data })).transactionHash;
  mark = await stage.sandbox.snapshot();
});

beforeEach(async () => {
  await mark.restore();
  await stage.renew();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

const submissions: { readonly [route: string]: () => Promise<Answer> } = {
  "operation 10": async () => await stage.post(stage.path(`/purchases/${paid.id}/reconcile`), {}),
  "the wallet route": async () =>
    await stage.post(`/wallet/${stage.program}/purchase/${paid.id}`, {
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
    const confirmed = await stage.post(stage.path(`/purchases/${registered.id}/registration`), {
      transaction_hash: registration,
    });
    expect(confirmed.status).toBe(200);
    expect((await submit()).status).toBe(200);
  },
);
