import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import type { PurchaseRecord, RefundRecord } from "../store/records.ts";

/** A refund as it is answered, with the claim that the chain has paid. */
export function viewRefund(
  refund: RefundRecord,
  purchase: PurchaseRecord,
  { collectedClaimHash }: Pick<ChainPurchase, "collectedClaimHash">,
) {
  return {
    id: refund.id,
    program: refund.program,
    purchase_id: refund.purchase_id,
    decision_id: refund.decision_id,
    status: refund.status,
    award: refund.award,
    from: purchase.merchant,
    to: purchase.beneficiary,
    operation_id: refund.operation_id,
    transaction_hash: refund.transaction_hash,
    claim_hash: collectedClaimHash,
    created_at: toTimestamp(refund.created_at),
    collected_at: refund.collected_at === null ? null : toTimestamp(refund.collected_at),
    event_id: refund.event_id,
  } satisfies Json;
}
