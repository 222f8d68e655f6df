import type { RelayerContext } from "../context.ts";
import {
  RelayOperationNotAbandonableError,
  RelayOperationNotResumableError,
  RelayOperationUnknownError,
} from "../errors.ts";
import { supersede } from "../journal/gas-budget.ts";
import { operationLock, type RelayOperationRecord, unsignedAttempt } from "../journal/relay-operation.ts";
import { atOneTime } from "../journal/timestamp.ts";
import { requireEpoch } from "../node/chain-epoch.ts";
import { readHead, readNonce } from "../node/node.ts";
import { readReceiptState } from "../submission/await-receipt.ts";
import { drive } from "../submission/drive.ts";

/**
 * Gives up an operation whose nonce was taken, once a person has looked: its reservation is released, and the next request for the same
 * effect begins the next attempt, with another nonce. The signed bytes are kept, so that a reorg that frees the nonce finds them.
 *
 * @throws RelayOperationNotAbandonableError unless a confirmed transaction that is none of the operation's has used its nonce.
 */
export function abandon(context: RelayerContext, operationId: string): Promise<RelayOperationRecord> {
  return withStopped(context, operationId, async (taken) => {
    await requireNonceTaken(context, taken);
    return supersede(context, taken, () => ({
      superseded: { ...taken, superseded: true, reserved_wei: "0" },
      operation: unsignedAttempt({
        ...taken,
        attempt: taken.attempt + 1,
        status: "failed",
        status_reason: "abandoned",
        reserved_wei: "0",
      }),
    }));
  });
}

async function requireNonceTaken(context: RelayerContext, operation: RelayOperationRecord): Promise<void> {
  const { operation_id, nonce, from } = operation;
  if (nonce === null)
    throw new RelayOperationNotAbandonableError(
      `${operation_id} has no nonce. Resume it without abandoning it.`,
    );
  await requireEpoch(context, operation);
  const receiptState = await readReceiptState(context, operation);
  if (receiptState === "waiting")
    throw new RelayOperationNotAbandonableError(
      `The chain has not used nonce ${nonce} of ${from}, so that ${operation_id} can still be mined. Resume it without abandoning it.`,
    );
  if (receiptState !== "nonce_taken") {
    await drive(atOneTime(context), operation, "sends_nothing");
    throw new RelayOperationNotAbandonableError(
      `${receiptState.transactionHash} of ${operation_id} is mined. Send the request again for its answer.`,
    );
  }
  const { node, confirmations } = context;
  const confirmed = Math.max(0, (await readHead(node)) - confirmations + 1);
  if ((await readNonce(node, from, confirmed)) <= nonce)
    throw new RelayOperationNotAbandonableError(
      `The transaction that took nonce ${nonce} of ${from} has fewer than ${confirmations} confirmations. Abandon ${operation_id} once it has them.`,
    );
}

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
function withStopped(
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
