import { formatAmount } from "../../amounts/format-amount.ts";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import type { Capabilities, WalletView } from "../wallet-api.ts";

type Subject = WalletView["subject"];

/** The title of the page. */
export function titleOf(subject: Subject): string {
  return subject.type === "merchant" ? `The wallet of ${subject.name}` : `Pay ${subject.merchant_name}`;
}

/** Says who is paid, for what, how much and until when; or of a merchant how much refunds may draw from its wallet. */
export function viewSummary(subject: Subject, { contracts: { token } }: Capabilities): TemplateResult {
  if (subject.type === "merchant")
    return summary(html`<dt>Merchant</dt><dd><strong>${subject.name}</strong></dd>
      <dt>Wallet</dt><dd><code>${subject.wallet}</code></dd>
      <dt>Refunds draw at most</dt><dd><strong class="amount">${formatAmount(subject.funding_cap, token)}</strong></dd>
      <dt>Until</dt><dd>${viewDate(subject.funding_valid_until)}</dd>
      ${
        subject.funding_shortfall === "0"
          ? nothing
          : html`<dt>Not approved</dt><dd><span class="amount">${formatAmount(subject.funding_shortfall, token)}</span>, so that refunds can fail</dd>`
      }`);
  const { merchant_name, merchant, terms, amount, paid, outstanding } = subject;
  return summary(html`<dt>Paid to</dt><dd><strong>${merchant_name}</strong> <code class="small quiet">${merchant}</code></dd>
    <dt>For</dt><dd>${viewTerms(terms)}</dd>
    <dt>Price</dt><dd><strong class="amount">${formatAmount(amount, token)}</strong>${
      paid === "0"
        ? nothing
        : html`, <span class="amount">${formatAmount(paid, token)}</span> paid, <span class="amount">${formatAmount(outstanding, token)}</span> left`
    }</dd>
    <dt>Pay until</dt><dd>${viewDate(subject.pay_deadline)}</dd>
    <dt>Claim until</dt><dd>${viewDate(subject.claim_deadline)}</dd>
    <dt>Paid by</dt><dd><code class="small">${subject.buyer}</code></dd>
    ${
      subject.beneficiary === subject.buyer
        ? nothing
        : html`<dt>Refunds go to</dt><dd><code class="small">${subject.beneficiary}</code></dd>`
    }`);
}

function summary(facts: TemplateResult): TemplateResult {
  return html`<section class="panel" aria-label="Summary"><dl class="facts">${facts}</dl></section>`;
}

/** Terms by their names where they are texts and numbers, else as JSON. */
function viewTerms(terms: object): TemplateResult {
  const entries = Object.entries(terms);
  const isPlain = entries.every(([, value]) => typeof value !== "object" || value === null);
  if (entries.length === 0) return html`<span class="quiet">no terms</span>`;
  if (!isPlain) return html`<pre tabindex="0" aria-label="Terms">${JSON.stringify(terms, null, 2)}</pre>`;
  return html`${entries.map(([name, value], index) => html`${index === 0 ? nothing : ", "}${name} <strong>${String(value)}</strong>`)}`;
}

const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

function viewDate(seconds: number): TemplateResult {
  const at = new Date(seconds * 1000);
  return html`<time datetime=${at.toISOString()}>${date.format(at)} UTC</time>`;
}
