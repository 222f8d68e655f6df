import type { IncomingMessage } from "node:http";

/**
 * Which pages in a browser may call a listener. Programs say nothing of a page and are not asked for one.
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
 * Says why a request is not answered: its Host is none of this machine's names (DNS rebinding), or a page of another site makes it
 * (CSRF). Null when it is answered.
 *
 * @param port - the port that the request came in on.
 */
export function refusalOf(request: IncomingMessage, port: number, pages: PagePolicy): string | null {
  const { host } = request.headers;
  if (host === undefined || !isNamed(host, port))
    return `The Host ${host ?? "is missing"} is not this sandbox's: use http://127.0.0.1:${port} or http://localhost:${port}.`;
  const page = pageOf(request);
  if (page === null || pages(page.origin, { host, method: request.method ?? "" })) return null;
  return `A page of ${request.headers.origin ?? "another site"} may not do this: the sandbox answers programs and pages on this machine only.`;
}

/** The page that makes a request, or null when it is a program, the listener's own page or a link that somebody follows. */
function pageOf({ method, headers }: IncomingMessage): { origin: URL | null } | null {
  const { origin, "sec-fetch-site": site = "none", "sec-fetch-mode": mode } = headers;
  if (origin !== undefined) return { origin: URL.canParse(origin) ? new URL(origin) : null };
  const followsLink = method === "GET" && mode === "navigate";
  return site === "none" || site === "same-origin" || followsLink ? null : { origin: null };
}

function isNamed(host: string, port: number): boolean {
  return names.some((name) => host === `${name}:${port}` || (port === 80 && host === name));
}

function isLocal(origin: URL | null): boolean {
  return (origin?.protocol === "http:" || origin?.protocol === "https:") && names.includes(origin.hostname);
}
