import type { IncomingMessage, ServerResponse } from "node:http";
import { type HostNames, originOf, type PagePolicy } from "./host-and-origin.ts";

/** The paths whose answers pages of other origins may read (Fetch standard, CORS protocol). */
export interface SharedPaths {
  prefix: string;
  methods: readonly string[];
  /** The pages that may read them. */
  pages: PagePolicy;
}

/** The time that a browser may keep the answer to a preflight, in seconds. */
const preflightSeconds = 600;

/** The headers that a page may send: besides the API's own headers those of the Trace Context standard and of Sentry, which pages add to all requests. */
const sent = "Accept, Content-Type, Idempotency-Key, traceparent, tracestate, baggage, sentry-trace";
/** The headers that a page may read, besides those that every page may. */
const exposed = "Idempotent-Replayed, Retry-After, X-Request-Id";

/** Has the browser show a page the answer if it may read it, and answers a preflight: returns whether it was one. */
export function sharePage(
  request: IncomingMessage,
  response: ServerResponse,
  hosts: HostNames,
  { prefix, methods, pages }: SharedPaths,
): boolean {
  const { method = "", url = "", headers } = request;
  if (!url.startsWith(prefix)) return false;
  response.setHeader("Vary", "Origin");
  if (headers.origin === undefined) return false;
  if (!pages(originOf(headers.origin), { host: headers.host ?? "", method, hosts })) return false;
  response.setHeader("Access-Control-Allow-Origin", headers.origin);
  if (method !== "OPTIONS") {
    response.setHeader("Access-Control-Expose-Headers", exposed);
    return false;
  }
  response.writeHead(204, {
    "Access-Control-Allow-Methods": methods.join(", "),
    "Access-Control-Allow-Headers": sent,
    "Access-Control-Max-Age": preflightSeconds,
  });
  response.end();
  return true;
}
