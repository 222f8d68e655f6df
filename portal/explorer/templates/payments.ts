import type { FiguresView } from "../../../sandbox/explorer/views.ts";
import { formatAmount, formatUnits } from "../../amounts/format-amount.ts";
import { html, nothing, svg, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { type Measure, percent } from "../format.ts";

/** The payments of a purchase against its amount: paid, reconciled and refunded, as a bar and in words. Only paid money fills the bar. */
export function paymentSummary(figures: FiguresView, measure: Measure): TemplateResult {
  const { amount, paid, reconciled, refunded } = figures;
  const share = (part: string) => percent(part, amount);
  const bare = (units: string) => formatUnits(units, measure.decimals, 2);
  const spoken = `${bare(paid)} of ${formatAmount(amount, measure)} paid, ${bare(reconciled)} reconciled, ${bare(refunded)} refunded`;
  return html`<div class="payments">
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${spoken}>
      <rect class="track" width="100" height="8"></rect>
      ${svg`<rect class="paid" width=${share(paid)} height="8"></rect>
        <rect class="reconciled" width=${share(reconciled)} height="8"></rect>
        <rect class="refunded" x=${Math.max(0, share(paid) - share(refunded))} width=${share(refunded)} height="8"></rect>`}
    </svg>
    <p class="small">
      <span class="amount"
        ><strong>${bare(paid)}</strong> of ${formatAmount(amount, measure)} paid</span
      >
      ${refunded === "0" ? nothing : html`<span class="amount quiet">${bare(refunded)} refunded</span>`}
      ${
        paid === reconciled ? nothing : html`<span class="amount quiet">${bare(reconciled)} reconciled</span>`
      }
    </p>
  </div>`;
}

/** The meaning of the colors of payment bars. */
export function legend(): TemplateResult {
  return html`<ul class="legend plain small quiet" aria-label="Colors of the bars">
    ${["paid", "reconciled", "refunded"].map(
      (name) =>
        html`<li><svg viewBox="0 0 8 8" width="10" height="10" aria-hidden="true"><rect class=${name} width="8" height="8"></rect></svg>${name}</li>`,
    )}
  </ul>`;
}
