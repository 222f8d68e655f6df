import { hashReason } from "../../protocol/messages/claim.ts";
import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { ClaimRecord, PurchaseRecord } from "../store/records.ts";

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
