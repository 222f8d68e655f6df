import type { Explanation } from "../../../sandbox/hosts/explain/explanation.ts";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { ask } from "../api.ts";
import { checks, copyable, subjectLink, value } from "../templates.ts";
import { defineView } from "../view.ts";

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

/** Renders the reason why a transaction is accepted or refused, with its call next to the expected one. */
export function explanation(explained: Explanation): TemplateResult {
  const { accepted, cause, call, logs } = explained;
  return html`<p class=${`notice ${accepted ? "good" : "bad"}`}>${cause}</p>
    ${comparison(explained)}
    ${explained.checks.length === 0 ? nothing : checks(explained.checks)} ${call === null ? nothing : callTable(call)}
    ${
      logs.length === 0
        ? nothing
        : html`<details>
          <summary>Logs</summary>
          <ul class="plain">
            ${logs.map(
              ({ event, contract, fields }) =>
                html`<li class="small">${event ?? "an unknown event"} of ${contract} ${value(fields)}</li>`,
            )}
          </ul>
        </details>`
    }`;
}

/** Says which step of which object the transaction is compared with, and the submission that asked for it. */
function comparison({ step, subject, submission }: Explanation): TemplateResult | typeof nothing {
  if (step === null || subject === null) return nothing;
  const asked =
    submission === null
      ? nothing
      : html`<br />Refused with <code>${submission.code}</code>:
          <code class="value">${submission.request}</code>`;
  return html`<p class="small">
    Compared with the ${step} of ${subject.split(", ").map(subjectLink)}.${asked}
  </p>`;
}

/** The decoded call, field by field; what differs is marked. */
function callTable(call: NonNullable<Explanation["call"]>): TemplateResult {
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
            <td>${value(expected)}</td>
            <td>${value(actual)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
