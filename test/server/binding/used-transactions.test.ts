import { beforeAll, expect, test } from "vitest";
import { present, problem, type Schema } from "../../kit/answer.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;
/** A purchase that is still to be registered, as whose registration used hashes are sent. */
let other: Schema<"Purchase">;

beforeAll(async () => {
  kit = await TestKit.shared();
  merchant = await kit.enrolledMerchant();
  await kit.act("merchant", "merchant", merchant.id, "fund");
  other = await kit.createPurchase(merchant);
});

/** Returns the step of a used hash as the refusal names it when the hash is sent as the registration of another purchase. */
async function useOf(transactionHash: string | null | undefined): Promise<unknown> {
  const path = kit.path(`/purchases/${other.id}/registration`);
  const answer = problem(await kit.post(path, { transaction_hash: transactionHash }));
  expect(answer).toMatchObject({ status: 422, code: "binding_mismatch" });
  return answer.binding?.checks.find(({ name }) => name === "unused");
}

const usedBy = (actual: string) => ({ name: "unused", ok: false, expected: null, actual });

test("the hash of each accepted step serves that step of that object alone", async () => {
  expect(await useOf(merchant.enrollment.confirmed?.transaction_hash)).toEqual(
    usedBy(`enrollment of ${merchant.id}`),
  );

  const direct = await kit.createPurchase(merchant);
  const registration = await kit.act("merchant", "purchase", direct.id, "register");
  const path = kit.path(`/purchases/${direct.id}/registration`);
  expect((await kit.post(path, { transaction_hash: registration })).status).toBe(200);
  expect(await useOf(registration)).toEqual(usedBy(`registration of ${direct.id}`));

  const purchase = await kit.activePurchase(merchant);
  const payment = await kit.pay(purchase);
  expect(await useOf(payment)).toMatchObject({ ok: true });
  await kit.reconcile(purchase);
  expect(await useOf(payment)).toEqual(usedBy(`payment of ${payment}`));

  const claim = await kit.claim(purchase);
  expect(await useOf(claim.transaction_hash)).toEqual(usedBy(`claim of ${purchase.id}`));

  const decided = await kit.post(
    kit.path(`/purchases/${purchase.id}/decisions`),
    kit.decision(purchase, claim),
  );
  const { operation, refund } = present(
    await kit.api.POST("/v1/routing/programs/{program}/purchases/{id}/refunds", {
      params: kit.write(purchase.id),
      body: { decision_id: JSON.parse(decided.text).id },
    }),
  );
  expect(await useOf(refund.transaction_hash)).toEqual(usedBy(`refund of ${purchase.id}`));
  expect(operation.hash).toBe(refund.transaction_hash);

  const { data } = present(
    await kit.api.GET("/v1/routing/programs/{program}/transactions", {
      params: { path: { program: kit.program } },
    }),
  );
  const offer = data.find(({ kind }) => kind === "offer");
  expect(await useOf(offer?.hash)).toEqual(usedBy(`offer of ${purchase.id}`));
});
