import type { PurchaseTimeline, TimelineEntry } from "../../../../sandbox/hosts/explorer/views.ts";
import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { read } from "../../api.ts";
import { formatAmount, formatTime, type Measure, words } from "../../format.ts";
import { checks } from "../../templates/checks.ts";
import { badge, blockLink, copyable, payments, time, transaction } from "../../templates/templates.ts";
import { linked } from "../../templates/text.ts";
import type { Scene } from "../../view.ts";
import { defineView } from "../../view.ts";
import { operationCard } from "../operations.ts";
import { parties } from "./purchases.ts";

/** One purchase: its terms, its money, and its whole timeline. */
export const purchaseTimeline = defineView<PurchaseTimeline>({
  title: ({ id }) => `Purchase ${id}`,
  topics: ["purchases", "operations", "events", "refusals", "blocks"],
  load: ({ id }) => read(`/purchases/${encodeURIComponent(id)}`),
  draw: (data, scene) => html`
    <div class="heading">
      <h1 tabindex="-1">Purchase</h1>
      ${copyable(data.purchase.id, "purchase id")} ${badge(data.purchase.status)}
    </div>
    <section class="panel" aria-label="Money">${payments(data.purchase.figures, scene.measure)} ${facts(data, scene)}</section>
    <section class="panel" aria-labelledby="timeline">
      <h2 id="timeline">What happened</h2>
      ${timeline(data.entries, scene.measure)}
    </section>
    ${
      data.operations.length === 0
        ? nothing
        : html`<section class="stack" aria-labelledby="relayed">
          <h2 id="relayed">What the relayer did</h2>
          ${data.operations.map((operation) => operationCard(operation, scene))}
        </section>`
    }
  `,
});

function facts(
  { purchase, merchant_name, wallet_url, terms, as_of }: PurchaseTimeline,
  { measure, isRecorded }: Scene,
) {
  const { figures, deadlines } = purchase;
  return html`<dl class="facts">
      <dt>Approved now</dt>
      <dd class="amount">${formatAmount(figures.approved, measure)}</dd>
      <dt>Reconciled</dt>
      <dd class="amount">${formatAmount(figures.reconciled, measure)}</dd>
      <dt>Shop</dt>
      <dd>${merchant_name}</dd>
      ${parties(purchase)}
      <dt>Route</dt>
      <dd>${purchase.route === null ? "not on chain yet" : words(purchase.route)}</dd>
      <dt>Commitment</dt>
      <dd>${copyable(purchase.commitment_hash, "commitment hash")}</dd>
      <dt>Offer until</dt>
      <dd>${time(deadlines.offer_at, measure)}</dd>
      <dt>Pay until</dt>
      <dd>${time(deadlines.pay_at, measure)}</dd>
      <dt>Claim until</dt>
      <dd>${time(deadlines.claim_at, measure)}</dd>
      <dt>Terms</dt>
      <dd><code class="value">${JSON.stringify(terms)}</code></dd>
    </dl>
    <p class="small quiet">
      Figures as of ${blockLink(as_of.number)}.
      ${isRecorded ? nothing : html`<a href=${wallet_url}>Open the wallet page</a>`}
    </p>`;
}

/** Entries below each other; a time is shown where it changes. */
function timeline(entries: readonly TimelineEntry[], measure: Measure): TemplateResult {
  return html`<ol class="timeline">
    ${entries.map((entry, index) => {
      const told = entries[index - 1]?.at === entry.at;
      return html`<li class=${`moment ${entry.kind} ${told ? "same" : ""}`}>
        <p class="when">${told ? html`<span class="unseen">${formatTime(entry.at)}</span>` : time(entry.at, measure)}</p>
        <div class="what">
          <p><strong>${linked(entry.title, measure.labels)}</strong></p>
          <p class="small quiet row">
            <span>${entry.actor}</span>${blockLink(entry.block_number)}${transaction(entry.transaction_hash)}
          </p>
          ${details(entry, measure)} ${entry.checks.length === 0 ? nothing : checks(entry.checks, measure)}
        </div>
      </li>`;
    })}
  </ol>`;
}

const amounts = ["amount", "award", "paidTotal", "requested_amount", "released"];

function details({ details: given }: TimelineEntry, measure: Measure) {
  const entries = Object.entries(given);
  if (entries.length === 0) return nothing;
  return html`<dl class="details small">
    ${entries.map(
      ([name, text]) => html`<div>
        <dt>${words(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))}</dt>
        <dd>${amounts.includes(name) ? formatAmount(text, measure) : text.length > 24 && !text.includes(" ") ? copyable(text, words(name)) : text}</dd>
      </div>`,
    )}
  </dl>`;
}
