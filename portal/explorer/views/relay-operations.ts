import type { RelayOperationStatus } from "../../../relayer/journal/relay-operation.ts";
import type { RelayOperationView } from "../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { readExplorer, requestControl } from "../api.ts";
import { formatWei, nameInWords } from "../format.ts";
import {
  choicesOf,
  type ListField,
  listFilter,
  orderField,
  recordList,
  recordRow,
} from "../templates/lists.ts";
import {
  account,
  badge,
  blockLink,
  copyable,
  purchaseLink,
  subjectName,
  time,
  transaction,
} from "../templates/templates.ts";
import { defineView, type ViewContext } from "../view.ts";

const statuses = choicesOf<RelayOperationStatus>({
  accepted: "accepted",
  signed: "signed",
  broadcast: "broadcast",
  mined: "mined",
  confirmed: "confirmed",
  reverted: "reverted",
  failed: "failed",
  needs_attention: "needs attention",
});

const fields: readonly ListField[] = [
  { name: "q", label: "Id, purchase or hash" },
  { name: "status", label: "State", choices: statuses },
  orderField,
];

/** The relayer's operations, the newest first, with every transaction that was signed for each. */
export const operationsView = defineView<ViewPage<RelayOperationView>>({
  title: () => "Relayer",
  topics: ["operations", "faults"],
  load: ({ query }) => readExplorer("/operations", Object.fromEntries(query)),
  draw: ({ data, next_cursor }, context) => html`
    <h1 tabindex="-1">Relayer</h1>
    ${listFilter("operations", "Relay operations", context.pageAddress.query, fields)}
    ${recordList("operations", context.pageAddress.query, {
      page: { data, next_cursor },
      key: ({ id }) => id,
      row: (operation) => operationRow(operation, data.length === 1, context),
      empty: {
        sentence: "There are no relay operations yet.",
        more: "The relayer offers purchases that are activated, and collects refunds.",
        unmatched: "No relay operation matches.",
      },
    })}
  `,
});

/** One relay operation on one line; one that needs attention is open, with the button for it. */
export function operationRow(
  operation: RelayOperationView,
  isOpen: boolean,
  context: ViewContext,
): TemplateResult {
  const { kind, sequence, status, status_reason, held, purchase_id, block_number, hash, created_at } =
    operation;
  return recordRow({
    name: `${nameInWords(kind)} ${sequence}`,
    summary: html`<strong>${nameInWords(kind)}</strong> ${held ? html`<span class="badge warn">held by a fault</span>` : badge(status)} ${subjectName(operation)}
      ${status_reason === null ? nothing : html`<span class="small">${nameInWords(status_reason)}</span>`}`,
    meta: html`${transaction(hash)} ${purchase_id === null ? nothing : purchaseLink(purchase_id)}
      ${blockLink(block_number)} ${time(created_at, context.measure)}`,
    details: operationDetails(operation, context),
    isOpen: isOpen || status === "needs_attention",
  });
}

/** Everything about a relay operation but its purchase, with every transaction that was signed for it. */
export function operationDetails(operation: RelayOperationView, context: ViewContext): TemplateResult {
  const { id, status, error, transactions, from, nonce } = operation;
  const resume = () =>
    context.act(
      "The relay operation continues.",
      async () => await requestControl("POST", `/operations/${id}/resume`),
    );
  return html`${error === null ? nothing : html`<p class="notice bad">${error}</p>`}
    <ul class="plain hashes">
      ${transactions.map(
        ({ hash, attempt, purpose, outcome }) => html`<li class="row">
          ${transactions.length === 1 && hash === operation.hash && !context.isRecorded ? nothing : transaction(hash)} <span class="small">${purpose}</span> ${badge(outcome)}
          ${operation.attempt === 1 ? nothing : html`<span class="small quiet">attempt ${attempt}</span>`}
        </li>`,
      )}
      ${transactions.length === 0 ? html`<li class="quiet">Nothing is signed yet.</li>` : nothing}
    </ul>
    <dl class="facts small">
      <dt>Operation</dt>
      <dd>${copyable(id, "relay operation id")}</dd>
      <dt>Signer</dt>
      <dd>${account(from)}</dd>
      ${nonce === null ? nothing : html`<dt>Nonce</dt><dd class="number">${nonce}</dd>`}
      ${
        operation.block_number === null
          ? nothing
          : html`<dt>Mined in</dt>
            <dd>
              ${blockLink(operation.block_number)}, ${operation.confirmations}
              ${operation.confirmations === 1 ? "confirmation" : "confirmations"}
            </dd>`
      }
      <dt>Gas</dt>
      <dd class="amount">
        ${
          operation.cost_wei === null
            ? `${formatWei(operation.reserved_wei)} reserved`
            : `${formatWei(operation.cost_wei)} spent`
        }
      </dd>
      ${operation.reorg_count === 0 ? nothing : html`<dt>Reorged</dt><dd>${operation.reorg_count} times</dd>`}
    </dl>
    ${
      status === "needs_attention" && !context.isRecorded
        ? html`<p><button type="button" class="primary" @click=${resume}>Resume</button></p>`
        : nothing
    }`;
}
