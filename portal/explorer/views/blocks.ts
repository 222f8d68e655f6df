import type { BlockView, TransactionView } from "../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import { repeat } from "../../vendor/lit-html/directives/repeat.js";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { readExplorer } from "../api.ts";
import type { Measure } from "../format.ts";
import { emptyList, type ListField, listFilter } from "../templates/lists.ts";
import { copyable, pager, purchaseLink, time, transaction } from "../templates/templates.ts";
import { defineView } from "../view.ts";

const fields: readonly ListField[] = [
  { name: "q", label: "Number or hash" },
  {
    name: "has",
    label: "Blocks",
    choices: [
      ["", "all"],
      ["transactions", "with transactions"],
    ],
  },
];

/** Blocks, the newest first, with their transactions named by what they do. */
export const blocksView = defineView<ViewPage<BlockView>>({
  title: () => "Blocks",
  topics: ["blocks"],
  load: ({ query }) => readExplorer("/blocks", Object.fromEntries(query)),
  draw: ({ data, next_cursor }, { pageAddress: { query }, measure }) => html`
    <h1 tabindex="-1">Blocks</h1>
    ${listFilter("blocks", "Blocks", query, fields)}
    ${
      data.length === 0
        ? emptyList("blocks", query, {
            sentence: "There are no blocks yet.",
            unmatched:
              next_cursor === null
                ? "No block matches."
                : "No block matches so far. There may be older ones.",
          })
        : blockList(data, measure)
    }
    ${pager("blocks", query, next_cursor)}
  `,
});

/** Blocks as a list. */
export function blockList(list: readonly BlockView[], measure: Measure): TemplateResult {
  return html`<ol class="rows panel">
    ${repeat(
      list,
      ({ hash }) => hash,
      (block) => html`<li class="block">
        <p class="row">
          <strong class="number">${block.number}</strong> ${copyable(block.hash, "block hash")}
          <span class="small quiet">${time(block.at, measure)}</span>
        </p>
        ${
          block.transactions.length === 0
            ? html`<p class="small quiet">no transactions</p>`
            : html`<ul class="plain">
              ${block.transactions.map(transactionLine)}
            </ul>`
        }
      </li>`,
    )}
  </ol>`;
}

function transactionLine({ hash, from, to, function: called, about, succeeded }: TransactionView) {
  return html`<li class="row small">
    <span><strong>${from.name ?? "an account"}</strong> ${callOf(called, to)}</span>
    ${succeeded ? nothing : html`<span class="badge bad">reverted</span>`} ${transaction(hash)}
    ${about.map(purchaseLink)}
  </li>`;
}

function callOf(called: TransactionView["function"], to: TransactionView["to"]): TemplateResult {
  if (to === null) return html`creates a contract`;
  return html`${called === null ? "calls" : html`<code>${called}</code> at`} ${to.name ?? "another account"}`;
}
