import type { PurchaseView, PurchaseViews } from "../../../../sandbox/explorer/views.ts";
import type { PurchaseStatus } from "../../../../server/schemas/purchases.ts";
import { repeat } from "../../../vendor/lit-html/directives/repeat.js";
import { html, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { readExplorer } from "../../api.ts";
import type { Measure } from "../../format.ts";
import { hrefTo } from "../../page-address.ts";
import { choicesOf, emptyList, type ListField, listFilter, orderField } from "../../templates/lists.ts";
import { legend, paymentSummary } from "../../templates/payments.ts";
import { account, badge, blockLink, copyable, pager, time } from "../../templates/templates.ts";
import { defineView } from "../../view.ts";

const statuses = choicesOf<PurchaseStatus>({
  created: "created",
  active: "active",
  claimed: "claimed",
  approved: "approved",
  denied: "denied",
  refund_due: "refund due",
  refunded: "refunded",
});

const fields: readonly ListField[] = [
  { name: "q", label: "Id, hash, address or reference" },
  { name: "status", label: "State", choices: statuses },
  orderField,
];

/** All purchases, the newest first, with a filter. */
export const purchasesView = defineView<PurchaseViews>({
  title: () => "Purchases",
  topics: ["purchases", "operations", "blocks"],
  load: ({ query }) => readExplorer("/purchases", Object.fromEntries(query)),
  draw: ({ data, next_cursor, as_of }, { pageAddress: { query }, measure }) => html`
    <h1 tabindex="-1">Purchases</h1>
    ${listFilter("purchases", "Purchases", query, fields)}
    ${
      data.length === 0
        ? emptyList("purchases", query, {
            sentence: "There are no purchases yet.",
            more: 'Create one over the API, or enter "given paid" in the search.',
            unmatched:
              next_cursor === null
                ? "No purchase matches."
                : "No purchase matches so far. There may be older ones.",
          })
        : html`${legend()} ${purchaseList(data, measure)}`
    }
    <p class="small quiet">Figures as of ${blockLink(as_of.number)}.</p>
    ${pager("purchases", query, next_cursor)}
  `,
});

/** Purchases by id. */
export type PurchasesById = ReadonlyMap<string, PurchaseView>;

/** Reads the purchases among the ids of subjects. */
export async function readPurchases(ids: readonly string[]): Promise<PurchasesById> {
  const wanted = [...new Set(ids)].filter((id) => id.startsWith("pur_"));
  const pages = await Promise.all(wanted.map((q) => readExplorer<PurchaseViews>("/purchases", { q })));
  return new Map(pages.flatMap(({ data }) => data.map((purchase) => [purchase.id, purchase])));
}

/** Who is paid, and for which order of theirs. */
export function titleOf({ merchant_name, reference }: PurchaseView): string {
  return reference === null ? merchant_name : `${merchant_name} · ${reference}`;
}

/** The state of a purchase in the explorer: an active one that is paid, or that can no longer be paid, is shown as such. */
export function stateOf({ status, figures, deadlines }: PurchaseView, { now }: Measure): string {
  if (status !== "active") return status;
  if (BigInt(figures.paid) >= BigInt(figures.amount)) return "paid";
  return now > Date.parse(deadlines.pay_at) ? "expired" : status;
}

/** Purchases as a list, each with its payments. */
export function purchaseList(list: readonly PurchaseView[], measure: Measure): TemplateResult {
  return html`<ul class="rows panel">
    ${repeat(
      list,
      ({ id }) => id,
      (purchase) => html`<li class="purchase">
        <div class="what">
          <p class="row">
            <a class="name" href=${hrefTo("purchases", purchase.id)}>${titleOf(purchase)}</a> ${badge(stateOf(purchase, measure))}
          </p>
          <p class="row small quiet">
            ${copyable(purchase.id, "purchase id")}
            <span>${purchase.buyer.name ?? "a buyer"}, ${time(purchase.created_at, measure)}</span>
          </p>
        </div>
        ${paymentSummary(purchase.figures, measure)}
      </li>`,
    )}
  </ul>`;
}

/** Renders the participants of a purchase. */
export function parties({ merchant, buyer, beneficiary }: PurchaseView): TemplateResult {
  return html`<dt>Buyer</dt><dd>${account(buyer)}</dd>
    <dt>Merchant's wallet</dt><dd>${account(merchant)}</dd>
    <dt>Beneficiary</dt><dd>${account(beneficiary)}</dd>`;
}
