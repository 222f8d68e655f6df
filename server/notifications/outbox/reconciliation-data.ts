import type { PaymentReceipt } from "../../purchases/schemas.ts";
import { eventListLimit, type NewEvent } from "./event-types.ts";

type ReconciliationData = Extract<NewEvent, { type: "purchase.reconciled" }>["data"];

/**
 * Returns the data of a reconciliation's event: the payments by their logs, cut so that the event fits into a body that
 * receivers take.
 *
 * @example reconciliationData(purchase.id, { applied, reverted, affected: [purchase.id] })
 */
export function reconciliationData(
  purchaseId: string,
  changed: {
    applied: readonly PaymentReceipt[];
    reverted: readonly PaymentReceipt[];
    affected: readonly string[];
  },
): ReconciliationData {
  const { applied, reverted, affected } = changed;
  return {
    purchase_id: purchaseId,
    applied: firstLogs(applied),
    reverted: firstLogs(reverted),
    affected_purchases: affected.slice(0, eventListLimit),
    totals: { applied: applied.length, reverted: reverted.length, affected_purchases: affected.length },
  };
}

function firstLogs(receipts: readonly PaymentReceipt[]): ReconciliationData["applied"] {
  return receipts
    .slice(0, eventListLimit)
    .map(({ transaction_hash, log_index, amount }) => ({ transaction_hash, log_index, amount }));
}
