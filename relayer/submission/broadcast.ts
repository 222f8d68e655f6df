import { formatEther } from "viem";
import type { RelayerContext } from "../context.ts";
import { RpcRefusedError, RpcUnavailableError } from "../errors.ts";
import { nodeOf, reach } from "../faults/fault-effects.ts";
import {
  currentTransaction,
  type RelayOperationRecord,
  type RelayOperationStatus,
  type SignedTransaction,
} from "../journal/relay-operation.ts";
import { timestamp } from "../journal/timestamp.ts";
import type { Turn } from "../keyed-mutex.ts";
import { knowsTransaction, readBalance, sendRaw } from "../node/node.ts";
import { bumpAt } from "./bump.ts";
import { requirePrecondition } from "./require-precondition.ts";

/** Sends the operation's signed bytes to a node that was just seen to be in its chain epoch; W3: the outcome. */
export async function broadcast(
  context: RelayerContext,
  operation: RelayOperationRecord,
  turn: Turn = Promise.resolve(() => {}),
): Promise<RelayOperationRecord> {
  const sent = await send(context, await bumpAt(context, "after_signed", operation), turn);
  const bumped = await bumpAt(context, "after_broadcast", sent);
  return bumped === sent ? sent : send(context, bumped, turn);
}

async function send(
  context: RelayerContext,
  operation: RelayOperationRecord,
  turn: Turn,
): Promise<RelayOperationRecord> {
  // Read before it is sent: afterwards the time depends on whether the block is already made.
  const broadcastAt = await timestamp(context);
  const endTurn = await turn;
  await requirePrecondition(context, operation);
  const sending = sendTransaction(context, operation, currentTransaction(operation));
  // The next nonce may follow; it need not wait for the node's answer to this one.
  endTurn();
  const failure = await sending;
  await reach(context, "sent", operation);
  if (failure instanceof RpcRefusedError) {
    const lacking = await describeLackingEther(context, operation);
    return note(context, operation, failure, lacking ?? failure.message);
  }
  return failure ? note(context, operation, failure) : recordBroadcast(context, operation, broadcastAt);
}

/** W3: the node has the operation's bytes. */
export async function recordBroadcast(
  context: RelayerContext,
  operation: RelayOperationRecord,
  broadcastAt: string,
): Promise<RelayOperationRecord> {
  const sent: RelayOperationRecord = {
    ...operation,
    status: "broadcast",
    status_reason: operation.status_reason === "reorged" ? "reorged" : null,
    error: null,
    broadcast_at: operation.broadcast_at ?? broadcastAt,
    transactions: operation.transactions.map((transaction) =>
      transaction.hash === operation.hash ? { ...transaction, outcome: "broadcast" } : transaction,
    ),
  };
  await context.journal.write({ operation: sent });
  await reach(context, "after_broadcast", sent);
  return sent;
}

/** Nodes say in many words that a sender lacks ether. @returns what it has and needs, and what to do; null if it lacks none. */
async function describeLackingEther(
  { node }: RelayerContext,
  operation: RelayOperationRecord,
): Promise<string | null> {
  const { from, gas_limit } = operation;
  const cost = BigInt(gas_limit) * BigInt(currentTransaction(operation).max_fee_per_gas);
  const ether = await readBalance(node, from).catch(() => null);
  if (ether === null || ether >= cost) return null;
  return `The operator ${from} has ${formatEther(ether)} ether, and the transaction may cost ${formatEther(cost)}. Send it ether, and the operation continues at the next block.`;
}

/** Sends signed bytes. @returns why the node does not have them, or null when it has. */
export async function sendTransaction(
  context: RelayerContext,
  operation: RelayOperationRecord,
  transaction: SignedTransaction,
): Promise<RpcRefusedError | RpcUnavailableError | null> {
  const node = nodeOf(context, operation);
  try {
    await sendRaw(node, transaction.raw);
    return null;
  } catch (error) {
    if (!(error instanceof RpcRefusedError || error instanceof RpcUnavailableError)) throw error;
    // The words of a refusal are the same for our own transaction sent twice and for another sender's: ask for the hash.
    const known = await knowsTransaction(node, transaction.hash).catch(() => false);
    return known ? null : error;
  }
}

const underWay: readonly RelayOperationStatus[] = ["accepted", "signed", "broadcast"];

/** Journals why an operation that is in progress does not move on. */
export async function note(
  context: RelayerContext,
  operation: RelayOperationRecord,
  failure: RpcRefusedError | RpcUnavailableError,
  message = failure.message,
): Promise<RelayOperationRecord> {
  // The status of an operation that is settled, is mined or waits for a person already says more than this failure.
  if (!underWay.includes(operation.status)) return operation;
  const noted: RelayOperationRecord = {
    ...operation,
    status_reason: failure.code,
    error: {
      code: failure.code,
      message,
      rpc_code: failure instanceof RpcRefusedError ? failure.rpcCode : null,
      revert: null,
    },
  };
  await context.journal.write({ operation: noted });
  return noted;
}
