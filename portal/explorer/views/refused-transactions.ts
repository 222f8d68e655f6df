import type { Explanation } from "../../../sandbox/explain/explanation.ts";
import type { PurchaseView, RefusalView } from "../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { readExplorer, requestControl } from "../api.ts";
import { checks } from "../templates/checks.ts";
import { type ListField, listFilter, orderField, recordList } from "../templates/lists.ts";
import { subjectLink, subjectName, time, transaction } from "../templates/templates.ts";
import { linked } from "../templates/text.ts";
import { defineView, type ViewContext } from "../view.ts";
import { type PurchasesById, readPurchases } from "./purchases/purchases.ts";
import { hasDifference, transactionDetails } from "./transaction.ts";

/** The explanations that were asked for, by transaction hash and subject; a text says why there is none. */
const explained = new Map<string, Explanation | string>();

const fields: readonly ListField[] = [{ name: "q", label: "Id, hash, step or code" }, orderField];

/** A page of refusals with the purchases that they are about. */
interface RefusalsData {
  page: ViewPage<RefusalView>;
  purchases: PurchasesById;
}

/** The transactions that a step did not accept, the newest first. */
export const refusalsView = defineView<RefusalsData>({
  title: () => "Refused",
  topics: ["refusals"],
  async load({ query }) {
    const page = await readExplorer<ViewPage<RefusalView>>("/refusals", Object.fromEntries(query));
    return { page, purchases: await readPurchases(page.data.map(({ subject }) => subject)) };
  },
  draw: ({ page, purchases }, context) => html`
    <h1 tabindex="-1">Refused</h1>
    <p class="quiet">Transactions that the API has refused. The last 500 are kept until a restore or a restart.</p>
    ${listFilter("refusals", "Refusals", context.pageAddress.query, fields)}
    ${recordList("refusals", context.pageAddress.query, {
      page,
      key: ({ number }) => number,
      row: (refusal) => refusalRow(refusal, purchases.get(refusal.subject), context),
      empty: {
        sentence: "Nothing was refused.",
        more: "Reverted transactions are under Blocks.",
        unmatched: "No refusal matches.",
      },
    })}
  `,
});

/** One refusal: the cause in one sentence; the checks with both sides and the decoded call on demand. */
function refusalRow(
  refusal: RefusalView,
  purchase: PurchaseView | undefined,
  context: ViewContext,
): TemplateResult {
  const { number, at, step, subject, code, cause, transaction_hash, times } = refusal;
  const { measure } = context;
  const key = `${transaction_hash} ${subject}`;
  const toggle = (event: Event) => {
    if (!(event.currentTarget instanceof HTMLDetailsElement) || !event.currentTarget.open) return;
    requestControl<Explanation>("GET", `/explain/${transaction_hash}?for=${encodeURIComponent(subject)}`)
      .then((found) => explained.set(key, found))
      .catch((error: Error) => explained.set(key, error.message))
      .finally(context.redraw);
  };
  const found = explained.get(key);
  return html`<article class="entry" aria-label=${`Refusal ${number}`}>
    <p class="row">
      <strong>${step}</strong> <span class="badge bad">${code}</span>
      ${purchase === undefined ? nothing : subjectName(purchase)}
      ${times === 1 ? nothing : html`<span class="small">${times} times</span>`}
      <span class="small quiet">${time(at, measure)}</span>
    </p>
    <p>${linked(cause, measure.labels)}</p>
    <p class="row small">${subjectLink(subject)} ${transaction(transaction_hash)}</p>
    <details @toggle=${toggle}>
      <summary>Checks and decoded call</summary>
      <div class="stack">
        ${
          found === undefined
            ? html`<p class="quiet">Reading …</p>`
            : typeof found === "string"
              ? html`<p class="notice bad">${found}</p> ${checks(refusal.checks, measure)}`
              : hasDifference(found)
                ? transactionDetails(found, measure)
                : html`${checks(refusal.checks, measure)} ${transactionDetails({ ...found, checks: [] }, measure)}`
        }
      </div>
    </details>
  </article>`;
}
