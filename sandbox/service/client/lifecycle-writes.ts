import type { Client } from "openapi-fetch";
import type { components, paths } from "./api.generated.ts";
import { unwrap } from "./problem-error.ts";

type Schemas = components["schemas"];

/** An object of a program, as far as its path needs it. */
interface Addressed {
  program: string;
  id: string;
}

/** The writes of the lifecycle: each returns what it made or changed, or throws a `ProblemError`. */
export interface LifecycleWrites {
  /** Operation 4. */
  createMerchant(program: string, body: Schemas["CreateMerchant"]): Promise<Schemas["Merchant"]>;
  /** Operation 5. */
  enroll(merchant: Addressed, body?: Schemas["ConfirmEnrollment"]): Promise<Schemas["Merchant"]>;
  /** Operation 6. */
  createPurchase(
    merchant: Addressed,
    body: Omit<Schemas["CreatePurchase"], "merchant_id">,
  ): Promise<Schemas["Purchase"]>;
  /** Operation 8: the relayer offers the purchase. */
  activate(purchase: Addressed & { commitment: { hash: Schemas["Hash"] } }): Promise<Schemas["Purchase"]>;
  /** Operation 9: the merchant's wallet has registered the purchase. */
  register(purchase: Addressed, body?: Schemas["ConfirmRegistration"]): Promise<Schemas["Purchase"]>;
  /** Operation 10. */
  reconcile(purchase: Addressed, body?: Schemas["ReconcilePurchase"]): Promise<Schemas["Purchase"]>;
  /** Operation 11. */
  claim(purchase: Addressed, body?: Schemas["FileClaim"]): Promise<Schemas["Claim"]>;
  /** Operation 12, with what `reviewer.sign()` returns. */
  decide(purchase: Addressed, body: Schemas["RecordDecision"]): Promise<Schemas["Decision"]>;
  /** Operation 13. */
  refund(purchase: Addressed, decision: Pick<Schemas["Decision"], "id">): Promise<Schemas["Refund"]>;
  /** Operation 14: the oldest undelivered event, unless one is named. */
  deliver(program: string, event?: { id: string }): Promise<Schemas["Notification"]>;
}

/**
 * Names the writes of a client, each of which gets an idempotency key of its own.
 *
 * @param nextKey - a key that no other request has.
 */
export function lifecycleWrites(client: Client<paths>, nextKey: () => Promise<string>): LifecycleWrites {
  const header = async () => ({ "Idempotency-Key": await nextKey() });
  const under = async (program: string) => ({ path: { program }, header: await header() });
  const of = async ({ program, id }: Addressed) => ({ path: { program, id }, header: await header() });
  return {
    async createMerchant(program, body) {
      const params = await under(program);
      return unwrap(await client.POST("/v1/routing/programs/{program}/merchants", { params, body }));
    },
    async enroll(merchant, body = {}) {
      const path = "/v1/routing/programs/{program}/merchants/{id}/enrollment";
      return unwrap(await client.POST(path, { params: await of(merchant), body }));
    },
    async createPurchase(merchant, terms) {
      const body = { ...terms, merchant_id: merchant.id };
      const params = await under(merchant.program);
      return unwrap(await client.POST("/v1/routing/programs/{program}/purchases", { params, body }));
    },
    async activate(purchase) {
      const path = "/v1/routing/programs/{program}/purchases/{id}/activate";
      const body = { commitment_hash: purchase.commitment.hash };
      return unwrap(await client.POST(path, { params: await of(purchase), body })).purchase;
    },
    async register(purchase, body = {}) {
      const path = "/v1/routing/programs/{program}/purchases/{id}/registration";
      return unwrap(await client.POST(path, { params: await of(purchase), body }));
    },
    async reconcile(purchase, body = {}) {
      const path = "/v1/routing/programs/{program}/purchases/{id}/reconcile";
      return unwrap(await client.POST(path, { params: await of(purchase), body })).purchase;
    },
    async claim(purchase, body = {}) {
      const path = "/v1/routing/programs/{program}/purchases/{id}/claims";
      return unwrap(await client.POST(path, { params: await of(purchase), body }));
    },
    async decide(purchase, body) {
      const path = "/v1/routing/programs/{program}/purchases/{id}/decisions";
      return unwrap(await client.POST(path, { params: await of(purchase), body }));
    },
    async refund(purchase, { id: decision_id }) {
      const path = "/v1/routing/programs/{program}/purchases/{id}/refunds";
      return unwrap(await client.POST(path, { params: await of(purchase), body: { decision_id } })).refund;
    },
    async deliver(program, event) {
      const path = "/v1/routing/programs/{program}/notifications";
      const body = event === undefined ? {} : { event_id: event.id };
      return unwrap(await client.POST(path, { params: await under(program), body })).notification;
    },
  };
}
