import { afterAll, beforeAll, expect, test } from "vitest";
import { present, problem, type Schema, Stage } from "../stage.ts";

let stage: Stage;
let merchant: Schema<"Merchant">;
/** A purchase that is still to be registered, as whose registration used hashes are sent. */
let other: Schema<"Purchase">;

beforeAll(async () => {
  stage = await Stage.open({ seed: "used" });
  merchant = await stage.enrolledMerchant();
  await stage.act("merchant", "merchant", merchant.id, "fund");
  other = await stage.createPurchase(merchant);
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

/** What a hash is told to serve already, when it is sent as the registration of another purchase. */
async function useOf(transactionHash: string | null | undefined): Promise<unknown> {
  const path = stage.path(`/purchases/${other.id}/registration`);
  const answer = problem(await stage.post(path, { transaction_hash: transactionHash }));
  expect(answer).toMatchObject({ status: 422, code: "binding_mismatch" });
  return answer.binding?.checks.find(({ name }) => name === "unused");
}

const usedBy = (actual: string) => ({ name: "unused", ok: false, expected: null, actual });

test("the hash of each accepted step serves that step of that object alone", async () => {
  expect(await useOf(merchant.enrollment.confirmed?.transaction_hash)).toEqual(
    usedBy(`enrollment of ${merchant.id}`),
  );

  const direct = await stage.createPurchase(merchant);
  const registration = await stage.act("merchant", "purchase", direct.id, "register");
  const path = stage.path(`/purchases/${direct.id}/registration`);
  expect((await stage.post(path, { transaction_hash: registration })).status).toBe(200);
  expect(await useOf(registration)).toEqual(usedBy(`registration of ${direct.id}`));

  const purchase = await stage.activePurchase(merchant);
  const payment = await stage.pay(purchase);
  expect(await useOf(payment)).toMatchObject({ ok: true });
  await stage.reconcile(purchase);
  expect(await useOf(payment)).toEqual(usedBy(`payment of ${payment}`));

  const claim = await stage.claim(purchase);
  expect(await useOf(claim.transaction_hash)).toEqual(usedBy(`claim of ${purchase.id}`));

  const decided = await stage.post(
    stage.path(`/purchases/${purchase.id}/decisions`),
    stage.decision(purchase, claim),
  );
  const { operation, refund } = present(
    await stage.api.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", {
      params: stage.write(purchase.id),
      body: { decision_id: JSON.parse(decided.text).id },
    }),
  );
  expect(await useOf(refund.transaction_hash)).toEqual(usedBy(`refund of ${purchase.id}`));
  expect(operation.hash).toBe(refund.transaction_hash);

  const { data } = present(
    await stage.api.GET("/v1/routing/programs/{program}/transactions", {
      params: { path: { program: stage.program } },
    }),
  );
  const offer = data.find(({ kind }) => kind === "offer");
  expect(await useOf(offer?.hash)).toEqual(usedBy(`offer of ${purchase.id}`));
});
