import type { Client } from "openapi-fetch";
import type { components, paths } from "./api.generated.ts";
import { unwrap } from "./problem-error.ts";
import { requireArgument, requireProgram } from "./require-argument.ts";

type Schemas = components["schemas"];

/** The fields of an object that its path contains. */
interface Addressed {
  program: string;
  id: string;
}

/** The writes of the lifecycle: each returns the created or changed object, or throws a `ProblemError`. */
export interface LifecycleWrites {
  /**
   * Creates a merchant (`POST …/merchants`).
   *
   * @example const merchant = await client.retrying.createMerchant("prg_demo", { wallet, name: "Shop", funding_cap: "60000000" })
   */
  createMerchant(program: string, body: Schemas["CreateMerchant"]): Promise<Schemas["Merchant"]>;
  /**
   * Confirms a merchant's enrollment (`POST …/enrollment`). Without a body the service uses what the wallet submitted.
   *
   * @example await client.retrying.enroll(merchant, (await wallets.merchant.enroll(merchant)).body)
   */
  enroll(merchant: Addressed, body?: Schemas["ConfirmEnrollment"]): Promise<Schemas["Merchant"]>;
  /**
   * Creates a purchase of a merchant (`POST …/purchases`).
   *
   * @example const purchase = await client.retrying.createPurchase(merchant, { buyer, amount: "25000000", terms: { order: 1001 } })
   */
  createPurchase(
    merchant: Addressed,
    body: Omit<Schemas["CreatePurchase"], "merchant_id">,
  ): Promise<Schemas["Purchase"]>;
  /**
   * Activates a purchase: the relayer sends the offer (`POST …/activate`).
   *
   * @example const active = await client.retrying.activate(purchase)
   */
  activate(purchase: Addressed & { commitment: { hash: Schemas["Hash"] } }): Promise<Schemas["Purchase"]>;
  /**
   * Confirms the registration by the merchant's wallet (`POST …/registration`).
   *
   * @example const { transaction_hash } = await wallets.merchant.register(purchase);
   * @example await client.retrying.register(purchase, { transaction_hash })
   */
  register(purchase: Addressed, body?: Schemas["ConfirmRegistration"]): Promise<Schemas["Purchase"]>;
  /**
   * Records payments on the chain (`POST …/reconcile`). Without a body it records all payments of the purchase.
   *
   * @example const { figures } = await client.retrying.reconcile(purchase)
   */
  reconcile(purchase: Addressed, body?: Schemas["ReconcilePurchase"]): Promise<Schemas["Purchase"]>;
  /**
   * Files a claim (`POST …/claims`).
   *
   * @example const claim = await client.retrying.claim(purchase, (await wallets.beneficiary.claim(purchase, { amount, reason })).body)
   */
  claim(purchase: Addressed, body?: Schemas["FileClaim"]): Promise<Schemas["Claim"]>;
  /**
   * Records a decision (`POST …/decisions`). `reviewer.sign()` returns its body.
   *
   * @example const decision = await client.retrying.decide(purchase, await reviewer.sign(purchase, claim, { award: "5000000" }))
   */
  decide(purchase: Addressed, body: Schemas["RecordDecision"]): Promise<Schemas["Decision"]>;
  /**
   * Executes a refund (`POST …/refunds`).
   *
   * @example const refund = await client.retrying.refund(purchase, decision)
   */
  refund(purchase: Addressed, decision: Pick<Schemas["Decision"], "id">): Promise<Schemas["Refund"]>;
  /**
   * Delivers a notification (`POST …/notifications`), by default the oldest undelivered event.
   *
   * @example const { status } = await client.retrying.deliver("prg_demo")
   */
  deliver(program: string, event?: { id: string }): Promise<Schemas["Notification"]>;
}

/**
 * Returns the lifecycle writes of a client. Each call sends its own idempotency key.
 *
 * @param nextKey - returns a key that no other request has.
 */
export function lifecycleWrites(client: Client<paths>, nextKey: () => Promise<string>): LifecycleWrites {
  const { under, of, ofMerchant, ofPurchase } = requestParams(nextKey);
  return {
    async createMerchant(program, body) {
      const params = await under("createMerchant", program, body);
      return unwrap(await client.POST("/v1/routing/programs/{program}/merchants", { params, body }));
    },
    async enroll(merchant, body = {}) {
      const path = "/v1/routing/programs/{program}/merchants/{id}/enrollment";
      return unwrap(await client.POST(path, { params: await ofMerchant("enroll", merchant, body), body }));
    },
    async createPurchase(merchant, terms) {
      requireArgument("createPurchase", "addressedMerchant", merchant);
      const body = { ...terms, merchant_id: merchant.id };
      const params = await under("createPurchase", merchant.program, terms);
      return unwrap(await client.POST("/v1/routing/programs/{program}/purchases", { params, body }));
    },
    async activate(purchase) {
      requireArgument("activate", "decided", purchase);
      const path = "/v1/routing/programs/{program}/purchases/{id}/activate";
      const body = { commitment_hash: purchase.commitment.hash };
      return unwrap(await client.POST(path, { params: await of(purchase), body })).purchase;
    },
    async register(purchase, body = {}) {
      const path = "/v1/routing/programs/{program}/purchases/{id}/registration";
      return unwrap(await client.POST(path, { params: await ofPurchase("register", purchase, body), body }));
    },
    async reconcile(purchase, body = {}) {
      const path = "/v1/routing/programs/{program}/purchases/{id}/reconcile";
      return unwrap(await client.POST(path, { params: await ofPurchase("reconcile", purchase, body), body }))
        .purchase;
    },
    async claim(purchase, body = {}) {
      const path = "/v1/routing/programs/{program}/purchases/{id}/claims";
      return unwrap(await client.POST(path, { params: await ofPurchase("claim", purchase, body), body }));
    },
    async decide(purchase, body) {
      const path = "/v1/routing/programs/{program}/purchases/{id}/decisions";
      return unwrap(await client.POST(path, { params: await ofPurchase("decide", purchase, body), body }));
    },
    async refund(purchase, decision) {
      requireArgument("refund", "addressedPurchase", purchase);
      requireArgument("refund", "decision", decision);
      const path = "/v1/routing/programs/{program}/purchases/{id}/refunds";
      const body = { decision_id: decision.id };
      return unwrap(await client.POST(path, { params: await of(purchase), body })).refund;
    },
    async deliver(program, event) {
      if (event !== undefined) requireArgument("deliver", "event", event);
      const path = "/v1/routing/programs/{program}/notifications";
      const body = event === undefined ? {} : { event_id: event.id };
      return unwrap(await client.POST(path, { params: await under("deliver", program, body), body }))
        .notification;
    },
  };
}

/** Returns the parameters of requests, each with an idempotency key of its own. @throws SandboxError argument_invalid */
function requestParams(nextKey: () => Promise<string>) {
  const header = async () => ({ "Idempotency-Key": await nextKey() });
  const of = async ({ program, id }: Addressed) => ({ path: { program, id }, header: await header() });
  return {
    async under(write: string, program: string, body: object) {
      requireProgram(write, program);
      requireArgument(write, "body", body);
      return { path: { program }, header: await header() };
    },
    of,
    async ofMerchant(write: string, merchant: Addressed, body: object) {
      requireArgument(write, "addressedMerchant", merchant);
      requireArgument(write, "body", body);
      return await of(merchant);
    },
    async ofPurchase(write: string, purchase: Addressed, body: object) {
      requireArgument(write, "addressedPurchase", purchase);
      requireArgument(write, "body", body);
      return await of(purchase);
    },
  };
}
