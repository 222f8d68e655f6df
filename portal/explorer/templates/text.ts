import { html, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { formatTime, shortenId } from "../format.ts";
import { hrefTo } from "../page-address.ts";

/** The labels of known accounts and contracts, by address in lower case. */
export type Labels = { readonly [address: string]: string };

/** Ids of records and requests, hashes, addresses, and Unix seconds after the word that says that they are a time. */
const linkable =
  /\b(?:pur|mer|req|op|evt|clm|dec|ref)_[a-z2-7]{20}\b|\b0x[0-9a-fA-F]{64}\b|\b0x[0-9a-fA-F]{40}\b|(?<=\b(?:timestamp|\w*[dD]eadline|validUntil|mined at) \(?)\d{10}\b/g;

/**
 * Writes a text with links at its ids, hashes and addresses, with labels before the addresses that are not named already, and with dates behind times in Unix seconds.
 */
export function linked(text: string, labels: Labels): TemplateResult {
  const parts: (string | TemplateResult)[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(linkable)) {
    const before = text.slice(end, index);
    parts.push(before, part(found, before, labels));
    end = index + found.length;
  }
  return html`${[...parts, text.slice(end)]}`;
}

function part(found: string, before: string, labels: Labels): TemplateResult {
  if (/^\d{10}$/.test(found)) return html`${found} <span class="quiet">(${formatUnix(Number(found))})</span>`;
  const link = html`<a href=${hrefOfId(found)} title=${found}><code>${shortenId(found)}</code></a>`;
  const label = labels[found.toLowerCase()];
  // "buyer 0x…" or "the token contract (0x…" has its name; the key of JSON is none.
  return label === undefined || before.replace(/[^\w"]{1,4}$/, "").endsWith(label)
    ? link
    : html`<strong class="label">${label}</strong> ${link}`;
}

/** Formats Unix seconds as a date in UTC. */
export function formatUnix(seconds: number): string {
  return `${formatTime(new Date(seconds * 1_000).toISOString())} UTC`;
}

/** The address of the page of an id, a hash or an account. */
export function hrefOfId(id: string): string {
  const [kind] = id.split("_");
  switch (kind) {
    case "pur":
      return hrefTo("purchases", id);
    case "mer":
      return hrefTo("merchants", "", { q: id });
    case "req":
      return hrefTo("requests", "", { purchase: id });
    case "op":
      return hrefTo("operations", "", { q: id });
    case "evt":
      return hrefTo("events", "", { q: id });
    default:
      return id.length === 42 ? hrefTo("purchases", "", { q: id }) : hrefTo("search", "", { q: id });
  }
}
