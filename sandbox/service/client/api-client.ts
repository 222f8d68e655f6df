import createClient, { type Client, type Middleware } from "openapi-fetch";
import type { paths } from "./api.generated.ts";
import { type LifecycleWrites, lifecycleWrites } from "./lifecycle-writes.ts";
import { mostRequests, type RetryPolicy, retryingFetch, waitInRealTime } from "./retrying-fetch.ts";

export type { components, paths } from "./api.generated.ts";
export type { LifecycleWrites } from "./lifecycle-writes.ts";
export { type ProblemCheck, ProblemError, unwrap } from "./problem-error.ts";
export { RetryLimitError, type RetryPolicy, type Wait } from "./retrying-fetch.ts";

/** Sends a request, as `fetch` does. */
export type SendRequest = (request: Request) => Promise<Response>;

/**
 * A client that sends each request again, identically and with the same Idempotency-Key, until its outcome is known; its named writes
 * also unwrap the answer.
 */
export interface RetryingClient extends Client<paths>, LifecycleWrites {}

/** A client of the routing API whose paths, parameters, bodies and answers are those of its OpenAPI description. */
export interface ApiClient extends Client<paths> {
  /** The same client, which resends on a lost connection, a 5xx, a 202 and any other answer with Retry-After. */
  readonly retrying: RetryingClient;
}

/** How a client sends, how `retrying` waits, and which idempotency keys its named writes have. */
export interface ApiClientOptions extends Partial<RetryPolicy> {
  /** Returns an idempotency key that no other request has; a random UUID by default. */
  nextKey?: () => Promise<string>;
  /** Sends each request; the global `fetch` by default. */
  fetch?: SendRequest;
}

/**
 * Makes a typed client of one routing API. Middleware applies to the client and to `retrying`.
 *
 * @param bearer - an account key or a credential, sent with every request.
 * @param options - by default `retrying` sends 20 requests at most and waits in real time.
 * @example
 * const api = createApiClient(urls.api, credential);
 * const answer = await api.POST("/v1/routing/programs/{program}/purchases", {
 *   params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": "order-1001" } },
 *   body: { merchant_id, buyer, amount: "25000000", terms: { sku: "course-42" } },
 * });
 * const purchase = unwrap(answer);
 * const refund = await api.retrying.refund(purchase, decision);
 */
export function createApiClient(baseUrl: string, bearer?: string, options: ApiClientOptions = {}): ApiClient {
  const { nextKey = async () => crypto.randomUUID(), fetch: send = fetch, ...policy } = options;
  const common = {
    baseUrl,
    ...(bearer === undefined ? {} : { headers: { Authorization: `Bearer ${bearer}` } }),
  };
  const client = createClient<paths>({ ...common, fetch: send });
  const resend = retryingFetch({ mostRequests, wait: waitInRealTime, ...policy }, send);
  const resending = createClient<paths>({ ...common, fetch: resend });
  const middleware = {
    use(...added: Middleware[]) {
      client.use(...added);
      resending.use(...added);
    },
    eject(...removed: Middleware[]) {
      client.eject(...removed);
      resending.eject(...removed);
    },
  };
  const writes = lifecycleWrites(resending, nextKey);
  return { ...client, ...middleware, retrying: { ...resending, ...middleware, ...writes } };
}
