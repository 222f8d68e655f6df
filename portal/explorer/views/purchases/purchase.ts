import type { PurchaseTimeline, RequestViews } from "../../../../sandbox/explorer/views.ts";
import { html, nothing } from "../../../vendor/lit-html/lit-html.js";
import { readExplorer, requestControl } from "../../api.ts";
import { nameInWords } from "../../format.ts";
import { hrefTo } from "../../page-address.ts";
import { legend, paymentSummary } from "../../templates/payments.ts";
import { amount, badge, blockLink, copyable, time } from "../../templates/templates.ts";
import { linked } from "../../templates/text.ts";
import { defineView, type ViewContext } from "../../view.ts";
import { operationRow } from "../relay-operations.ts";
import { parties, titleOf } from "./purchases.ts";
import { timelinePanel } from "./timeline.ts";

/** A purchase with the requests that name it. */
interface PurchaseData {
  timeline: PurchaseTimeline;
  requests: RequestViews;
}

/** One purchase: its terms, its money, and its whole timeline. */
export const purchaseView = defineView<PurchaseData>({
  title: ({ id }) => `Purchase ${id}`,
  heading: "Purchase",
  topics: ["purchases", "operations", "events", "refusals", "requests", "blocks"],
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
      ${copyable(timeline.purchase.id, "purchase id")} ${badge(timeline.purchase.status)}
    </div>
    <section class="panel" aria-label="Money">
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
