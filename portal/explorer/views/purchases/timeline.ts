import type { PurchaseTimeline, RequestView, TimelineEntry } from "../../../../sandbox/explorer/views.ts";
import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { formatTime, type Measure, nameInWords } from "../../format.ts";
import { hrefTo } from "../../page-address.ts";
import { checks } from "../../templates/checks.ts";
import { amount, blockLink, copyable, folded, time, transaction } from "../../templates/templates.ts";
import { hrefOfId, linked } from "../../templates/text.ts";
import type { ViewContext } from "../../view.ts";
import { requestRow } from "../activity/requests.ts";

type Kind = TimelineEntry["kind"];

/** The parts of a timeline that can be shown alone, each with its kinds of entries; requests are kept apart from them. */
const parts: { readonly [name: string]: readonly Kind[] } = {
  all: [],
  money: ["created", "approved", "paid", "reconciled", "claimed", "decided", "refunded", "refused"],
  chain: ["on_chain", "approved", "paid", "submitted"],
  relayer: ["relayed"],
  webhooks: ["event", "delivery"],
  requests: [],
};

/** The kinds of entries that are folded where several follow each other. */
const folding = { relayed: "relayer", event: "webhooks", delivery: "webhooks" } as const;

/** Renders the timeline of a purchase, or the part of it that the address names. */
export function timelinePanel(
  { purchase, entries }: PurchaseTimeline,
  requests: readonly RequestView[],
  context: ViewContext,
): TemplateResult {
  const asked = context.pageAddress.query.get("show") ?? "all";
  const show = Object.hasOwn(parts, asked) ? asked : "all";
  const link = (name: string) => html`<li>
    <a href=${hrefTo("purchases", purchase.id, { show: name === "all" ? "" : name })} aria-current=${name === show ? "true" : nothing}
      >${name}</a
    >
  </li>`;
  return html`<nav class="choices" aria-label="Parts of the timeline"><ul>${Object.keys(parts).map(link)}</ul></nav>
    ${show === "requests" ? requestList(requests, context) : timeline(entriesOf(show, entries), show === "all", context.measure)}`;
}

function requestList(requests: readonly RequestView[], context: ViewContext): TemplateResult {
  if (requests.length === 0)
    return html`<p class="quiet">The request log has no request about this purchase.</p>`;
  return html`<ul class="rows">${requests.map((request) => html`<li>${requestRow(request, false, context)}</li>`)}</ul>`;
}

function entriesOf(show: string, entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  const kinds = parts[show] ?? [];
  return kinds.length === 0
    ? entries
    : entries.filter(
        ({ kind, block_number }) =>
          kinds.includes(kind) || (show === "chain" && block_number !== null && kind !== "reconciled"),
      );
}

/** Entries below each other; steps of the relayer and of deliveries that follow each other are folded. */
function timeline(entries: readonly TimelineEntry[], isFolding: boolean, measure: Measure): TemplateResult {
  if (entries.length === 0) return html`<p class="quiet">Nothing of this kind has happened.</p>`;
  const runs = isFolding ? runsOf(entries) : entries.map((entry) => [entry]);
  return html`<ol class="timeline">${runs.map((run, index) => runItem(run, runs[index - 1]?.at(-1), measure))}</ol>`;
}

/** Joins entries that are folded and follow each other. */
function runsOf(entries: readonly TimelineEntry[]): TimelineEntry[][] {
  const runs: TimelineEntry[][] = [];
  for (const entry of entries) {
    const last = runs.at(-1);
    const fold = foldOf(entry);
    if (fold !== null && last?.[0] !== undefined && foldOf(last[0]) === fold) last.push(entry);
    else runs.push([entry]);
  }
  return runs;
}

/** The kind of fold that an entry belongs to; a delivery that failed is not folded. */
function foldOf({ kind, title }: TimelineEntry): string | null {
  if (kind === "delivery" && !/responded with 2\d\d\.$/.test(title)) return null;
  return kind === "relayed" || kind === "event" || kind === "delivery" ? folding[kind] : null;
}

function runItem(
  run: readonly TimelineEntry[],
  before: TimelineEntry | undefined,
  measure: Measure,
): TemplateResult | typeof nothing {
  const [first] = run;
  const last = run.at(-1);
  if (first === undefined || last === undefined) return nothing;
  if (run.length === 1) return item(first, before, measure);
  const inner = html`<ol class="timeline">${run.map((entry, index) => item(entry, run[index - 1], measure))}</ol>`;
  return html`<li class=${`moment ${first.kind} ${before?.at === first.at ? "same" : ""}`}>
    ${when(first, before, measure)}
    <div class="what">${folded(html`${last.title} <span class="quiet">${run.length} steps</span>`, inner)}</div>
  </li>`;
}

function item(entry: TimelineEntry, before: TimelineEntry | undefined, measure: Measure): TemplateResult {
  return html`<li class=${`moment ${entry.kind} ${before?.at === entry.at ? "same" : ""}`}>
    ${when(entry, before, measure)}
    <div class="what">
      <p><strong>${linked(entry.title, measure.labels)}</strong></p>
      <p class="small quiet row">
        <span>${entry.actor}</span>${blockLink(entry.block_number)}${transaction(entry.transaction_hash)}
      </p>
      ${details(entry, measure)}
      ${entry.checks.length === 0 ? nothing : folded(`Checks (${entry.checks.length})`, checks(entry.checks, measure))}
    </div>
  </li>`;
}

/** The time of an entry, where it differs from the one before. */
function when({ at }: TimelineEntry, before: TimelineEntry | undefined, measure: Measure): TemplateResult {
  const isSame = before?.at === at;
  return html`<p class="when">${isSame ? html`<span class="unseen">${formatTime(at)}</span>` : time(at, measure)}</p>`;
}

const amounts = ["amount", "award", "paidTotal", "requested_amount", "released"];

function details({ details: given }: TimelineEntry, measure: Measure) {
  const entries = Object.entries(given);
  if (entries.length === 0) return nothing;
  return html`<dl class="details small">
    ${entries.map(
      ([name, text]) => html`<div>
        <dt>${nameInWords(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))}</dt>
        <dd>${amounts.includes(name) ? amount(text, measure) : detail(name, text, measure)}</dd>
      </div>`,
    )}
  </dl>`;
}

/** A hash or an id with its link, or any other text. */
function detail(name: string, text: string, { labels }: Measure): TemplateResult {
  if (/^[a-z]{2,3}_[a-z2-7]{20}$/.test(text)) return copyable(text, nameInWords(name), hrefOfId(text));
  return text.length > 24 && !text.includes(" ") ? copyable(text, nameInWords(name)) : linked(text, labels);
}
