import type { RelayerContext } from "../context.ts";
import { RelayOperationNotAbandonableError } from "../errors.ts";
import { supersede } from "../journal/gas-budget.ts";
import { type RelayOperationRecord, unsignedAttempt } from "../journal/relay-operation.ts";
import { atOneTime } from "../journal/timestamp.ts";
import { requireEpoch } from "../node/chain-epoch.ts";
import { readHead, readNonce } from "../node/node.ts";
import { readReceiptState } from "../submission/await-receipt.ts";
import { drive } from "../submission/drive.ts";
import { withStopped } from "./resume.ts";

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
