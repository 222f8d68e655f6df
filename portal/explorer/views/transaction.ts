import type { Explanation, Frame, StateChanges } from "../../../sandbox/explain/explanation.ts";
import type { PurchaseView } from "../../../sandbox/explorer/views.ts";
import { formatAmount } from "../../amounts/format-amount.ts";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { requestControl } from "../api.ts";
import { formatCount, formatWei, type Measure } from "../format.ts";
import { checks, value } from "../templates/checks.ts";
import {
  account,
  amount,
  badge,
  blockLink,
  copyable,
  folded,
  subjectLink,
  subjectName,
  type Template,
  time,
} from "../templates/templates.ts";
import { linked } from "../templates/text.ts";
import { defineView } from "../view.ts";
import { type PurchasesById, readPurchases } from "./purchases/purchases.ts";

/** A transaction with the purchases that it is compared with. */
interface ExplainedTransaction {
  explained: Explanation;
  purchases: PurchasesById;
}

/** One transaction, and whether it would be accepted. */
export const transactionView = defineView<ExplainedTransaction>({
  title: () => "Transaction",
  topics: ["blocks", "purchases"],
  async load({ id }) {
    const explained = await requestControl<Explanation>(
      "GET",
      `/explain/${encodeURIComponent(id.toLowerCase())}`,
    );
    return { explained, purchases: await readPurchases(subjectsOf(explained)) };
  },
  draw: ({ explained, purchases }, { measure }) => html`
    <div class="heading">
      <h1 tabindex="-1">Transaction</h1>
      ${explained.transaction === null ? nothing : badge(explained.transaction.status)}
      ${copyable(explained.transaction_hash, "transaction hash")}
    </div>
    <section class="panel" aria-label="Explanation">${explanation(explained, measure, purchases)}</section>
  `,
});

/** Renders why a transaction is accepted or refused, who sent it where, its call next to the expected one, and the rest folded. */
export function explanation(
  explained: Explanation,
  measure: Measure,
  purchases: PurchasesById = new Map(),
): TemplateResult {
  return html`${verdict(explained, measure)} ${transactionDetails(explained, measure, purchases)}`;
}

/** The ids of the purchases or merchants that a transaction is compared with. */
function subjectsOf({ subject }: Explanation): string[] {
  return subject?.split(", ") ?? [];
}

/** Renders the part of an explanation below its verdict: a call that differs from the expected one comes first. */
export function transactionDetails(
  explained: Explanation,
  measure: Measure,
  purchases: PurchasesById = new Map(),
): TemplateResult {
  const { call, changes, logs, trace, inner_calls_left_out, transaction } = explained;
  const table = call === null ? nothing : callTable(call, measure);
  const about = facts(explained, measure, purchases);
  return html`${hasDifference(explained) ? [table, about] : [about, table]}
    ${
      explained.checks.length === 0
        ? nothing
        : folded(`Checks (${explained.checks.length})`, checks(explained.checks, measure))
    }
    ${
      trace === null
        ? html`<p class="small quiet">The node does not show the inner calls.</p>`
        : inner_calls_left_out
          ? html`<p class="small quiet">The inner calls are left out: with so much gas, there may be too many.</p>`
          : trace.calls.length === 0
            ? nothing
            : folded("Inner calls", html`<ul class="calls plain">${callTree(trace, measure)}</ul>`)
    }
    ${changes === null ? nothing : stateChanges(changes, measure)}
    ${
      logs.length === 0
        ? nothing
        : folded(
            `Logs (${logs.length})`,
            html`<ul class="plain stack">
              ${logs.map(
                ({ event, contract, fields }) =>
                  html`<li class="small"><strong>${event ?? "an unknown event"}</strong> of ${contract}
                    <dl class="facts">
                      ${Object.entries(fields).map(([name, data]) => html`<dt>${name}</dt><dd>${argument(name, data, measure)}</dd>`)}
                    </dl>
                  </li>`,
              )}
            </ul>`,
          )
    }
    ${
      transaction === null
        ? nothing
        : folded(
            `Raw bytes (${(transaction.input.length - 2) / 2})`,
            html`<p class="small"><code class="value">${transaction.input}</code></p>`,
          )
    }`;
}

/** Returns whether an argument of a call has another value than the expected one. */
export function hasDifference({ call }: Explanation): boolean {
  return call?.fields.some(({ equal }) => !equal) ?? false;
}

/** The balances and the storage that the transaction has changed. */
function stateChanges({ balances, storage }: StateChanges, measure: Measure): TemplateResult {
  const count = balances.length + storage.length;
  if (count === 0) return html``;
  return folded(
    `State changes (${count})`,
    html`<ul class="plain stack">
      ${balances.map(
        ({ asset, address, name, change }) =>
          html`<li class="small">${account({ address, name })}: <span class="amount">${formatChange(asset, change, measure)}</span></li>`,
      )}
      ${storage.map(
        ({ contract, name, slot, before, after }) =>
          html`<li class="small"><code>${linked(name ?? slot, measure.labels)}</code> of ${contract}:
            ${value(before, measure, name ?? "")} → ${value(after, measure, name ?? "")}</li>`,
      )}
    </ul>`,
  );
}

function formatChange(asset: string, change: string, measure: Measure): string {
  const amount = asset === "ETH" ? formatWei(change) : formatAmount(change, measure);
  return change.startsWith("-") ? amount : `+${amount}`;
}

/** The cause in one sentence, the revert in words, and the checks that failed because of it. */
function verdict(
  { accepted, cause, causes, revert, step }: Explanation,
  { labels }: Measure,
): TemplateResult {
  const tone = accepted ? "good" : step === null ? "" : "bad";
  const others = causes.slice(1);
  return html`<div class=${`notice ${tone}`}>
    <p>${linked(cause, labels)}</p>
    ${revert?.meaning == null ? nothing : html`<p>${linked(revert.meaning, labels)}</p>`}
    ${others.length === 0 ? nothing : html`<ul class="small">${others.map((other) => html`<li>${linked(other, labels)}</li>`)}</ul>`}
  </div>`;
}

/** Sender, recipient, block, time and gas, and the step of the purchase that it is compared with. */
function facts(explained: Explanation, measure: Measure, purchases: PurchasesById): TemplateResult {
  const { transaction, step, submission } = explained;
  const subjects = subjectsOf(explained);
  return html`<dl class="facts small">
    ${transaction === null ? nothing : envelope(transaction, measure)}
    ${
      step === null || subjects.length === 0
        ? nothing
        : html`<dt>Compared with</dt>
          <dd class="row"><span>the ${step} of</span> ${subjects.map((id) => [namesOf(purchases.get(id)), subjectLink(id)])}</dd>`
    }
    ${
      submission === null
        ? nothing
        : html`<dt>Submitted</dt>
          <dd>Refused with <code>${submission.code}</code>: <code class="value">${submission.request}</code></dd>`
    }
  </dl>`;
}

function namesOf(purchase: PurchaseView | undefined): Template {
  return purchase === undefined ? nothing : subjectName(purchase);
}

function envelope(transaction: NonNullable<Explanation["transaction"]>, measure: Measure): Template {
  const { from, to, block_number, at, gas_used, fee_wei, value_wei } = transaction;
  const named = (address: string) => ({ address, name: measure.labels[address.toLowerCase()] ?? null });
  return html`<dt>From</dt>
    <dd>${from === null ? "no account" : account(named(from))}</dd>
    <dt>To</dt>
    <dd>${to === null ? "a new contract" : account(named(to))}</dd>
    <dt>Block</dt>
    <dd>${block_number === null ? "not mined yet" : blockLink(block_number)}</dd>
    ${at === null ? nothing : html`<dt>Time</dt><dd>${time(at, measure)}</dd>`}
    ${
      gas_used === null || fee_wei === null
        ? nothing
        : html`<dt>Gas</dt><dd class="amount">${formatCount(gas_used)} used, ${formatWei(fee_wei)} paid</dd>`
    }
    ${value_wei === "0" ? nothing : html`<dt>Ether</dt><dd class="amount">${formatWei(value_wei)}</dd>`}`;
}

/** The decoded call, field by field; what differs is marked. */
function callTable(call: NonNullable<Explanation["call"]>, measure: Measure): TemplateResult {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="The call, field by field">
    <table class="small difference">
      <caption>
        <code>${call.function ?? "an unknown function"}</code> at ${call.contract}${
          call.function === call.expected_function
            ? ""
            : html`; expected <code>${call.expected_function}</code> at ${call.expected_contract}`
        }
      </caption>
      <thead>
        <tr><th scope="col">Field</th><th scope="col">Expected</th><th scope="col">Found</th></tr>
      </thead>
      <tbody>
        ${call.fields.map(
          ({ name, expected, actual, equal }) => html`<tr class=${equal ? "" : "differs"}>
            <th scope="row">${equal ? nothing : html`<span class="error">≠ </span>`}${name}</th>
            <td>${argument(name, expected, measure)}</td>
            <td>${argument(name, actual, measure)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Names of arguments and of fields of events that hold an amount in base units. */
const amounts = [
  "amount",
  "value",
  "award",
  "cap",
  "released",
  "paidTotal",
  "collectedTotal",
  "requestedAmount",
];

function argument(name: string, data: unknown, measure: Measure): TemplateResult {
  const isAmount = amounts.includes(name) && typeof data === "string" && /^\d+$/.test(data);
  return isAmount ? amount(data, measure) : value(data, measure, name);
}

/** A call with the calls that it made, and where it failed. */
function callTree({ type, contract, call, failure, calls }: Frame, measure: Measure): TemplateResult {
  return html`<li class="small">
    <code>${linked(call, measure.labels)}</code> of ${contract} <span class="quiet">${type.toLowerCase()}</span>
    ${failure === null ? nothing : html`<span class="error">${linked(failure, measure.labels)}</span>`}
    ${calls.length === 0 ? nothing : html`<ul class="calls plain">${calls.map((inner) => callTree(inner, measure))}</ul>`}
  </li>`;
}
