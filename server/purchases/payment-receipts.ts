import { getAddress } from "viem";
import type { DecodedLog } from "../../protocol/binding/match-log.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import type { PaymentReceipt } from "../schemas/purchases.ts";
import type { PurchaseRecord } from "../store/records.ts";

type Recorded = Pick<PurchaseRecord, "receipts">;
type Payments = Pick<ChainPurchase, "payments">;

/** Returns the amount that reconcile has recorded as paid, in base units. */
export function reconciledOf({ receipts }: Recorded): bigint {
  return receipts.reduce((sum, receipt) => sum + BigInt(receipt.amount), 0n);
}

/** Returns whether the chain still has a recorded payment where it was recorded. */
export function isPaymentOnChain(receipt: PaymentReceipt, { payments }: Payments): boolean {
  return payments.some(
    ({ log }) => log.blockHash === receipt.block_hash && log.logIndex === receipt.log_index,
  );
}

/** The recorded payments that a reorg has removed. */
export function removedPayments({ receipts }: Recorded, onChain: Payments): PaymentReceipt[] {
  return receipts.filter((receipt) => !isPaymentOnChain(receipt, onChain));
}

/** Says why a purchase takes no payment, and so no approval of one, whatever is outstanding; null when it takes one. */
export function whyNotPayable({
  exists,
  closed,
  refunded,
}: Pick<ChainPurchase, "exists" | "closed" | "refunded">): string | null {
  if (!exists) return "The purchase is not on chain yet.";
  if (refunded > 0n) return "The purchase is refunded: it takes no more payments.";
  if (closed === "withdrawn") return "The offer was withdrawn: the purchase takes no more payments.";
  return closed === null ? null : "The purchase has expired on chain: it takes no more payments.";
}

/** Says why a step that counts on the recorded payments is not taken; null when the chain still has all of them. */
export function whyPaymentsRemoved(purchase: Recorded, onChain: Payments): string | null {
  const { length } = removedPayments(purchase, onChain);
  if (length === 0) return null;
  return `The chain no longer has ${length} of the reconciled payments. Reconcile the purchase with POST …/reconcile.`;
}

/** A payment log as a payment receipt, with the time of its reconciliation where it has one. */
export function viewPaymentReceipt(
  payment: DecodedLog,
  reconciled: readonly PaymentReceipt[],
): PaymentReceipt {
  const { log, fields } = payment;
  const known = reconciled.find(
    (receipt) => receipt.block_hash === log.blockHash && receipt.log_index === log.logIndex,
  );
  return {
    transaction_hash: log.transactionHash,
    log_index: log.logIndex,
    block_number: Number(log.blockNumber),
    block_hash: log.blockHash,
    payer: getAddress(String(fields["buyer"])),
    amount: String(fields["amount"]),
    paid_total: String(fields["paidTotal"]),
    reconciled_at: known?.reconciled_at ?? null,
  };
}
