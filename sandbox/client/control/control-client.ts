import type { Client } from "openapi-fetch";
import { fetchFromSandbox } from "../../lib/http/direct/fetch-direct.ts";
import { openTyped, requireFilledPath } from "../typed-client.ts";
import type { paths } from "./control.generated.ts";

export { ProblemError, unwrap } from "../problem-error.ts";
export type { components, paths } from "./control.generated.ts";

/** A client of the control API, typed by its OpenAPI description. */
export type ControlClient = Client<paths>;

/**
 * Creates a typed client of the control API of a sandbox.
 *
 * @param baseUrl - `urls.control` of `sandbox.json`.
 * @param options - `fetch` sends each request; by default the global `fetch`, and for a sandbox on this machine a function that no stub and no proxy takes the place of.
 * @example
 * const control = createControlClient(urls.control);
 * const { now } = unwrap(await control.POST("/clock", { body: { seconds: 60 } }));
 */
export function createControlClient(
  baseUrl: string,
  options: { fetch?: (request: Request) => Promise<Response> } = {},
): ControlClient {
  const client = openTyped<paths>({ baseUrl, fetch: options.fetch ?? fetchFromSandbox });
  client.use({ onRequest: requireFilledPath });
  return client;
}
