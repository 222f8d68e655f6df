import type { IncomingMessage } from "node:http";
import { Problem } from "../../../server/api/errors/problem.ts";

/**
 * A function that decides which pages in a browser may call a listener. Programs say nothing of a page and are not
 * asked for one.
 *
 * @param origin - null when the browser says no more than that the page is of another origin.
 */
export type PagePolicy = (origin: URL | null, asked: { host: string; method: string }) => boolean;

/** Pages of any site: for what is public and only read. */
export const anyPage: PagePolicy = () => true;

/** The pages that the listener itself serves. */
export const ownPages: PagePolicy = (origin, { host }) => origin?.origin === `http://${host}`;

/** Pages of any site may read; what changes something comes from pages of this machine only. */
export const localPagesWrite: PagePolicy = (origin, { method }) =>
  method === "GET" || method === "HEAD" || isLocal(origin);

/** Pages of this machine, on any port, and browser extensions: an integrator's own application and injected wallets. */
export const walletPages: PagePolicy = (origin) =>
  isLocal(origin) || (origin !== null && extensions.has(origin.protocol));

const names = ["127.0.0.1", "localhost", "[::1]"];
const extensions = new Set(["chrome-extension:", "moz-extension:", "safari-web-extension:"]);

/**
 * Refuses a request that is not for this listener: its Host or its target names another one (DNS rebinding), or a page of another site
 * sends it (CSRF). Null when it is for this listener.
 *
 * @param port - the port that the request came in on.
 */
export function refuseCaller(request: IncomingMessage, port: number, pages: PagePolicy): Problem | null {
  const [host, ...more] = request.headersDistinct["host"] ?? [];
  const known = `127.0.0.1:${port} or localhost:${port}`;
  if (host === undefined)
    return new Problem("request_malformed", `The Host header is missing. Send it once: ${known}.`);
  if (more.length > 0)
    return new Problem(
      "request_malformed",
      `The Host header was sent ${more.length + 1} times. Send it once: ${known}.`,
    );
  const use = `Use http://127.0.0.1:${port} or http://localhost:${port}.`;
  if (!isNamed(host, port))
    return new Problem("host_not_allowed", `The Host ${host} is not this sandbox's. ${use}`);
  const target = absoluteTarget(request.url);
  if (target !== null && !(target.scheme === "http" && isNamed(target.authority, port)))
    return new Problem(
      "host_not_allowed",
      `The request target names ${target.scheme}://${target.authority}, which is not this sandbox. ${use}`,
    );
  const page = pageOf(request);
  if (page === null || pages(page.origin, { host, method: request.method ?? "" })) return null;
  return new Problem(
    "page_not_allowed",
    `A page of ${request.headers.origin ?? "another site"} may not do this. Send the request from a client other than a browser, or from a page that may call this port.`,
  );
}

/** The parts of a target in absolute form (RFC 9112, 3.2.2); null for a path. */
export function absoluteTarget(
  target: string | undefined,
): { scheme: string; authority: string; path: string } | null {
  const [, scheme, authority, path] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is.exec(target ?? "") ?? [];
  if (scheme === undefined || authority === undefined || path === undefined) return null;
  return { scheme: scheme.toLowerCase(), authority, path: path.startsWith("/") ? path : `/${path}` };
}

/** The page that makes a request, or null when it is a program, the listener's own page or a link that is followed. */
function pageOf({ method, headers }: IncomingMessage): { origin: URL | null } | null {
  const { origin, "sec-fetch-site": site = "none", "sec-fetch-mode": mode } = headers;
  if (origin !== undefined) return { origin: URL.canParse(origin) ? new URL(origin) : null };
  const followsLink = method === "GET" && mode === "navigate";
  return site === "none" || site === "same-origin" || followsLink ? null : { origin: null };
}

function isNamed(host: string, port: number): boolean {
  const asked = host.toLowerCase();
  return names.some((name) => asked === `${name}:${port}` || (port === 80 && asked === name));
}

function isLocal(origin: URL | null): boolean {
  return (origin?.protocol === "http:" || origin?.protocol === "https:") && names.includes(origin.hostname);
}
