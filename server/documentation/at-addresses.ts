import type { Urls } from "../http/services.ts";

/** The ports of `start`. */
export const defaultPorts: { readonly [P in keyof Urls]: number } = {
  api: 4020,
  docs: 4021,
  control: 4022,
  rpc: 8545,
};

/** The addresses that the documentation is written with. */
export const defaultUrls: Urls = {
  api: `http://127.0.0.1:${defaultPorts.api}`,
  docs: `http://127.0.0.1:${defaultPorts.docs}`,
  control: `http://127.0.0.1:${defaultPorts.control}`,
  rpc: `http://127.0.0.1:${defaultPorts.rpc}`,
};

/** Returns a text of the documentation with a sandbox's own addresses in place of the default ones. */
export function atAddresses(text: string, urls: Urls): string {
  const parts = Object.keys(defaultUrls) as (keyof Urls)[];
  const own = new Map(parts.map((part) => [defaultUrls[part], urls[part]]));
  return text.replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, (address) => own.get(address) ?? address);
}
