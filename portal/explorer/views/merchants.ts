import type { MerchantView, ViewPage } from "../../../sandbox/hosts/explorer/views.ts";
import { html } from "../../vendor/lit-html/lit-html.js";
import { read } from "../api.ts";
import { formatAmount } from "../format.ts";
import { account, badge, copyable, empty, pager, time } from "../templates/templates.ts";
import { defineView } from "../view.ts";

/** Merchants, the newest first, with what they cover in refunds. */
export const merchants = defineView<ViewPage<MerchantView>>({
  title: () => "Merchants",
  topics: ["merchants", "blocks"],
  load: ({ query }) => read("/merchants", Object.fromEntries(query)),
  draw: ({ data, next_cursor }, { pageAddress, measure }) => html`
    <h1 tabindex="-1">Merchants</h1>
    ${
      data.length === 0
        ? empty("There are no merchants yet.", "Create one over the API, or run: npm run demo")
        : html`<ul class="stack plain">
          ${data.map(
            ({ id, name, status, wallet, funding, created_at }) => html`<li class="panel">
              <p class="row"><strong>${name}</strong> ${badge(status)} ${copyable(id, "merchant id")}</p>
              <dl class="facts small">
                <dt>Wallet</dt>
                <dd>${account(wallet)}</dd>
                <dt>Funding cap</dt>
                <dd class="amount">${formatAmount(funding.cap, measure)}</dd>
                <dt>Collected</dt>
                <dd class="amount">${formatAmount(funding.collected, measure)}</dd>
                <dt>Allowance</dt>
                <dd class="amount">${formatAmount(funding.allowance, measure)}</dd>
                <dt>Balance</dt>
                <dd class="amount">${formatAmount(funding.balance, measure)}</dd>
                <dt>${funding.revoked_at === null ? "Valid until" : "Revoked"}</dt>
                <dd>${time(funding.revoked_at ?? funding.valid_until, measure)}</dd>
                <dt>Created</dt>
                <dd>${time(created_at, measure)}</dd>
              </dl>
            </li>`,
          )}
        </ul>`
    }
    ${pager("merchants", pageAddress.query, next_cursor)}
  `,
});
