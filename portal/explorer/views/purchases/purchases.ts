import type { PurchaseView, PurchaseViews } from "../../../../sandbox/hosts/explorer/views.ts";
import { repeat } from "../../../vendor/lit-html/directives/repeat.js";
import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { read } from "../../api.ts";
import { type Measure, words } from "../../format.ts";
import { hrefTo } from "../../page-address.ts";
import {
  account,
  badge,
  blockLink,
  copyable,
  empty,
  pager,
  payments,
  time,
} from "../../templates/templates.ts";
import { defineView } from "../../view.ts";

const statuses = ["created", "active", "claimed", "approved", "denied", "refund_due", "refunded"];

/** All purchases, the newest first, with a filter. */
export const purchases = defineView<PurchaseViews>({
  title: () => "Purchases",
  topics: ["purchases", "operations", "blocks"],
  load: ({ query }) => read("/purchases", Object.fromEntries(query)),
  draw: ({ data, next_cursor, as_of }, { pageAddress: { query }, measure }) => html`
    <h1 tabindex="-1">Purchases</h1>
    ${filter(query)}
    ${
      data.length === 0
        ? query.size > 0
          ? empty("No purchase is like that.", next_cursor === null ? undefined : "There may be older ones.")
          : empty("There are no purchases yet.", "Create one over the API, or run: npm run demo")
        : purchaseList(data, measure)
    }
    <p class="small quiet">Figures as of ${blockLink(as_of.number)}.</p>
    ${pager("purchases", query, next_cursor)}
  `,
});

/** Purchases as a list, each with its payments. */
export function purchaseList(list: readonly PurchaseView[], measure: Measure): TemplateResult {
  return html`<ul class="rows panel">
    ${repeat(
      list,
      ({ id }) => id,
      (purchase) => html`<li class="purchase">
        <div class="what">
          <p class="row">
            ${copyable(purchase.id, "purchase id", hrefTo("purchases", purchase.id))} ${badge(purchase.status)}
          </p>
          <p class="small quiet">
            ${purchase.reference === null ? nothing : html`${purchase.reference} · `}
            ${purchase.buyer.name ?? "a buyer"} pays ${purchase.merchant.name ?? "a merchant"} ·
            ${time(purchase.created_at, measure)}
          </p>
        </div>
        ${payments(purchase.figures, measure)}
      </li>`,
    )}
  </ul>`;
}

function filter(query: URLSearchParams): TemplateResult {
  const narrow = (event: Event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const form = new FormData(event.currentTarget);
    location.hash = hrefTo("purchases", "", { q: String(form.get("q")), status: String(form.get("status")) });
  };
  return html`<form class="filter" role="search" aria-label="Purchases" @submit=${narrow}>
    <div class="field">
      <label for="q">Id, hash, address or reference</label>
      <input id="q" name="q" type="search" autocomplete="off" .value=${query.get("q") ?? ""} />
    </div>
    <div class="field">
      <label for="status">State</label>
      <select id="status" name="status">
        <option value="">any</option>
        ${statuses.map(
          (status) =>
            html`<option value=${status} ?selected=${query.get("status") === status}>${words(status)}</option>`,
        )}
      </select>
    </div>
    <button type="submit">Show</button>
  </form>`;
}

/** Renders the participants of a purchase. */
export function parties({ merchant, buyer, beneficiary }: PurchaseView): TemplateResult {
  return html`<dt>Buyer</dt><dd>${account(buyer)}</dd>
    <dt>Merchant</dt><dd>${account(merchant)}</dd>
    <dt>Beneficiary</dt><dd>${account(beneficiary)}</dd>`;
}
