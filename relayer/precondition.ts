import type { RelayOperationRecord } from "./journal/operation.ts";

/**
 * Says why the call of an operation must not be mined now, though the contract would take it; null while it may be.
 *
 * It is asked before every broadcast: the first one, and each that follows a reorg, a restart or a lost answer.
 */
export type Precondition = (
  operation: Pick<RelayOperationRecord, "operation_id" | "decoded">,
) => Promise<string | null>;
