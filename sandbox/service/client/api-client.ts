import createClient, { type Client } from "openapi-fetch";
import type { paths } from "./api.generated.ts";

export type { components, paths } from "./api.generated.ts";
export { type ProblemCheck, ProblemError, unwrap } from "./problem-error.ts";

/** A client of the routing API whose paths, parameters, bodies and answers are those of its OpenAPI description. */
export type ApiClient = Client<paths>;

/**
 * Makes a typed client of one routing API.
 *
 * @param bearer - an account key or a credential, sent with every request.
 * @example
 * const api = createApiClient(urls.api, credential);
 * const answer = await api.POST("/v1/routing/programs/{program}/purchases", {
 *   params: { path: { program: "prg_demo" }, header: { "Idempotency-Key": "order-1001" } },
 *   body: { merchant_id, buyer, amount: "25000000", terms: { sku: "course-42" } },
 * });
 * const purchase = unwrap(answer);
 */
export function createApiClient(baseUrl: string, bearer?: string): ApiClient {
  return createClient<paths>({
    baseUrl,
    ...(bearer === undefined ? {} : { headers: { Authorization: `Bearer ${bearer}` } }),
  });
}
