import type { IncomingMessage } from "node:http";

/**
 * Whether a request comes from a program on this machine or from the host's own page, and not from another web page: its Host is the
 * host's, and what a browser says of where it comes from is the host's own origin. Another page may link to the host, no more.
 */
export function isOwn({ method, headers }: IncomingMessage, host: string): boolean {
  const known = [host, host.replace("127.0.0.1", "localhost")];
  if (headers.host === undefined || !known.includes(headers.host)) return false;
  if (headers.origin !== undefined) return headers.origin === `http://${headers.host}`;
  const site = headers["sec-fetch-site"] ?? "none";
  const followsLink = method === "GET" && headers["sec-fetch-mode"] === "navigate";
  return site === "none" || site === "same-origin" || followsLink;
}
