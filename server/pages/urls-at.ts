import type { Urls } from "../http/services.ts";

/**
 * Returns the URLs of a sandbox under the name by which a browser has reached one of them: the others are at the same name, but for a node of
 * another host.
 *
 * @example urlsAt(request.hostname, settings.urls).rpc // "http://sandbox:8545"
 */
export function urlsAt(hostname: string, urls: Urls): Urls {
  const own = new URL(urls.api).hostname;
  const at = (url: string) =>
    new URL(url).hostname === own ? Object.assign(new URL(url), { hostname }).origin : url;
  return { api: at(urls.api), docs: at(urls.docs), rpc: at(urls.rpc), control: at(urls.control) };
}

/** Returns an HTML page whose links lead to a sandbox's URLs, with links under the name by which a browser has reached it. */
export function linkAt(hostname: string, urls: Urls, html: string): string {
  const { api, docs, rpc, control } = urlsAt(hostname, urls);
  return html
    .replaceAll(urls.api, api)
    .replaceAll(urls.docs, docs)
    .replaceAll(urls.rpc, rpc)
    .replaceAll(urls.control, control);
}
