import { getAddress } from "viem";
import type { DecodedLog } from "../../protocol/binding/match-log.ts";
import type { PaymentReceipt } from "../purchases/schemas.ts";

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
