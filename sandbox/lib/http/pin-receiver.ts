import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { URL } from "../../../protocol/globals.ts";
import { SandboxError } from "../errors/sandbox-error.ts";
import { showValue } from "../errors/show-value.ts";

/** The most characters of a URL. */
const longestUrl = 2_000;

/** An IP address. */
export interface Address {
  address: string;
  family: number;
}

/** Answers the addresses of a host name, or its only one. */
export type Resolve = (
  hostname: string,
) => Promise<Pick<Address, "address"> | readonly Pick<Address, "address">[]>;

/** The receiver of notifications: a URL whose addresses were resolved once and for all. */
export interface PinnedReceiver {
  url: URL;
  /** The first of each family is tried before the second of one. */
  addresses: readonly Address[];
}

/** The system's resolver; IPv4 first, because test servers listen there. */
export const resolveHost: Resolve = async (hostname) =>
  await lookup(hostname, { all: true, order: "ipv4first" });

/**
 * Parses a receiver's URL strictly and pins its addresses: what DNS says later changes nothing.
 *
 * @throws SandboxError receiver_invalid, receiver_unresolved.
 * @example await pinReceiver("http://127.0.0.1:4040/webhooks")
 */
export async function pinReceiver(text: string, resolve: Resolve = resolveHost): Promise<PinnedReceiver> {
  const url = parseReceiver(text);
  const host = bareHost(url);
  if (isIP(host) !== 0) return { url, addresses: [{ address: host, family: isIP(host) }] };
  const found = [await resolveName(host, resolve)].flat();
  const addresses = found.map((one) => {
    const address = String(Object(one).address);
    return { address, family: isIP(address) };
  });
  if (addresses.some(({ family }) => family === 0))
    throw new SandboxError(
      "receiver_unresolved",
      `The option resolveHost returned ${showValue(found)} for ${host}. Return { address } with an IP address, or an array of them.`,
    );
  return { url, addresses };
}

async function resolveName(host: string, resolve: Resolve): ReturnType<Resolve> {
  try {
    const found = await resolve(host);
    if (Array.isArray(found) && found.length === 0) throw new Error("The name has no IP address.");
    return found;
  } catch (cause) {
    throw new SandboxError(
      "receiver_unresolved",
      `The receiver's name ${host} has no address. Correct the name, or make it resolve on this machine.`,
      { cause },
    );
  }
}

/**
 * Returns whether a pinned receiver is the one that listens at a URL, whatever name of its host it was pinned by.
 *
 * @param own - a URL whose host is an address.
 */
export function isPinnedAs({ url, addresses }: PinnedReceiver, own: string): boolean {
  const { hostname, href } = new URL(own);
  const named = new URL(url);
  named.hostname = hostname;
  return addresses[0]?.address === hostname && named.href === href;
}

/** The host of a URL as addresses are written elsewhere: an IPv6 address without its brackets. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

function parseReceiver(text: string): URL {
  const parts = /^(https?):\/\/([^/?#]*)([^#]*)$/i.exec(text);
  const url = URL.parse(text);
  if (!/^https?:/i.test(text))
    throw invalid(text, "is not an absolute http or https URL; pass one such as http://127.0.0.1:4040/");
  if (/[^\x21-\x7e]|\\/.test(text))
    throw invalid(text, "contains a space, a backslash or another character that a URL cannot contain");
  if (text.includes("#"))
    throw invalid(text, "has a fragment; remove it, because requests do not contain it");
  if (url === null || parts === null) throw invalid(text, "is not a URL");
  const [, , authority = ""] = parts;
  if (authority.includes("@")) throw invalid(text, "has a user name or password before the host");
  if (url.port === "0") throw invalid(text, "names port 0");
  if (text.length > longestUrl)
    throw invalid(text, `is longer than ${longestUrl.toLocaleString("en-US")} characters`);
  const host = bareHost(url);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host);
  if (mapped) throw invalid(text, `writes an IPv4 address as IPv6; write ${ipv4Of(mapped)}`);
  const written = authority.replace(/:[0-9]*$/, "").toLowerCase();
  if (written !== url.hostname)
    throw invalid(text, `writes its host in an unusual form; write ${url.hostname}`);
  return url;
}

function ipv4Of([, high = "", low = ""]: readonly string[]): string {
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [first >> 8, first & 255, second >> 8, second & 255].join(".");
}

function invalid(text: string, reason: string): SandboxError {
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  return new SandboxError("receiver_invalid", `The receiver's URL ${JSON.stringify(shown)} ${reason}.`);
}
