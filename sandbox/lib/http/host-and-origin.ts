import type { IncomingMessage } from "node:http";
import { URL } from "../../../protocol/globals.ts";
import { Problem } from "../../../server/errors/problem.ts";

/**
 * A function that decides which pages in a browser may call a listener. Programs say nothing of a page and are not
 * asked for one.
 *
 * @param origin - null when the browser says no more than that the page is of another origin.
 */
export type PagePolicy = (
  origin: URL | null,
  asked: { host: string; method: string; hosts: HostNames },
) => boolean;

/** Pages of any site: for what is public and only read. */
export const anyPage: PagePolicy = () => true;

/** The pages that the listener itself serves, also through a proxy that speaks TLS. */
export const ownPages: PagePolicy = (origin, { host }) =>
  isOfWeb(origin) && URL.parse(`${origin.protocol}//${host}`)?.host === origin.host;

/** Pages of any site may read; what changes something comes from pages of this machine or of the sandbox only. */
export const localPagesWrite: PagePolicy = (origin, asked) =>
  asked.method === "GET" ||
  asked.method === "HEAD" ||
  isLocal(origin) ||
  ownPages(origin, asked) ||
  isOfSandbox(origin, asked.hosts);

/**
 * Pages of this machine, on any port, pages of the sandbox under an allowed name, and browser extensions: an integrator's own application,
 * the wallet page and injected wallets.
 */
export const walletPages: PagePolicy = (origin, { hosts }) =>
  isLocal(origin) || isOfSandbox(origin, hosts) || (origin !== null && extensions.has(origin.protocol));

/** The names of this machine that every listener accepts. */
const ownNames = ["127.0.0.1", "localhost", "[::1]"];
const extensions = new Set(["chrome-extension:", "moz-extension:", "safari-web-extension:"]);

/** The names in a Host header that a listener accepts. */
export interface HostNames {
  /** The port that it listens on; the listener's own names are accepted with this port only. */
  port: number;
  /** The names that are accepted with any port, or with one that they end with; null where none can be allowed. */
  allowed: readonly string[] | null;
  /** The ports of this sandbox: under an allowed name without a port, the pages of these ports are the sandbox's own. */
  ownPorts: ReadonlySet<number>;
  /** The origins of pages on other machines that count as those of this machine. */
  origins: readonly string[];
}

/**
 * Refuses a request that is not for this listener: its Host or its target names another one (DNS rebinding), or a page of another site
 * sends it (CSRF). Null when it is for this listener.
 */
export function refuseCaller(request: IncomingMessage, hosts: HostNames, pages: PagePolicy): Problem | null {
  const { port } = hosts;
  const [host, ...more] = request.headersDistinct["host"] ?? [];
  const known = `127.0.0.1:${port} or localhost:${port}`;
  if (host === undefined)
    return new Problem("request_malformed", `The Host header is missing. Send it once: ${known}.`);
  if (more.length > 0)
    return new Problem(
      "request_malformed",
      `The Host header was sent ${more.length + 1} times. Send it once: ${known}.`,
    );
  const allow =
    hosts.allowed === null
      ? ""
      : ", or allow the name with the option allowHosts (routing-sandbox start --allow-host <name>)";
  const use = `Use http://127.0.0.1:${port} or http://localhost:${port}${allow}.`;
  if (!isNamed(host, hosts))
    return new Problem("host_not_allowed", `The Host ${host} is not this sandbox's. ${use}`);
  const target = absoluteTarget(request.url);
  if (target !== null && !(target.scheme === "http" && isNamed(target.authority, hosts)))
    return new Problem(
      "host_not_allowed",
      `The request target names ${target.scheme}://${target.authority}, which is not this sandbox. ${use}`,
    );
  const page = pageOf(request);
  if (page === null || pages(page.origin, { host, method: request.method ?? "", hosts })) return null;
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
  if (origin !== undefined) return { origin: originOf(origin) };
  const followsLink = method === "GET" && mode === "navigate";
  return site === "none" || site === "same-origin" || followsLink ? null : { origin: null };
}

/** The page that an Origin header names; null for `null`, which a page without an origin sends. */
export function originOf(origin: string): URL | null {
  return URL.parse(origin);
}

/** Tells whether a text can be the value of a Host header: a name or an address, and perhaps a port (RFC 9110, 7.2). */
export function isHostName(text: string): boolean {
  if (!/^([a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.test(text)) return false;
  return URL.canParse(`http://${text}`);
}

function isNamed(host: string, { port, allowed }: HostNames): boolean {
  const asked = host.toLowerCase();
  const isOwn = ownNames.some((name) => asked === `${name}:${port}` || (port === 80 && asked === name));
  const name = asked.replace(/:\d{1,5}$/, "");
  return isOwn || (allowed ?? []).some((one) => one === asked || one === name);
}

function isLocal(origin: URL | null): boolean {
  return isOfWeb(origin) && ownNames.includes(origin.hostname);
}

/** Tells whether a page is of an allowed origin, of an allowed name with its port, or of an allowed name with a port of the sandbox. */
function isOfSandbox(origin: URL | null, { allowed, ownPorts, origins }: HostNames): boolean {
  if (origin !== null && origins.includes(origin.origin)) return true;
  if (!isOfWeb(origin) || allowed === null) return false;
  const { hostname, protocol } = origin;
  const port = Number(origin.port || (protocol === "https:" ? 443 : 80));
  return allowed.includes(`${hostname}:${port}`) || (ownPorts.has(port) && allowed.includes(hostname));
}

function isOfWeb(origin: URL | null): origin is URL {
  return origin?.protocol === "http:" || origin?.protocol === "https:";
}
