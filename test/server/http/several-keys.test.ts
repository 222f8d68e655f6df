import { describe, expect, test } from "vitest";
import { faultPoints, type RelayOperationKind } from "../../../relayer/relayer.ts";
import { problem, type Schema } from "../../kit/answer.ts";
import { resetBeforeEach } from "../../kit/reset-before-each.ts";
import { TestKit } from "../../kit/test-kit.ts";

let kit: TestKit;
let merchant: Schema<"Merchant">;

resetBeforeEach(async () => {
  kit = await TestKit.shared({ receiptTimeoutMs: 30_000 });
  merchant = await kit.fundedMerchant();
  return kit;
});

/** One effect on one purchase, asked for under whatever key. */
interface Effect {
  success: number;
  status: string;
  event: string;
  ask: (key: string) => ReturnType<TestKit["post"]>;
  purchase: string;
}

const prepare: { readonly [K in RelayOperationKind]: () => Promise<Effect> } = {
  async offer() {
    const { id, commitment } = await kit.createPurchase(merchant);
    const body = { commitment_hash: commitment.hash };
    const ask = (key: string) =>
      kit.post(kit.path(`/purchases/${id}/activate`), body, { "Idempotency-Key": key });
    return { success: 200, status: "active", event: "purchase.activated", ask, purchase: id };
  },
  async collect_refund() {
    const { purchase, decision } = await kit.approvedPurchase(merchant);
    const { id } = purchase;
    const body = { decision_id: decision.id };
    const ask = (key: string) =>
      kit.post(kit.path(`/purchases/${id}/refunds`), body, { "Idempotency-Key": key });
    return { success: 201, status: "refunded", event: "refund.collected", ask, purchase: id };
  },
};

async function eventsOf({ purchase, event }: Effect) {
  const events = await kit.sandbox.store.list("events", { subject: purchase });
  return events.filter(({ value }) => value.type === event).map(({ key }) => key);
}

describe.each(["offer", "collect_refund"] as const)("an %s", (kind) => {
  // Held after the last write it is done, and answered as such.
  test.each(faultPoints.slice(1).filter((point) => point !== "after_confirmed"))(
    "that was held at %s under two keys and finished under a third is answered with its success under all of them",
    { tags: kind === "offer" ? [] : ["thorough"] },
    async (point) => {
      const effect = await prepare[kind]();
      const before = (await kit.sandbox.store.list("operations", {})).length;
      // Also what goes past the first point on the second look, or when a head is followed, goes no further than the last one.
      for (const held of new Set([point, "before_confirmed"] as const))
        await kit.sandbox.faults.set({ layer: "relayer", point: held, action: "hold", count: null });
      for (const key of ["first-key", "second-key"]) expect((await effect.ask(key)).status).toBe(202);
      await kit.sandbox.faults.clear();
      const done = await effect.ask("third-key");
      expect(done.status, done.text).toBe(effect.success);

      for (const key of ["first-key", "second-key"]) {
        const late = await effect.ask(key);
        expect(late.status, late.text).toBe(effect.success);
        expect(late.headers["idempotent-replayed"]).toBeUndefined();
        expect(operationIn(late.text)).toEqual(operationIn(done.text));
        const again = await effect.ask(key);
        expect(again.headers["idempotent-replayed"]).toBe("true");
        expect(again.text).toBe(late.text);
      }
      expect(await eventsOf(effect)).toHaveLength(1);
      const after = await kit.sandbox.store.list("operations", {});
      expect(after).toHaveLength(before + 1);
      expect(after.at(-1)?.value.transactions).toHaveLength(1);
      const purchase = await kit.sandbox.store.get("purchases", effect.purchase);
      expect(purchase?.value.status).toBe(effect.status);
    },
  );

  test("that was finished under another key conflicts with a key that began nothing", async () => {
    const effect = await prepare[kind]();
    expect((await effect.ask("first-key")).status).toBe(effect.success);
    const late = await effect.ask("second-key");
    expect(late.status).toBe(409);
    expect(problem(late)).toMatchObject({ code: "state_conflict", current_state: effect.status });
  });
});

test("an offer that another key finished is answered with what has become of the purchase since", async () => {
  const effect = await prepare.offer();
  await kit.sandbox.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
  expect((await effect.ask("first-key")).status).toBe(202);
  const done = await effect.ask("second-key");
  const { event_id } = JSON.parse(done.text);
  const { data: purchase } = await kit.api.GET("/v1/routing/programs/{program}/purchases/{id}", {
    params: { path: { program: kit.program, id: effect.purchase } },
  });
  if (purchase === undefined) throw new Error("The purchase is there.");
  await kit.pay(purchase);
  await kit.reconcile(purchase);
  const claim = await kit.claim(purchase);

  const late = await effect.ask("first-key");
  expect(late.status, late.text).toBe(200);
  expect(JSON.parse(late.text)).toMatchObject({
    purchase: { status: "claimed", claim: { id: claim.id }, route: "registrar_offer" },
    event_id,
  });
});

test("a key that started an offer gets the success of another key, even if it was refused after the revert", async () => {
  const { deployer } = kit.sandbox.wallets;
  const effect = await prepare.offer();
  await kit.sandbox.faults.set({ layer: "relayer", point: "after_signed", action: "hold" });
  expect((await effect.ask("first-key")).status).toBe(202);
  // The pause's block is a new head, with which the relayer sends what was held.
  await deployer.setPaused(kit.program, true);
  await expect
    .poll(async () => (await kit.sandbox.store.list("operations", {})).at(-1)?.value.status)
    .toBe("reverted");
  const refused = await effect.ask("first-key");
  expect([refused.status, problem(refused).code]).toEqual([409, "registrar_bound_exceeded"]);
  await deployer.setPaused(kit.program, false);
  const done = await effect.ask("second-key");
  expect(done.status, done.text).toBe(200);
  const late = await effect.ask("first-key");
  expect(late.status, late.text).toBe(200);
  expect(operationIn(late.text)).toEqual(operationIn(done.text));
  expect(await eventsOf(effect)).toHaveLength(1);
});

test("a key under which an offer began conflicts when the merchant has registered the purchase instead", async () => {
  const effect = await prepare.offer();
  await kit.sandbox.faults.set({ layer: "relayer", point: "after_intent", action: "hold" });
  expect((await effect.ask("first-key")).status).toBe(202);
  const transaction_hash = await kit.act("merchant", "purchase", effect.purchase, "register");
  const registered = await kit.post(kit.path(`/purchases/${effect.purchase}/registration`), {
    transaction_hash,
  });
  expect(registered.status, registered.text).toBe(200);
  const late = await effect.ask("first-key");
  expect(late.status).toBe(409);
  expect(problem(late)).toMatchObject({ code: "state_conflict", current_state: "active" });
});

function operationIn(text: string): unknown {
  return JSON.parse(text).operation;
}
