import type { Address } from "viem";
import { z } from "zod";
import { sameAddress } from "../../protocol/values/same-address.ts";
import type { RelayerContext } from "../context.ts";
import { RelayOperationUnknownError, RpcRefusedError, RpcUnavailableError } from "../errors.ts";
import { HeldError, nodeOf, reach } from "../faults/fault-effects.ts";
import { reservationOf, writeWithBudget } from "../journal/gas-budget.ts";
import {
  type AttemptName,
  attemptKey,
  currentTransaction,
  operationLock,
  type RelayOperationRecord,
} from "../journal/relay-operation.ts";
import { atOneTime, readTime, timestamp } from "../journal/timestamp.ts";
import { requireEpoch } from "../node/chain-epoch.ts";
import { askNode, knowsTransaction, type Node, readNextBlockTime, readNonce, sendRaw } from "../node/node.ts";
import { prefetch } from "../prefetch.ts";
import {
  awaitTransactionReceipt,
  findTransactionReceipt,
  type ReceiptState,
  readReceiptState,
} from "./await-receipt.ts";
import { broadcast, note, recordBroadcast, sendTransaction } from "./broadcast.ts";
import { cancel, raiseWhenLate } from "./bump.ts";
import { PreconditionError, requirePrecondition, withdraw } from "./require-precondition.ts";
import { confirm, settle } from "./settle.ts";
import { claimNonce, type NonceClaim, needsAttention } from "./sign.ts";
import { simulate } from "./simulate.ts";

/**
 * The wait mode for a transaction receipt: whenever there is none, only after something was sent, or not at all; or only to look.
 */
export type WaitMode = "always" | "after_sending" | "never" | "sends_nothing";

/** The chain that a node was just seen to serve. */
export interface CheckedChain {
  chainId: number;
  /** The timestamp that the next block would have, if it was just read. */
  nextTime?: Promise<number>;
}

/** The usual time until a transaction receipt when nothing is wrong, in milliseconds of `wait`. */
const usualMs = 250;

/** Reads an attempt of an operation and drives it, under the lock of its key. */
export function driveLocked(
  context: RelayerContext,
  attempt: AttemptName,
  waitMode: WaitMode,
): Promise<RelayOperationRecord> {
  return context.locks.run(operationLock(attemptKey(attempt)), async () => {
    const operation = await context.journal.reread(attempt);
    if (!operation) throw new RelayOperationUnknownError(attempt.operation_id);
    return drive(atOneTime(context), operation, waitMode);
  });
}

/**
 * Brings a journaled operation as far as it goes now, from wherever it is. Must run alone for its operation.
 *
 * A node that refuses or does not answer leaves the operation where it is, with the reason in it.
 *
 * @param checked - the chain, when the caller has just seen that the node is in the operation's chain epoch; before anything is sent it
 * is looked at again.
 * @throws EpochMismatchError when the node serves a different chain epoch.
 */
export async function drive(
  context: RelayerContext,
  operation: RelayOperationRecord,
  waitMode: WaitMode,
  checked?: CheckedChain,
): Promise<RelayOperationRecord> {
  try {
    const chain = checked ?? { chainId: await requireEpoch(context, operation) };
    return operation.status === "accepted" && waitMode !== "sends_nothing"
      ? await begin(context, operation, chain, waitMode)
      : await continueClaimed(context, operation, waitMode);
  } catch (error) {
    const current = (await context.journal.reread(operation)) ?? operation;
    if (error instanceof HeldError) return current;
    if (error instanceof PreconditionError) {
      const { operation: withdrawn, superseded } = await withdraw(context, current, error);
      if (superseded !== null) await driveLocked(context, superseded, waitMode);
      return withdrawn;
    }
    if (error instanceof RpcRefusedError || error instanceof RpcUnavailableError)
      return note(context, current, error);
    throw error;
  }
}

async function begin(
  context: RelayerContext,
  operation: RelayOperationRecord,
  { chainId, nextTime }: CheckedChain,
  waitMode: WaitMode,
): Promise<RelayOperationRecord> {
  const time = await (nextTime ?? readNextBlockTime(context.node));
  // In one message with the simulation; both count only if that succeeds.
  const chainNonce = readNonce(nodeOf(context, operation), operation.from);
  const allowed = requirePrecondition(context, operation);
  prefetch(chainNonce, allowed);
  const simulated = await simulate(context, operation, time);
  if (simulated.status === "failed") return simulated;
  await allowed;
  await context.beforeNonce[simulated.kind]?.(simulated, await readTime(context));
  const claim = await claimNonce(context, simulated, { chainId, chainNonce: await chainNonce });
  if (claim === null) return needsAttention(context, simulated, "foreign_nonce");
  return finish(context, await sendInTurn(context, claim), waitMode);
}

async function sendInTurn(context: RelayerContext, claim: NonceClaim): Promise<RelayOperationRecord> {
  try {
    const sameEpoch = requireEpoch(context, claim.operation);
    // Also when the chain is another one, or does not answer: every later read of the operation must find its claim.
    await Promise.allSettled([claim.durable, sameEpoch]);
    await Promise.all([claim.durable, sameEpoch]);
    await reach(context, "after_signed", claim.operation);
    return await broadcast(context, claim.operation, claim.turn);
  } finally {
    const endTurn = await claim.turn;
    endTurn();
  }
}

/** Returns the state of a claimed operation on the chain now, without sending anything. */
async function look(
  context: RelayerContext,
  operation: RelayOperationRecord,
): Promise<{ operation: RelayOperationRecord; waiting: boolean }> {
  const receipt = await findTransactionReceipt(context, operation);
  if (receipt)
    return { operation: await confirm(context, await settle(context, operation, receipt)), waiting: false };

  const unmined = operation.block_hash === null ? operation : await undoSettlement(context, operation);
  const receiptState = await readReceiptState(context, unmined);
  if (receiptState !== "waiting")
    return { operation: await conclude(context, unmined, receiptState), waiting: false };
  return { operation: unmined, waiting: unmined.superseded || unmined.status !== "needs_attention" };
}

async function continueClaimed(
  context: RelayerContext,
  operation: RelayOperationRecord,
  waitMode: WaitMode,
): Promise<RelayOperationRecord> {
  if (operation.nonce === null) return operation;
  const { operation: looked, waiting } = await look(context, operation);
  if (!waiting || waitMode === "sends_nothing") return looked;
  // Also of what the node has already: until it is mined, it can be cancelled.
  await requirePrecondition(context, looked);

  const unmined = looked.superseded ? await cancel(context, looked) : looked;
  const unblocked = await sendPredecessors(context, unmined);
  const raised = await raiseWhenLate(context, unmined);
  if (raised !== unmined || !(await knowsTransaction(context.node, currentTransaction(unmined).hash))) {
    await requireEpoch(context, unmined);
    return finish(context, await broadcast(context, raised), waitMode);
  }
  if (!isRecorded(unmined))
    return finish(context, await recordBroadcast(context, unmined, await timestamp(context)), waitMode);
  const freed = await freeStranded(context, unmined);
  return waitMode === "always" || unblocked || freed ? finish(context, unmined, waitMode) : unmined;
}

/** Waits for the transaction receipt of what was sent. */
async function finish(
  context: RelayerContext,
  operation: RelayOperationRecord,
  waitMode: WaitMode,
): Promise<RelayOperationRecord> {
  const hopeless = operation.status_reason === "rpc_refused";
  const receiptTimeoutMs = waitMode === "never" || hopeless ? 0 : context.receiptTimeoutMs;
  const soonMs = Math.min(receiptTimeoutMs, usualMs);
  let receipt = await awaitTransactionReceipt(context, operation, soonMs);
  if (receipt === null && receiptTimeoutMs > soonMs) {
    await freeStranded(context, operation);
    receipt = await awaitTransactionReceipt(context, operation, receiptTimeoutMs - soonMs);
  }
  return conclude(context, operation, receipt ?? (await readReceiptState(context, operation)));
}

async function conclude(
  context: RelayerContext,
  operation: RelayOperationRecord,
  receiptState: ReceiptState,
): Promise<RelayOperationRecord> {
  if (receiptState === "waiting") return operation;
  if (receiptState !== "nonce_taken") return confirm(context, await settle(context, operation, receiptState));
  if (operation.status === "needs_attention") return operation;
  return needsAttention(context, operation, "nonce_taken");
}

// A process may have crashed between the node's answer and W3, or the node's answer may have been lost.
function isRecorded(operation: RelayOperationRecord): boolean {
  const { status, status_reason } = operation;
  return status === "broadcast" && (status_reason === null || status_reason === "reorged");
}

async function maySend(context: RelayerContext, operation: RelayOperationRecord): Promise<boolean> {
  try {
    await requirePrecondition(context, operation);
    return true;
  } catch (error) {
    if (error instanceof PreconditionError) return false;
    throw error;
  }
}

/**
 * Sends again what the node lacks of the signer's lower nonces: without them this operation can never be mined. Their own
 * records catch up when they are looked at.
 */
async function sendPredecessors(context: RelayerContext, operation: RelayOperationRecord): Promise<boolean> {
  const { from, epoch, nonce } = operation;
  const chainNonce = await readNonce(context.node, from);
  if (nonce === null || nonce <= chainNonce) return false;
  let sent = false;
  for (const other of await context.journal.claimed(from, chainNonce, epoch)) {
    if (other.nonce === null || other.nonce >= nonce) continue;
    const transaction = currentTransaction(other);
    if (!other.superseded && (await knowsTransaction(context.node, transaction.hash))) continue;
    if (other.superseded || !(await maySend(context, other))) {
      await driveLocked(context, other, "never");
      sent = true;
      continue;
    }
    sent = (await sendTransaction(context, other, transaction)) === null || sent;
  }
  return sent;
}

const poolSchema = z.object({
  queued: z.record(z.string(), z.record(z.string(), z.object({ hash: z.string() }))),
});

/**
 * Frees a signer whose next transaction the node has and will never mine, so that all behind it wait in vain.
 *
 * Anvil takes a transaction that arrives while its predecessor is mined for one with a gap before it, and keeps it
 * so. The signer's transactions are taken out of the pool and sent again in order, as the same bytes.
 *
 * @returns whether the signer was stranded.
 */
function freeStranded(
  context: RelayerContext,
  { from, epoch, nonce }: RelayOperationRecord,
): Promise<boolean> {
  const { node, journal } = context;
  return context.locks.run(`free:${from}`, async () => {
    const next = await readNonce(node, from);
    if (nonce === null || nonce < next) return false;
    const queued = await queuedHashes(node, from);
    if (queued === null) return false;
    const waiting = (await journal.claimed(from, next, epoch)).filter(
      ({ hash }) => hash !== null && queued.has(hash),
    );
    if (waiting[0]?.nonce !== next) return false;
    await askNode(node, "anvil_removePoolTransactions", [from], z.unknown());
    // One that has just been mined is refused, which is as good.
    for (const { raw } of waiting.map(currentTransaction))
      await sendRaw(node, raw).catch((error: unknown) => {
        if (!(error instanceof RpcRefusedError)) throw error;
      });
    return true;
  });
}

/** Returns null for a node that does not show its pool: only Anvil has stranded transactions. */
async function queuedHashes(node: Node, from: Address): Promise<Set<string> | null> {
  const pool = await askNode(node, "txpool_content", [], poolSchema).catch((error: unknown) => {
    if (!(error instanceof RpcRefusedError)) throw error;
  });
  if (pool === undefined) return null;
  const { queued } = pool;
  const own = Object.entries(queued).filter(([address]) => sameAddress(address, from));
  return new Set(own.flatMap(([, waiting]) => Object.values(waiting).map(({ hash }) => hash)));
}

/** Takes an operation back to `broadcast` and reverses its settlement: a reorg has removed the block of its transaction. */
function undoSettlement(
  context: RelayerContext,
  operation: RelayOperationRecord,
): Promise<RelayOperationRecord> {
  return writeWithBudget(context, operation, operation.program, () => asBroadcast(operation));
}

/** Returns an operation whose transaction waits for a block again. */
export function asBroadcast(operation: RelayOperationRecord): RelayOperationRecord {
  return {
    ...operation,
    status: "broadcast",
    status_reason: "reorged",
    error: null,
    transactions: operation.transactions.map((transaction) => ({ ...transaction, outcome: "broadcast" })),
    gas_used: null,
    cost_wei: null,
    reserved_wei: reservationOf(BigInt(operation.gas_limit), BigInt(operation.max_fee_per_gas)).toString(),
    block_number: null,
    block_hash: null,
    confirmations: 0,
    reorg_count: operation.reorg_count + 1,
    mined_at: null,
    confirmed_at: null,
  };
}
