import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { fetch, Headers, Request, Response, URL } from "../../../../protocol/globals.ts";
import { readBytes } from "../read-bytes.ts";
import { DirectAgent, requestDirect } from "./connect-direct.ts";
import { withOwnGlobals } from "./with-own-globals.ts";

// It keeps no connection: one that the server closes as the next request is sent would be taken for a lost response.
const agent = new DirectAgent();

/** Requests whose response has not ended: a signal aborts one only as long as its object is not collected. */
const inProgress = new Set<Request>();

/** The hosts of this machine's loopback. */
const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The longest response, in bytes: Node cannot have a longer text. */
const mostBytes = 2 ** 29;

/** The statuses of responses without a body (RFC 9110), to which `Response` accepts none. */
const bodiless = [204, 205, 304];

/**
 * Sends a request to a sandbox as `fetch` would, and reads the whole response, unless it is a stream of events, which has no end. It uses neither
 * the process's `fetch`, which tests replace, nor the proxy of the environment. It follows no redirect.
 *
 * @throws TypeError as `fetch` does when the connection is lost; the reason of a signal that aborts the request.
 */
export async function fetchDirect(input: Request | URL | string, init?: RequestInit): Promise<Response> {
  const request =
    typeof input === "string" || "href" in input ? withOwnGlobals(() => new Request(input, init)) : input;
  const { method, url, signal } = request;
  signal.throwIfAborted();
  const body = Buffer.from(await request.arrayBuffer());
  const headers = Object.fromEntries(request.headers);
  if (body.length > 0) headers["content-length"] = String(body.length);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  try {
    requestDirect(url, { method, headers, agent, signal })
      .once("response", resolve)
      .once("error", reject)
      .once("close", () => inProgress.delete(request))
      .end(body);
    inProgress.add(request);
    return await readResponse(await promise);
  } catch (cause) {
    signal.throwIfAborted();
    throw new TypeError("fetch failed", { cause });
  }
}

/** Sends a request as {@link fetchDirect} if it is for a sandbox on this machine, and with the process's `fetch` otherwise. */
export async function fetchFromSandbox(request: Request): Promise<Response> {
  const { protocol, hostname } = new URL(request.url);
  const isLocal = protocol === "http:" && loopback.test(hostname);
  if (isLocal) return await fetchDirect(request);
  // A sandbox elsewhere may be reached through the proxy of the environment, or through what the tests have replaced.
  const { fetch: current = fetch } = globalThis;
  return await current(request);
}

async function readResponse(answer: IncomingMessage): Promise<Response> {
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = answer;
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
  if (answer.headers["content-type"]?.startsWith("text/event-stream"))
    return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, {
      status,
      statusText,
      headers,
    });
  const bytes = await readBytes(answer, mostBytes);
  if (bytes === null) throw new Error(`The response has more than ${mostBytes} bytes.`);
  const body = bodiless.includes(status) ? null : new Uint8Array(bytes);
  return new Response(body, { status, statusText, headers });
}
