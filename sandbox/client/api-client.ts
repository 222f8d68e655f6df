import { randomUUID } from "node:crypto";
import type { Client, Middleware } from "openapi-fetch";
import { definedOnly } from "../lib/defined-only.ts";
import { fetchFromSandbox } from "../lib/http/direct/fetch-direct.ts";
import type { paths } from "./api.generated.ts";
import { type LifecycleWrites, lifecycleWrites } from "./lifecycle-writes.ts";
import { mostRequests, type RetryPolicy, retryingFetch, waitInRealTime } from "./retrying-fetch.ts";
import { openTyped, requireFilledPath } from "./typed-client.ts";

export type { components, paths } from "./api.generated.ts";
export type { LifecycleWrites } from "./lifecycle-writes.ts";
export { type ProblemCheck, ProblemError, unwrap } from "./problem-error.ts";
export { RetryLimitError, type RetryPolicy, type Wait } from "./retrying-fetch.ts";

/** Sends a request, as `fetch` does. */
export type SendRequest = (request: Request) => Promise<Response>;

/**
 * A client that repeats each request with the same Idempotency-Key until its outcome is known. Its methods for the writes of the lifecycle also
 * unwrap the answer.
 */
export interface RetryingClient extends Client<paths>, LifecycleWrites {}

/** A client of the routing API, typed by its OpenAPI description. */
export interface ApiClient extends Client<paths> {
  /** The same client with retries: it repeats a request after a lost connection, a 5xx, a 202 and any other answer with Retry-After. */
  readonly retrying: RetryingClient;
}

/** Opens a client that stops repeating requests when a signal aborts. */
export type OpenClientUntil = (end: AbortSignal) => ApiClient;

/** Options of a client: how it sends, how `retrying` waits, and the idempotency keys of its writes. */
export interface ApiClientOptions extends Partial<RetryPolicy> {
  /** Returns a unique idempotency key for a write of `retrying`; by default a random UUID. */
  nextKey?: (send: SendRequest) => Promise<string>;
  /** Sends each request; by default the global `fetch`, and for a sandbox on this machine a function that no stub and no proxy takes the place of. */
  fetch?: SendRequest;
}

/**
 * Creates a typed client of a routing API. Middleware applies to the client and to `retrying`.
 *
 * @param bearer - an account key or a credential, sent with every request.
 * @param options - by default `retrying` sends at most {@link mostRequests} requests and waits in real time.
 * @throws SandboxError argument_invalid when `mostRequests` is not a whole number from 1.
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
  const headers = bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` };
  return openApiClient(baseUrl, { headers, ...options });
}

/**
 * Opens a client as {@link createApiClient} does.
 *
 * @param authorize - returns the fetch that adds a credential to the requests that another one sends; by default none is added.
 *
 * @example openApiClient(urls.api, { fetch }, lazyAccess(urls.api, key).authorize)
 */
export function openApiClient(
  baseUrl: string,
  { headers = {}, ...options }: ApiClientOptions & { headers?: { [name: string]: string } },
  authorize = (send: SendRequest): SendRequest => send,
): ApiClient {
  const { nextKey = async () => randomUUID(), fetch: send = fetchFromSandbox, ...policy } = options;
  const open = (fetch: SendRequest) => openTyped<paths>({ baseUrl, headers, fetch: authorize(fetch) });
  const client = open(send);
  const resend = retryingFetch({ mostRequests, wait: waitInRealTime, ...definedOnly(policy) }, send);
  const resending = open(resend);
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
  middleware.use({ onRequest: requireFilledPath });
  const writes = lifecycleWrites(resending, async () => await nextKey(resend));
  return { ...client, ...middleware, retrying: { ...resending, ...middleware, ...writes } };
}
