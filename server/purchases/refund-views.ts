import type { z } from "zod";
import { hashReason } from "../../protocol/messages/claim.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import { copyFields } from "../http/answers/copy-fields.ts";
import { type Claim, claimSchema, decisionSchema, type Refund, refundSchema } from "../schemas/refunds.ts";
import type { ClaimRecord, DecisionRecord, PurchaseRecord, RefundRecord } from "../store/records.ts";

/** A claim as it is answered. */
export function viewClaim(claim: ClaimRecord, purchase: PurchaseRecord): Claim {
  return {
    ...copyFields(claimSchema, claim),
    beneficiary: purchase.beneficiary,
    reason_hash: hashReason(claim.reason),
    created_at: toTimestamp(claim.created_at),
  };
}

/** A decision as it is answered. */
export function viewDecision(decision: DecisionRecord): z.output<typeof decisionSchema> {
  const { statement } = decision;
  return {
    ...copyFields(decisionSchema, { ...statement, ...decision }),
    purchase_id: statement.purchase,
    created_at: toTimestamp(decision.created_at),
  };
}

/** A refund as it is answered, with the claim that the chain has paid. */
export function viewRefund(
  refund: RefundRecord,
  purchase: PurchaseRecord,
  { collectedClaimHash }: Pick<ChainPurchase, "collectedClaimHash">,
): Refund {
  return {
    ...copyFields(refundSchema, refund),
    from: purchase.merchant,
    to: purchase.beneficiary,
    claim_hash: collectedClaimHash,
    created_at: toTimestamp(refund.created_at),
    collected_at: refund.collected_at === null ? null : toTimestamp(refund.collected_at),
  };
}
