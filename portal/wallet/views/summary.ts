import { formatAmount, formatUnits } from "../../amounts/format-amount.ts";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { paymentActions } from "../next-action.ts";
import type { Action, ActionName, Capabilities, WalletView } from "../wallet-api.ts";
import { plainReason } from "./action-words.ts";

type Subject = WalletView["subject"];
type PurchaseSubject = Extract<Subject, { type: "purchase" }>;
type Token = Capabilities["contracts"]["token"];

/** Returns whether nothing is left to pay of a purchase. */
export function isPaid(subject: Subject): boolean {
  return subject.type === "purchase" && subject.outstanding === "0";
}

/** The outcome of the claim of a purchase, and what happens next; null while no claim is filed. */
function claimOutcome(subject: PurchaseSubject, token: Token) {
  const { merchant_name, status, requested_amount, award, refunded } = subject;
  if (refunded !== "0")
    return {
      title: `${merchant_name} refunded ${formatAmount(refunded, token)}`,
      said: "The refund is complete: the beneficiary has the money.",
      tone: "good",
    };
  switch (status) {
    case "claimed":
      return {
        title: `Claim of ${formatAmount(requested_amount, token)} filed`,
        said: `A reviewer decides next. Until then ${merchant_name} keeps the money.`,
        tone: "",
      };
    case "denied":
      return {
        title: `Claim of ${formatAmount(requested_amount, token)} denied`,
        said: `The reviewer's decision is final: ${merchant_name} keeps the money.`,
        tone: "warn",
      };
    case "approved":
      return {
        title: `Refund of ${formatAmount(award, token)} approved`,
        said: `The program collects it from ${merchant_name} next.`,
        tone: "",
      };
    case "refund_due":
      return {
        title: `Refund of ${formatAmount(award, token)} on its way`,
        said: `The program is collecting it from ${merchant_name}; no transaction is confirmed yet.`,
        tone: "",
      };
    default:
      return null;
  }
}

/** The title of the page: what is to be done, or what was done. */
export function titleOf({ subject, actions }: WalletView, token: Token): string {
  const whyNot = (name: ActionName) => actions.find((action) => action.name === name)?.why_not ?? "";
  if (subject.type === "merchant")
    return whyNot("enroll") === "" ? `Enroll the wallet of ${subject.name}` : `The wallet of ${subject.name}`;
  const { merchant_name, status, paid, outstanding } = subject;
  const claimed = claimOutcome(subject, token);
  if (claimed !== null) return claimed.title;
  if (isPaid(subject)) return `Paid ${formatAmount(paid, token)} to ${merchant_name}`;
  if (/deadline/.test(whyNot("approve") + whyNot("pay"))) return `Too late to pay ${merchant_name}`;
  const price = `${formatAmount(outstanding, token)} to ${merchant_name}`;
  return status === "created" && whyNot("approve") !== "" ? `Not payable yet: ${price}` : `Pay ${price}`;
}

/** Returns whether the merchant of a page is enrolled, and its funding not revoked. */
export function isEnrolled({ actions }: WalletView): boolean {
  const whyNot = actions.find(({ name }) => name === "enroll")?.why_not ?? "";
  return whyNot.includes("The merchant has enrolled before") && !whyNot.includes("revoked");
}

/** Says that a merchant is enrolled, or why it cannot enroll; nothing while it can. */
export function viewEnrollment(wallet: WalletView, token: Token) {
  const { subject, actions } = wallet;
  const whyNot = actions.find(({ name }) => name === "enroll")?.why_not ?? null;
  if (subject.type === "purchase" || whyNot === null) return nothing;
  if (!isEnrolled(wallet)) return html`<p class="notice warn">${plainReason(whyNot, token)}</p>`;
  return subject.funding_shortfall === "0"
    ? html`<p class="notice good">Enrolled. Refunds can be collected.</p>`
    : html`<p class="notice">Enrolled. Refunds can be collected once the funding source is approved.</p>`;
}

/** Says what came of a claim and what was paid, with the transactions, or why nothing can be paid; nothing while all is to be paid. */
export function viewReceipt({ subject, actions }: WalletView, token: Token) {
  if (subject.type === "merchant") return nothing;
  const { merchant_name, amount, paid, payment_hashes, refund_hash, requested_amount, claim_reason } =
    subject;
  const whyNot = whyNotPayable(subject, actions, token);
  if (paid === "0") return whyNot === null ? nothing : html`<p class="notice warn">${whyNot}</p>`;
  const claimed = claimOutcome(subject, token);
  const said = isPaid(subject)
    ? claimed === null
      ? `The payment of ${formatAmount(paid, token)} is complete: ${merchant_name} has the money.`
      : `${formatAmount(paid, token)} were paid to ${merchant_name}.`
    : `${formatUnits(paid, token.decimals, 2)} of ${formatAmount(amount, token)} are paid.`;
  return html`${
    claimed === null
      ? nothing
      : html`<div class="notice ${claimed.tone}">
        <p>${claimed.said}</p>
        ${refund_hash === null ? nothing : viewHash(refund_hash)}
        ${claim_reason === null ? nothing : html`<p>${formatAmount(requested_amount, token)} were claimed: “${claim_reason}”</p>`}
      </div>`
  }
    <div class="notice ${isPaid(subject) && claimed === null ? "good" : ""}">
      <p>${said}</p>
      ${payment_hashes.map(viewHash)}
      ${isPaid(subject) || whyNot === null ? nothing : html`<p>${whyNot}</p>`}
    </div>`;
}

function viewHash(hash: string) {
  return html`<p class="small">Transaction <code>${hash}</code></p>`;
}

/** The reason why a purchase takes no payment; null while a step of a payment is possible. */
function whyNotPayable(
  { status, merchant_name }: PurchaseSubject,
  actions: readonly Action[],
  token: Token,
): string | null {
  const isAllowed = (name: ActionName) => actions.some((one) => one.name === name && one.allowed);
  if (paymentActions.some(isAllowed)) return null;
  if (isAllowed("register"))
    return `${merchant_name} has to put this purchase on the chain first: through the program, or with the step below. Then the buyer can pay here.`;
  const decisive = status === "created" ? "pay" : "approve";
  return plainReason(actions.find(({ name }) => name === decisive)?.why_not ?? "", token);
}

/** Says what is paid, how much and until when; or of a merchant how much refunds may draw from its wallet. */
export function viewSummary(
  { subject, actions }: WalletView,
  { contracts: { token } }: Capabilities,
): TemplateResult {
  return html`<section class="panel" aria-label="Summary">
    ${subject.type === "purchase" ? purchaseSummary(subject, actions, token) : merchantSummary(subject, token)}
  </section>`;
}

/** The deadlines of a purchase that can still be met. */
function openDeadlines({ status, paid }: PurchaseSubject, actions: readonly Action[]) {
  const toPay = actions.some(
    ({ name, allowed }) => allowed && (name === "register" || paymentActions.includes(name)),
  );
  const whyNotClaim = actions.find(({ name }) => name === "claim")?.why_not ?? "";
  const isUnclaimed = status === "created" || status === "active";
  return { toPay, toClaim: isUnclaimed && (toPay || paid !== "0") && !/deadline/.test(whyNotClaim) };
}

function purchaseSummary(subject: PurchaseSubject, actions: readonly Action[], token: Token): TemplateResult {
  const { id, merchant, buyer, beneficiary, terms, amount, pay_deadline, claim_deadline } = subject;
  const { toPay, toClaim } = openDeadlines(subject, actions);
  return html`<dl class="facts">
      <dt>For</dt><dd>${viewTerms(terms)}</dd>
      <dt>Price</dt><dd><strong class="amount">${formatAmount(amount, token)}</strong></dd>
      ${toPay ? html`<dt>Pay until</dt><dd>${viewDate(pay_deadline)}</dd>` : nothing}
    </dl>
    <details>
      <summary>Details: accounts${toClaim ? " and deadline" : ""}</summary>
      <dl class="facts small bytes">
        <dt>Paid to</dt><dd><code>${merchant}</code></dd>
        <dt>Paid by</dt><dd><code>${buyer}</code></dd>
        ${beneficiary === buyer ? nothing : html`<dt>Refunds go to</dt><dd><code>${beneficiary}</code></dd>`}
        ${toClaim ? html`<dt>Claim until</dt><dd>${viewDate(claim_deadline)}</dd>` : nothing}
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
