import { hashReason } from "../../protocol/messages/claim.ts";
import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import type { ClaimRecord, DecisionRecord, PurchaseRecord, RefundRecord } from "../store/records.ts";

/** A claim as it is answered. */
export function viewClaim(claim: ClaimRecord, purchase: PurchaseRecord) {
  return {
    id: claim.id,
    program: claim.program,
    purchase_id: claim.purchase_id,
    beneficiary: purchase.beneficiary,
    requested_amount: claim.requested_amount,
    reason: claim.reason,
    reason_hash: hashReason(claim.reason),
    claim_hash: claim.claim_hash,
    signature: claim.signature,
    transaction_hash: claim.transaction_hash,
    created_at: toTimestamp(claim.created_at),
    event_id: claim.event_id,
  } satisfies Json;
}

/** A decision as it is answered. */
export function viewDecision(decision: DecisionRecord) {
  const { statement } = decision;
  return {
    id: decision.id,
    program: statement.program,
    purchase_id: statement.purchase,
    claim_id: statement.claim_id,
    outcome: statement.outcome,
    award: statement.award,
    decided_at: statement.decided_at,
    reviewer_key_id: statement.reviewer_key_id,
    approval: decision.approval,
    decision_hash: decision.decision_hash,
    created_at: toTimestamp(decision.created_at),
    event_id: decision.event_id,
  } satisfies Json;
}

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
