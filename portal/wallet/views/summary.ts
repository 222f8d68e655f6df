import { formatAmount, formatUnits } from "../../amounts/format-amount.ts";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import type { ActionName, Capabilities, WalletView } from "../wallet-api.ts";
import { plainReason } from "./action-words.ts";

type Subject = WalletView["subject"];
type PurchaseSubject = Extract<Subject, { type: "purchase" }>;
type Token = Capabilities["contracts"]["token"];

/** Returns whether nothing is left to pay of a purchase. */
export function isPaid(subject: Subject): boolean {
  return subject.type === "purchase" && subject.outstanding === "0";
}

/** The title of a purchase with a claim, by its status. */
const claimTitles: { readonly [S in PurchaseSubject["status"]]?: string } = {
  claimed: "Claim filed; a reviewer decides",
  approved: "Refund approved",
  refund_due: "Refund approved",
  denied: "Claim denied",
};

/** The title of the page: what is to be done, or what was done. */
export function titleOf({ subject, actions }: WalletView, token: Token): string {
  const whyNot = (name: ActionName) => actions.find((action) => action.name === name)?.why_not ?? "";
  if (subject.type === "merchant")
    return whyNot("enroll") === "" ? `Enroll the wallet of ${subject.name}` : `The wallet of ${subject.name}`;
  const { merchant_name, status, paid, outstanding, refunded } = subject;
  if (refunded !== "0") return `${merchant_name} refunded ${formatAmount(refunded, token)}`;
  const claimed = claimTitles[status];
  if (claimed !== undefined) return claimed;
  if (isPaid(subject)) return `Paid ${formatAmount(paid, token)} to ${merchant_name}`;
  return whyNot("approve") === "The pay deadline has passed."
    ? `Too late to pay ${merchant_name}`
    : `Pay ${formatAmount(outstanding, token)} to ${merchant_name}`;
}

/** Says that a merchant is enrolled, or why it cannot enroll; nothing while it can. */
export function viewEnrollment({ subject, actions }: WalletView, token: Token) {
  const whyNot = actions.find(({ name }) => name === "enroll")?.why_not ?? null;
  if (subject.type === "purchase" || whyNot === null) return nothing;
  const isEnrolled = whyNot.includes("The merchant has enrolled before") && !whyNot.includes("revoked");
  if (!isEnrolled) return html`<p class="notice warn">${plainReason(whyNot, token)}</p>`;
  return subject.funding_shortfall === "0"
    ? html`<p class="notice good">Enrolled. Refunds can be collected.</p>`
    : html`<p class="notice">Enrolled. Refunds can be collected once the funding source is approved.</p>`;
}

/** Says what was paid, with its transactions, or why nothing can be paid; nothing while all is to be paid. */
export function viewReceipt(subject: PurchaseSubject, whyNotPayable: string | null, token: Token) {
  const { merchant_name, amount, paid, refunded, payment_hashes } = subject;
  if (paid === "0")
    return whyNotPayable === null ? nothing : html`<p class="notice warn">${whyNotPayable}</p>`;
  const said = isPaid(subject)
    ? refunded === "0"
      ? `The payment of ${formatAmount(paid, token)} is complete: ${merchant_name} has the money.`
      : `${formatAmount(paid, token)} were paid before the refund.`
    : `${formatUnits(paid, token.decimals, 2)} of ${formatAmount(amount, token)} are paid.`;
  return html`<div class="notice ${isPaid(subject) ? "good" : ""}">
    <p>${said}</p>
    ${payment_hashes.map((hash) => html`<p class="small">Transaction <code>${hash}</code></p>`)}
    ${isPaid(subject) || whyNotPayable === null ? nothing : html`<p>${whyNotPayable}</p>`}
  </div>`;
}

/** Says what is paid, how much and until when; or of a merchant how much refunds may draw from its wallet. */
export function viewSummary(subject: Subject, { contracts: { token } }: Capabilities): TemplateResult {
  return html`<section class="panel" aria-label="Summary">
    ${subject.type === "purchase" ? purchaseSummary(subject, token) : merchantSummary(subject, token)}
  </section>`;
}

function purchaseSummary(subject: PurchaseSubject, token: Token): TemplateResult {
  const { id, merchant, buyer, beneficiary, terms, amount, pay_deadline, claim_deadline } = subject;
  return html`<dl class="facts">
      <dt>For</dt><dd>${viewTerms(terms)}</dd>
      <dt>Price</dt><dd><strong class="amount">${formatAmount(amount, token)}</strong></dd>
      ${isPaid(subject) ? nothing : html`<dt>Pay until</dt><dd>${viewDate(pay_deadline)}</dd>`}
    </dl>
    <details>
      <summary>Details: accounts and deadlines</summary>
      <dl class="facts small bytes">
        <dt>Paid to</dt><dd><code>${merchant}</code></dd>
        <dt>Paid by</dt><dd><code>${buyer}</code></dd>
        ${beneficiary === buyer ? nothing : html`<dt>Refunds go to</dt><dd><code>${beneficiary}</code></dd>`}
        ${isPaid(subject) ? html`<dt>Pay until</dt><dd>${viewDate(pay_deadline)}</dd>` : nothing}
        <dt>Claim until</dt><dd>${viewDate(claim_deadline)}</dd>
        <dt>Purchase</dt><dd><code>${id}</code></dd>
      </dl>
    </details>`;
}

function merchantSummary(
  { id, wallet, funding_cap, funding_valid_until, funding_shortfall }: Extract<Subject, { type: "merchant" }>,
  token: Token,
): TemplateResult {
  return html`<dl class="facts">
      <dt>Wallet</dt><dd><code>${wallet}</code></dd>
      <dt>Refunds draw at most</dt><dd><strong class="amount">${formatAmount(funding_cap, token)}</strong></dd>
      <dt>Until</dt><dd>${viewDate(funding_valid_until)}</dd>
      ${
        funding_shortfall === "0"
          ? nothing
          : html`<dt>Still to approve</dt><dd><span class="amount">${formatAmount(funding_shortfall, token)}</span>. Without it, refunds can fail.</dd>`
      }
      <dt>Merchant</dt><dd><code>${id}</code></dd>
    </dl>`;
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

/** Shows Unix seconds as a date in UTC. */
export function viewDate(seconds: number): TemplateResult {
  const at = new Date(seconds * 1000);
  return html`<time datetime=${at.toISOString()}>${date.format(at)} UTC</time>`;
}
