import type { Hex } from "viem";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { RelayerContext } from "../context.ts";
import { nodeOf, reach } from "../faults/fault-effects.ts";
import { writeWithBudget } from "../journal/gas-budget.ts";
import {
  currentTransaction,
  type RelayOperationError,
  type RelayOperationRecord,
} from "../journal/relay-operation.ts";
import { decodeRevert } from "../node/decode-revert.ts";
import {
  readBlockTime,
  readHead,
  readTransactionReceipt,
  type TransactionReceipt,
  traceRevert,
} from "../node/node.ts";

/** W4: the transaction receipt, and its cost instead of the reservation. A receipt in another block than before is a reorg. */
export async function settle(
  context: RelayerContext,
  operation: RelayOperationRecord,
  receipt: TransactionReceipt,
): Promise<RelayOperationRecord> {
  if (operation.block_hash === receipt.blockHash && operation.hash === receipt.transactionHash)
    return operation;
  const succeeded = receipt.status === "0x1";
  const error = succeeded
    ? await checkEffect(context, operation, receipt)
    : await readRevertReason(context, operation, receipt.transactionHash);
  const minedAt = toTimestamp(
    receipt.blockTimestamp ?? (await readBlockTime(context.node, receipt.blockHash)),
  );

  await reach(context, "before_mined", operation);
  const mined = await writeWithBudget(context, operation, operation.program, () => ({
    ...asMined(operation, receipt),
    status_reason: error?.code ?? null,
    error,
    reorg_count: operation.reorg_count + (operation.block_hash === null ? 0 : 1),
    mined_at: minedAt,
    confirmed_at: null,
  }));
  await reach(context, "after_mined", mined);
  return mined;
}

/** Returns an operation with what a transaction receipt says: where its transaction is, what became of the others, and what it cost. */
export function asMined(operation: RelayOperationRecord, receipt: TransactionReceipt): RelayOperationRecord {
  const { transactionHash: hash, gasUsed } = receipt;
  const outcome = receipt.status === "0x1" ? "succeeded" : "reverted";
  return {
    ...operation,
    status: "mined",
    hash,
    transactions: operation.transactions.map((transaction) => ({
      ...transaction,
      outcome: transaction.hash === hash ? outcome : "replaced",
    })),
    gas_used: gasUsed.toString(),
    cost_wei: (gasUsed * receipt.effectiveGasPrice).toString(),
    reserved_wei: "0",
    block_number: receipt.blockNumber,
    block_hash: receipt.blockHash,
    confirmations: 1,
  };
}

/** Returns an operation with the required number of confirmations. */
export function asConfirmed(operation: RelayOperationRecord, confirmations: number): RelayOperationRecord {
  const status = currentTransaction(operation).outcome === "reverted" ? "reverted" : "confirmed";
  return { ...operation, status, confirmations };
}

/** W5: once enough blocks confirm the receipt. */
export async function confirm(
  context: RelayerContext,
  operation: RelayOperationRecord,
): Promise<RelayOperationRecord> {
  if (operation.status !== "mined") return operation;
  const confirmations = await countConfirmations(context, operation);
  if (confirmations < context.confirmations) {
    if (confirmations === operation.confirmations) return operation;
    const counted = { ...operation, confirmations };
    await context.journal.write({ operation: counted });
    return counted;
  }
  const confirmedAt = await timeOfConfirmation(context, operation);
  await reach(context, "before_confirmed", operation);
  const confirmed = { ...asConfirmed(operation, confirmations), confirmed_at: confirmedAt };
  await context.journal.write({ operation: confirmed });
  await reach(context, "after_confirmed", confirmed);
  return confirmed;
}

// The receipt that was just read is the first confirmation. Further ones count only if it is still in its block.
async function countConfirmations(context: RelayerContext, operation: RelayOperationRecord): Promise<number> {
  if (context.confirmations <= 1 || operation.block_number === null || operation.hash === null) return 1;
  const node = nodeOf(context, operation);
  const head = await readHead(node);
  const receipt = await readTransactionReceipt(node, operation.hash);
  if (receipt?.blockHash !== operation.block_hash) return 0;
  return Math.min(head - operation.block_number + 1, context.confirmations);
}

// The time of the block that brought the last confirmation, whenever it is looked at.
async function timeOfConfirmation(
  context: RelayerContext,
  operation: RelayOperationRecord,
): Promise<string | null> {
  if (context.confirmations <= 1 || operation.block_number === null) return operation.mined_at;
  const last = operation.block_number + context.confirmations - 1;
  return toTimestamp(await readBlockTime(context.node, last));
}

/** Returns the other effect that a call that succeeded has had; a cancellation has none. */
async function checkEffect(
  { effectChecks }: RelayerContext,
  operation: RelayOperationRecord,
  { transactionHash, logs }: TransactionReceipt,
): Promise<RelayOperationError | null> {
  const mined = operation.transactions.find(({ hash }) => hash === transactionHash);
  if (mined?.purpose === "cancel") return null;
  const message = (await effectChecks[operation.kind]?.(operation, logs)) ?? null;
  return message === null ? null : { code: "precondition_failed", message, rpc_code: null, revert: null };
}

async function readRevertReason(
  context: RelayerContext,
  operation: RelayOperationRecord,
  hash: Hex,
): Promise<RelayOperationError> {
  const { data, message } = await traceRevert(nodeOf(context, operation), hash);
  return { code: "transaction_reverted", message, rpc_code: null, revert: decodeRevert(data) };
}
