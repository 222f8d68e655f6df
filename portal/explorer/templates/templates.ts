import type { AccountView } from "../../../sandbox/explain/address-labels.ts";
import type { SubjectNames } from "../../../sandbox/explorer/views.ts";
import { formatAmount } from "../../amounts/format-amount.ts";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { formatDistance, formatTime, type Measure, nameInWords, shortenId } from "../format.ts";
import { hrefTo } from "../page-address.ts";
import { hrefOfId } from "./text.ts";

/** The result of a template, or nothing. */
export type Template = TemplateResult | typeof nothing;

const copyIcon = html`<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
  <path d="M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8z" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linejoin="round"></path>
</svg>`;

/** A hash, an address or an id by its ends, with a button that copies all of it. */
export function copyable(text: string, what: string, href?: string): TemplateResult {
  const short = html`<code title=${text}>${shortenId(text)}</code>`;
  return html`<span class="copyable"
    >${href === undefined ? short : html`<a href=${href}>${short}</a>`}<button
      type="button"
      class="copy"
      data-copy=${text}
      aria-label=${`Copy ${what} ${shortenId(text)}`}
      title="Copy"
    >${copyIcon}</button></span
  >`;
}

/** A transaction's hash; it leads to its explanation. */
export function transaction(hash: string | null): Template {
  return hash === null ? nothing : copyable(hash, "transaction hash", hrefTo("transactions", hash));
}

/** A purchase's id; it leads to its timeline. */
export function purchaseLink(id: string): TemplateResult {
  return copyable(id, "purchase id", hrefTo("purchases", id));
}

/** A block's number; it leads to the block. */
export function blockLink(number: number | null): Template {
  if (number === null) return nothing;
  return html`<a href=${hrefTo("blocks", "", { cursor: String(number) })}>block ${number}</a>`;
}

/** Renders a link to the subject of an event or an operation. */
export function subjectLink(id: string): TemplateResult {
  if (id.startsWith("pur_")) return purchaseLink(id);
  return copyable(id, id.startsWith("mer_") ? "merchant id" : "id", hrefOfId(id));
}

/** Names what a row is about: the merchant, and its reference. */
export function subjectName({ merchant_name, reference }: SubjectNames): Template {
  if (merchant_name === null) return nothing;
  return html`<span class="small">${merchant_name}${reference === null ? nothing : html`, ${reference}`}</span>`;
}

/** An account by its name and its address. */
export function account({ name, address }: AccountView): TemplateResult {
  return html`${name === null ? nothing : html`<span class="name">${name}</span> `}${copyable(
    address,
    "address",
    hrefTo("purchases", "", { q: address }),
  )}`;
}

/** Renders an amount in tokens, with its base units on demand. */
export function amount(baseUnits: string, measure: Measure): TemplateResult {
  return html`<details class="units">
    <summary class="amount">${formatAmount(baseUnits, measure)}</summary>
    <span class="small quiet number">${baseUnits} base units</span>
  </details>`;
}

/** Renders a time: its distance from sandbox time, and the time itself. */
export function time(at: string, { now }: Measure): TemplateResult {
  return html`<time datetime=${at} title=${`${formatTime(at)} UTC`}
    >${formatDistance(at, now)}<span class="quiet at">${formatTime(at)}</span></time
  >`;
}

const tones: { readonly [state: string]: string } = {
  active: "accent",
  paid: "good",
  expired: "warn",
  enrolled: "good",
  refunded: "good",
  approved: "good",
  confirmed: "good",
  delivered: "good",
  succeeded: "good",
  claimed: "warn",
  refund_due: "warn",
  accepted: "warn",
  signed: "warn",
  broadcast: "warn",
  mined: "accent",
  replaced: "warn",
  pending: "warn",
  success: "good",
  denied: "bad",
  reverted: "bad",
  failed: "bad",
  exhausted: "bad",
  needs_attention: "bad",
};

/** A state as a badge. */
export function badge(state: string): TemplateResult {
  return html`<span class=${`badge ${tones[state] ?? ""}`}>${nameInWords(state)}</span>`;
}

/** Renders something that is shown on demand. */
export function folded(
  name: string | TemplateResult,
  content: TemplateResult,
  isOpen = false,
): TemplateResult {
  return html`<details ?open=${isOpen}><summary>${name}</summary><div class="stack">${content}</div></details>`;
}

/** Renders the message of an empty list. */
export function empty(sentence: string, more?: string): TemplateResult {
  return html`<div class="panel empty"><p>${sentence}</p>${more ? html`<p class="quiet">${more}</p>` : nothing}</div>`;
}

/** The way to the pages before and after. */
export function pager(view: string, query: URLSearchParams, next: string | null): Template {
  const kept = Object.fromEntries([...query].filter(([name]) => name !== "cursor"));
  const begun = query.has("cursor");
  if (!begun && next === null) return nothing;
  return html`<nav class="row" aria-label="Pages">
    ${begun ? html`<a class="button" href=${hrefTo(view, "", kept)}>Newest</a>` : nothing}
    ${
      next === null
        ? nothing
        : html`<a class="button" href=${hrefTo(view, "", { ...kept, cursor: next })}>Older</a>`
    }
  </nav>`;
}
