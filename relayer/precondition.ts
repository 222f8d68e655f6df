import type { ObservedLog } from "../protocol/binding/observed-transaction.ts";
import type { RelayOperationRecord } from "./journal/relay-operation.ts";

/**
 * Says why the call of an operation must not be mined now, though the contract would take it; null while it may be.
 *
 * It is asked before every broadcast: the first one, and each that follows a reorg, a restart or a lost answer.
 */
export type Precondition = (
  operation: Pick<RelayOperationRecord, "operation_id" | "decoded">,
) => Promise<string | null>;

/**
 * Records what an operation is sent for, once. It is awaited before the operation claims a nonce: whatever becomes of the operation then,
 * the record is durable, and an operation that the simulation or the precondition refuses leaves none.
 *
 * @param at - chain time, in Unix seconds.
 */
export type BeforeNonce = (
  operation: Pick<RelayOperationRecord, "operation_id" | "subject" | "decoded">,
  at: number,
) => Promise<void>;

/**
 * A function that returns the other effect that the mined transaction of an operation has had, because the precondition did not hold
 * in its block; null when it did that. It reads the logs of the transaction.
 */
export type EffectCheck = (
  operation: Pick<RelayOperationRecord, "operation_id" | "decoded" | "to">,
  logs: readonly ObservedLog[],
) => Promise<string | null>;
