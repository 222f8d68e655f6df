import type { RelayerContext } from "../context.ts";
import { nodeOf } from "../faults/fault-effects.ts";
import type { RelayOperationRecord } from "../journal/relay-operation.ts";
import {
  type Node,
  readHead,
  readNonce,
  readTransactionReceipt,
  type TransactionReceipt,
} from "../node/node.ts";

// How long the relayer looks, and what it does when no transaction receipt comes, is decided in drive.ts.

/** Longest pause between two looks for a transaction receipt, in milliseconds, if the ports name no other. */
const usualPause = 25;

/**
 * The state on the chain of an operation with a claimed nonce: mined, not yet, or never because the nonce went to
 * another transaction.
 */
export type ReceiptState = TransactionReceipt | "waiting" | "nonce_taken";

/**
 * The transaction receipt of any of the operation's transactions.
 *
 * @param node - the node as the operation meets it, with its faults, by default.
 */
export async function findTransactionReceipt(
  context: RelayerContext,
  operation: RelayOperationRecord,
  node: Node = nodeOf(context, operation),
): Promise<TransactionReceipt | null> {
  // The newest first: it pays the most.
  for (const { hash } of operation.transactions.toReversed()) {
    const receipt = await readTransactionReceipt(node, hash);
    if (receipt) return receipt;
  }
  return null;
}

/** Looks for a receipt until there is one, the timeout passes, or waits are skipped. */
export async function awaitTransactionReceipt(
  context: RelayerContext,
  operation: RelayOperationRecord,
  receiptTimeoutMs: number,
): Promise<TransactionReceipt | null> {
  const longestPause = context.receiptPauseMs ?? usualPause;
  let waited = 0;
  // Where looks are far apart, because each is paid for, the first ones are, too.
  for (
    let pause = Math.max(1, Math.floor(longestPause / usualPause));
    ;
    pause = Math.min(pause * 2, longestPause)
  ) {
    const receipt = await findTransactionReceipt(context, operation);
    if (receipt || waited >= receiptTimeoutMs || context.skipsWaits?.() === true) return receipt;
    await context.wait(pause);
    waited += pause;
  }
}

/** Looks at nonce and receipts. */
export async function readReceiptState(
  context: RelayerContext,
  operation: RelayOperationRecord,
): Promise<ReceiptState> {
  const first = await readReceiptStateOnce(context, operation);
  if (first !== "nonce_taken") return first;
  // A node may show a nonce before the receipt of the same block: only what is seen twice is believed.
  await context.wait(context.receiptPauseMs ?? usualPause);
  if (context.receiptPauseMs === undefined) return readReceiptStateOnce(context, operation);
  // Several nodes behind one URL show them at different times: there, it has to be confirmed, too.
  const confirmed = Math.max(0, (await readHead(context.node)) - context.confirmations + 1);
  return readReceiptStateOnce(context, operation, confirmed);
}

// The nonce is read first, so that a transaction that is mined between the two reads is found by its receipt.
async function readReceiptStateOnce(
  context: RelayerContext,
  operation: RelayOperationRecord,
  block?: number,
): Promise<ReceiptState> {
  const chainNonce = await readNonce(context.node, operation.from, block);
  const receipt = await findTransactionReceipt(context, operation);
  if (receipt) return receipt;
  return operation.nonce !== null && chainNonce > operation.nonce ? "nonce_taken" : "waiting";
}
