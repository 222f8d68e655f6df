import type { RelayerContext } from "../context.ts";
import { RelayOperationNotResumableError, RelayOperationUnknownError } from "../errors.ts";
import { operationLock, type RelayOperationRecord } from "../journal/relay-operation.ts";
import { atOneTime } from "../journal/timestamp.ts";
import { readNonce } from "../node/node.ts";
import { drive } from "../submission/drive.ts";

/**
 * Lets an operation continue that foreign use of the signer has stopped, once a person has looked.
 *
 * Without a nonce it claims the next one that the chain has free. With a nonce it keeps that nonce and is looked at
 * again: if the chain still gives the nonce to another transaction, it still needs attention.
 */
export function resume(context: RelayerContext, operationId: string): Promise<RelayOperationRecord> {
  return withStopped(context, operationId, async (operation) => {
    const resumed: RelayOperationRecord = {
      ...operation,
      status: operation.nonce === null ? "accepted" : "signed",
      status_reason: null,
      nonce_floor: await readNonce(context.node, operation.from),
    };
    await context.journal.write({ operation: resumed });
    return drive(atOneTime(context), resumed, "after_sending");
  });
}

/** Runs a step on an operation that needs attention, under the lock of its key. */
export function withStopped(
  context: RelayerContext,
  operationId: string,
  step: (operation: RelayOperationRecord) => Promise<RelayOperationRecord>,
): Promise<RelayOperationRecord> {
  return context.locks.run(operationLock(operationId), async () => {
    const operation = await context.journal.read(operationId);
    if (!operation) throw new RelayOperationUnknownError(operationId);
    if (operation.status !== "needs_attention")
      throw new RelayOperationNotResumableError(operationId, operation.status);
    return step(operation);
  });
}
