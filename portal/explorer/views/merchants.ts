import type { MerchantView } from "../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import { html, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { readExplorer } from "../api.ts";
import type { Measure } from "../format.ts";
import { hrefTo } from "../page-address.ts";
import { type ListField, listFilter, orderField, recordList, recordRow } from "../templates/lists.ts";
import { account, amount, badge, copyable, time } from "../templates/templates.ts";
import { defineView } from "../view.ts";

const fields: readonly ListField[] = [{ name: "q", label: "Id, name, address or reference" }, orderField];

/** Merchants, the newest first, with what they cover in refunds. */
export const merchantsView = defineView<ViewPage<MerchantView>>({
  title: () => "Merchants",
  topics: ["merchants", "blocks"],
  load: ({ query }) => readExplorer("/merchants", Object.fromEntries(query)),
  draw: ({ data, next_cursor }, { pageAddress: { query }, measure }) => html`
    <h1 tabindex="-1">Merchants</h1>
    ${listFilter("merchants", "Merchants", query, fields)}
    ${recordList("merchants", query, {
      page: { data, next_cursor },
      key: ({ id }) => id,
      row: (merchant) => merchantRow(merchant, data.length === 1, measure),
      empty: {
        sentence: "There are no merchants yet.",
        more: 'Create one over the API, or enter "given merchant" in the search.',
        unmatched: "No merchant matches.",
      },
    })}
  `,
});

/** One merchant on one line; its funding on demand. */
function merchantRow(merchant: MerchantView, isOpen: boolean, measure: Measure): TemplateResult {
  const { id, name, status, wallet, funding, created_at } = merchant;
  return recordRow({
    name,
    summary: html`<strong>${name}</strong> ${badge(status)}`,
    meta: html`${copyable(id, "merchant id")} <a href=${hrefTo("purchases", "", { q: id })}>purchases</a>
      ${time(created_at, measure)}`,
    details: html`<dl class="facts small">
      <dt>Wallet</dt>
      <dd>${account(wallet)}</dd>
      <dt>Funding cap</dt>
      <dd>${amount(funding.cap, measure)}</dd>
      <dt>Collected</dt>
      <dd>${amount(funding.collected, measure)}</dd>
      <dt>Allowance</dt>
      <dd>${amount(funding.allowance, measure)}</dd>
      <dt>Balance</dt>
      <dd>${amount(funding.balance, measure)}</dd>
      <dt>${funding.revoked_at === null ? "Valid until" : "Revoked"}</dt>
      <dd>${time(funding.revoked_at ?? funding.valid_until, measure)}</dd>
      <dt>Created</dt>
      <dd>${time(created_at, measure)}</dd>
    </dl>`,
    isOpen,
  });
}
