import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { DecisionRecord } from "../store/records.ts";

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
