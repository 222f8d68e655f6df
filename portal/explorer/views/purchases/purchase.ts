import type { RequestView, RequestViews } from "../../../../sandbox/activity/views.ts";
import type {
  PurchaseTimeline,
  RelayOperationView,
  TimelineEntry,
} from "../../../../sandbox/explorer/views.ts";
import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { readExplorer, requestControl } from "../../api.ts";
import { formatTime, type Measure, nameInWords } from "../../format.ts";
import { hrefTo } from "../../page-address.ts";
import { checks } from "../../templates/checks.ts";
import { legend, paymentSummary } from "../../templates/payments.ts";
import { amount, badge, blockLink, copyable, folded, time, transaction } from "../../templates/templates.ts";
import { hrefOfId, linked } from "../../templates/text.ts";
import { defineView, type ViewContext } from "../../view.ts";
import { requestRow } from "../activity/requests.ts";
import { operationRow } from "../relay-operations.ts";
import { parties, stateOf, titleOf } from "./purchases.ts";

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
const folding = { relayed: "relayer", delivery: "webhooks" } as const;

/** Renders the timeline of a purchase, or the part of it that the address names. */
function timelinePanel(
  { purchase, entries, operations }: PurchaseTimeline,
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
    ${show === "requests" ? requestList(requests, context) : timeline(entriesOf(show, withHeld(entries, operations)), show === "all", context.measure)}`;
}

function requestList(requests: readonly RequestView[], context: ViewContext): TemplateResult {
  if (requests.length === 0)
    return html`<p class="quiet">The request log has no request about this purchase.</p>`;
  return html`<ul class="rows">${requests.map((request) => html`<li>${requestRow(request, false, context)}</li>`)}</ul>`;
}

/** The last step of each operation that a fault holds says so. */
function withHeld(
  entries: readonly TimelineEntry[],
  operations: readonly RelayOperationView[],
): readonly TimelineEntry[] {
  return entries.map((entry, index) => {
    const operation = operations.find(({ held, id }) => held && id === entry.details["operation"]);
    const isLast = entries.findLastIndex(({ details: { operation: id } }) => id === operation?.id) === index;
    return operation && isLast ? { ...entry, title: `${entry.title} ${sayHeld(operation)}` } : entry;
  });
}

function sayHeld({ kind }: RelayOperationView): string {
  return `The ${kind === "collect_refund" ? "refund" : nameInWords(kind)} is held by a fault.`;
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
  // The events of the outbox are among the webhooks.
  const runs = isFolding
    ? runsOf(entries.filter(({ kind }) => kind !== "event"))
    : entries.map((entry) => [entry]);
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
  return kind === "relayed" || kind === "delivery" ? folding[kind] : null;
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
  const entries = Object.entries(given).filter(
    ([name, text]) => name !== "log_index" && !(name === "times" && text === "1"),
  );
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

/** A purchase with the requests that name it. */
interface PurchaseData {
  timeline: PurchaseTimeline;
  requests: RequestViews;
}

/** One purchase: its terms, its money, and its whole timeline. */
export const purchaseView = defineView<PurchaseData>({
  title: ({ id }) => `Purchase ${id}`,
  heading: "Purchase",
  topics: ["purchases", "operations", "faults", "events", "refusals", "requests", "blocks"],
  async load({ id }) {
    const [timeline, requests] = await Promise.all([
      readExplorer<PurchaseTimeline>(`/purchases/${encodeURIComponent(id)}`),
      requestControl<RequestViews>("GET", `/requests?limit=200&purchase=${encodeURIComponent(id)}`),
    ]);
    return { timeline, requests };
  },
  draw: ({ timeline, requests }, context) => html`
    <div class="heading">
      <h1 tabindex="-1">${titleOf(timeline.purchase)}</h1>
      ${copyable(timeline.purchase.id, "purchase id")} ${badge(stateOf(timeline.purchase, context.measure))}
    </div>
    <section class="panel" aria-label="Money">
      ${timeline.operations.map((operation) => (operation.held ? html`<p class="notice warn">${sayHeld(operation)}</p>` : nothing))}
      ${paymentSummary(timeline.purchase.figures, context.measure)} ${legend()} ${facts(timeline, context)}
    </section>
    <section class="panel" aria-labelledby="timeline">
      <h2 id="timeline">What happened</h2>
      ${timelinePanel(timeline, requests.data, context)}
    </section>
    ${
      timeline.operations.length === 0
        ? nothing
        : html`<section class="stack" aria-labelledby="relayed">
          <h2 id="relayed">What the relayer did</h2>
          <ul class="rows panel">
            ${timeline.operations.map((operation) => html`<li>${operationRow(operation, false, context)}</li>`)}
          </ul>
        </section>`
    }
  `,
});

function facts(
  { purchase, wallet_url, terms, as_of }: PurchaseTimeline,
  { measure, isRecorded }: ViewContext,
) {
  const { figures, deadlines } = purchase;
  return html`<dl class="facts">
      <dt>Buyer's allowance</dt>
      <dd>
        ${amount(figures.approved, measure)}
        <span class="small quiet">now, shared by all purchases of the buyer's wallet</span>
      </dd>
      <dt>Reconciled</dt>
      <dd>${amount(figures.reconciled, measure)}</dd>
      <dt>Merchant</dt>
      <dd><a href=${hrefTo("merchants", "", { q: purchase.merchant_id })}>${purchase.merchant_name}</a></dd>
      ${parties(purchase)}
      <dt>Route</dt>
      <dd>${purchase.route === null ? "not on chain yet" : nameInWords(purchase.route)}</dd>
      <dt>Commitment</dt>
      <dd>${copyable(purchase.commitment_hash, "commitment hash")}</dd>
      <dt>Offer until</dt>
      <dd>${time(deadlines.offer_at, measure)}</dd>
      <dt>Pay until</dt>
      <dd>${time(deadlines.pay_at, measure)}</dd>
      <dt>Claim until</dt>
      <dd>${time(deadlines.claim_at, measure)}</dd>
      <dt>Terms</dt>
      <dd><code class="value">${linked(JSON.stringify(terms), measure.labels)}</code></dd>
    </dl>
    <p class="small quiet">
      Figures as of ${blockLink(as_of.number)}.
      ${isRecorded ? nothing : html`<a href=${wallet_url}>Open the wallet page</a>`}
    </p>`;
}
