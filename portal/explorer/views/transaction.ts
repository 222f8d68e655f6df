import type { Explanation } from "../../../sandbox/hosts/explain/explanation.ts";
import { html } from "../../vendor/lit-html/lit-html.js";
import { ask } from "../api.ts";
import { copyable } from "../templates.ts";
import { defineView } from "../view.ts";
import { explanation } from "./accepted-or-refused.ts";

/** One transaction, and whether it would be accepted. */
export const transactionView = defineView<Explanation>({
  title: () => "Transaction",
  topics: ["blocks", "purchases"],
  load: ({ id }) => ask("GET", `/explain/${encodeURIComponent(id)}`),
  draw: (explained) => html`
    <div class="heading">
      <h1 tabindex="-1">Transaction</h1>
      ${copyable(explained.transaction_hash, "transaction hash")}
    </div>
    <section class="panel" aria-label="Explanation">${explanation(explained)}</section>
  `,
});
