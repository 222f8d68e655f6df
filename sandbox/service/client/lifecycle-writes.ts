import type { Client } from "openapi-fetch";
import type { components, paths } from "./api.generated.ts";
import { unwrap } from "./problem-error.ts";

type Schemas = components["schemas"];

/** An object of a program, as far as its path needs it. */
interface Addressed {
  program: string;
  id: string;
}

/** The writes of the lifecycle: each returns the created or changed object, or throws a `ProblemError`. */
export interface LifecycleWrites {
  /** Creates a merchant (operation 4). */
  createMerchant(program: string, body: Schemas["CreateMerchant"]): Promise<Schemas["Merchant"]>;
  /** Confirms a merchant's enrollment (operation 5). */
  enroll(merchant: Addressed, body?: Schemas["ConfirmEnrollment"]): Promise<Schemas["Merchant"]>;
  /** Creates a purchase (operation 6). */
  createPurchase(
    merchant: Addressed,
    body: Omit<Schemas["CreatePurchase"], "merchant_id">,
  ): Promise<Schemas["Purchase"]>;
  /** Activates a purchase by the relayer's offer (operation 8). */
  activate(purchase: Addressed & { commitment: { hash: Schemas["Hash"] } }): Promise<Schemas["Purchase"]>;
  /** Confirms the registration by the merchant's wallet (operation 9). */
  register(purchase: Addressed, body?: Schemas["ConfirmRegistration"]): Promise<Schemas["Purchase"]>;
  /** Reconciles payments (operation 10). */
  reconcile(purchase: Addressed, body?: Schemas["ReconcilePurchase"]): Promise<Schemas["Purchase"]>;
  /** Files a claim (operation 11). */
  claim(purchase: Addressed, body?: Schemas["FileClaim"]): Promise<Schemas["Claim"]>;
  /** Records a decision (operation 12); `reviewer.sign()` returns its body. */
  decide(purchase: Addressed, body: Schemas["RecordDecision"]): Promise<Schemas["Decision"]>;
  /** Executes a refund (operation 13). */
  refund(purchase: Addressed, decision: Pick<Schemas["Decision"], "id">): Promise<Schemas["Refund"]>;
  /** Delivers a notification (operation 14); by default of the oldest undelivered event. */
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
