import type { RelayerContext } from "../context.ts";
import { RpcUnavailableError } from "../errors.ts";
import { supersede, writeWithBudget } from "../journal/gas-budget.ts";
import { type RelayOperationRecord, unsignedAttempt } from "../journal/relay-operation.ts";

/**
 * The call of an operation must no longer be mined.
 *
 * Not a CodedError: the relayer catches it, and notes the reason in the operation.
 */
export class PreconditionError extends Error {}

/**
 * Asks whether an operation's call may still be mined.
 *
 * @throws PreconditionError when it may not, RpcUnavailableError when that cannot be read; nothing may be sent then.
 */
export async function requirePrecondition(
  { preconditions }: RelayerContext,
  operation: RelayOperationRecord,
): Promise<void> {
  // A superseded attempt sends nothing but the transaction that cancels it.
  if (operation.superseded) return;
  let whyNot: string | null;
  try {
    whyNot = (await preconditions[operation.kind]?.(operation)) ?? null;
  } catch (error) {
    throw new RpcUnavailableError(`The precondition of ${operation.operation_id}`, error);
  }
  if (whyNot !== null) throw new PreconditionError(whyNot);
}

/**
 * Withdraws an operation whose precondition does not hold: it has failed, and the next request for the same effect starts a new operation. An attempt
 * that has a nonce is superseded, so that the relayer fills the nonce with a transaction that does nothing, and no further attempt
 * begins before that one, or the call itself, is mined.
 *
 * @returns the operation as it is now, and the superseded attempt if there is one.
 */
export async function withdraw(
  context: RelayerContext,
  operation: RelayOperationRecord,
  { message }: PreconditionError,
): Promise<{ operation: RelayOperationRecord; superseded: RelayOperationRecord | null }> {
  const failed = {
    status: "failed",
    status_reason: "precondition_failed",
    reserved_wei: "0",
    error: { code: "precondition_failed", message, rpc_code: null, revert: null },
  } as const;
  if (operation.nonce === null) {
    const unsent = { ...operation, ...failed };
    return {
      operation: await writeWithBudget(context, operation, operation.program, () => unsent),
      superseded: null,
    };
  }
  const superseded: RelayOperationRecord = {
    ...operation,
    superseded: true,
    status_reason: "precondition_failed",
  };
  const next = unsignedAttempt({ ...operation, ...failed, attempt: operation.attempt + 1 });
  const withdrawn = await supersede(context, operation, () => ({
    superseded,
    operation: { ...next, error: failed.error },
  }));
  return { operation: withdrawn, superseded };
}
