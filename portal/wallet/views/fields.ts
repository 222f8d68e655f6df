import { formatAmount } from "../../amounts/format-amount.ts";
import { html, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import type { Action, Capabilities } from "../wallet-api.ts";
import { kindOf } from "./action-words.ts";

/** Shows fields by their names: amounts in tokens and in base units, moments in UTC, addresses with what they are. */
export function viewFields(fields: object, contracts: Capabilities["contracts"]): TemplateResult {
  return html`<dl class="facts">
    ${flatten(fields).map(([name, value]) => html`<dt>${name}</dt><dd>${viewValue(name, value, contracts)}</dd>`)}
  </dl>`;
}

/** Shows what a transaction does: who calls which function of which contract, with what. */
export function viewActionCall(
  transaction: NonNullable<Action["transaction"]>,
  contracts: Capabilities["contracts"],
) {
  const { chain_id, from, to, value, function: called, args } = transaction;
  return html`<dl class="facts">
      <dt>From</dt><dd>${viewValue("from", from, contracts)}</dd>
      <dt>To</dt><dd>${viewValue("to", to, contracts)}</dd>
      <dt>Function</dt><dd><code>${called}</code></dd>
      <dt>Ether</dt><dd class="number">${value} wei</dd>
      <dt>Chain</dt><dd class="number">${chain_id}</dd>
    </dl>
    <h4>Arguments</h4>
    ${viewFields(args, contracts)}`;
}

function viewValue(name: string, value: string, contracts: Capabilities["contracts"]) {
  switch (kindOf(name)) {
    case "amount":
      return html`<span class="amount">${formatAmount(value, contracts.token)}</span>
        <span class="quiet small number">${value} base units</span>`;
    case "time":
      return html`<time>${new Date(Number(value) * 1000).toISOString().replace(".000", "")}</time>
        <span class="quiet small number">${value}</span>`;
    default:
      return html`<code>${value}</code> ${roleOf(value, contracts)}`;
  }
}

function roleOf(value: string, { token, registrar, funding_source }: Capabilities["contracts"]) {
  const roles = new Map<string, string>([
    [token.address, `the ${token.symbol} token`],
    [registrar.address, "the registrar contract"],
    [funding_source.address, "the funding source"],
  ]);
  const role = roles.get(value);
  return role === undefined ? "" : html`<span class="quiet small">${role}</span>`;
}

/** Returns all fields; the fields of an object in them get dotted names. */
function flatten(fields: object, prefix = ""): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    typeof value === "object" && value !== null
      ? flatten(value, `${prefix}${name}.`)
      : [[prefix + name, String(value)]],
  );
}
