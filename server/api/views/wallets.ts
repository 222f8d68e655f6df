import type { Json } from "../../../protocol/values/json.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import type { SubmissionRecord } from "../../store/records.ts";

/** A submission of a wallet as it is answered. */
export function viewSubmission(submission: SubmissionRecord) {
  const { action, transaction_hash, signature, amount = null, reason = null, submitted_at } = submission;
  return {
    action,
    transaction_hash,
    signature,
    amount,
    reason,
    submitted_at: toTimestamp(submitted_at),
  } satisfies Json;
}
