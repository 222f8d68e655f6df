import { URL } from "../../protocol/globals.ts";
import { fetchDirect } from "../lib/http/direct/fetch-direct.ts";

/** A method that the control API takes. */
export type ControlMethod = "GET" | "POST" | "PUT" | "DELETE";

/**
 * Sends a request to the control API of a running sandbox.
 *
 * @param controlUrl - `urls.control` of the sandbox's description.
 * @param body - sent as JSON; none when left out.
 * @param signal - ends the request; without one it waits as long as the response takes.
 */
export async function askControl(
  controlUrl: string,
  method: ControlMethod,
  path: string,
  body?: object,
  signal?: AbortSignal,
): Promise<Response> {
  const content =
    body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  return await fetchDirect(new URL(path, controlUrl), { method, ...content, ...(signal && { signal }) });
}
