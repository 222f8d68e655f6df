import type { Hex } from "viem";
import type { RelayerContext } from "../context.ts";
import { OutcomeUnknownError, RelayerError } from "../errors.ts";
import {
  attemptKey,
  operationLock,
  type RelayOperation,
  type RelayOperationRecord,
  toRelayOperation,
} from "../journal/relay-operation.ts";
import { readChainIdentity } from "../node/chain-epoch.ts";
import { type Head, readHead, readHeadBlock } from "../node/node.ts";
import { findTransactionReceipt } from "../submission/await-receipt.ts";
import { asBroadcast, driveLocked, type WaitMode } from "../submission/drive.ts";
import { readRelayOperation } from "../submission/earlier-attempts.ts";
import { asConfirmed, asMined } from "../submission/settle.ts";
import { findReorged, isBlockOnChain } from "./find-reorged.ts";

/**
 * Looks at everything that a new head may have changed, and sends again what the node lacks.
 *
 * @param announced - the head that the node has announced. If it is the next block after the last head that was looked at, and no operation
 * waits for a block, it has changed nothing, and the node is asked nothing.
 */
export async function follow(context: RelayerContext, announced?: Head): Promise<void> {
  if (announced !== undefined) {
    await awaitRequests(context, announced);
    if (await hasChangedNothing(context, announced)) return;
  }
  await lookAtHead(context, "never", async (held, isOnChain) => {
    let seen = true;
    // Their requests look at them too, but not after their last look.
    for (const attempt of held) {
      await context.locks.run(operationLock(attemptKey(attempt)), async () => {});
      const current = await context.journal.reread(attempt);
      if (current === undefined) continue;
      // The request may have begun the next attempt meanwhile.
      for (const one of [...(await context.journal.superseded(current)), current])
        if (!(isSettled(one) && (await isOnChain(one)))) seen = (await lookAt(context, one, "never")) && seen;
    }
    return seen ? "seen" : "look_again";
  });
}

/**
 * Waits for the requests at work if a head can have changed only the operations that they have: they read what became of their own
 * transactions.
 */
async function awaitRequests(context: RelayerContext, head: Head): Promise<void> {
  const epoch = context.trail.epochBefore(head);
  if (epoch === null) return;
  const names = (await waitingOperations(context, epoch)).map((attempt) =>
    operationLock(attemptKey(attempt)),
  );
  if (!names.every((name) => context.locks.isHeld(name))) return;
  for (const name of names) await context.locks.run(name, async () => {});
}

/** Adds a head to the trail if it cannot have changed an operation. */
function hasChangedNothing(context: RelayerContext, head: Head): Promise<boolean> {
  return context.locks.run("follow", async () => {
    const { trail } = context;
    const epoch = trail.epochBefore(head);
    if (epoch === null) return false;
    if ((await waitingOperations(context, epoch)).length > 0) return false;
    // An operation of a block that this one has replaced is none of this block.
    const isInHead = async ({ block_hash }: RelayOperationRecord) => block_hash === head.hash;
    if ((await findReorged(context, epoch, head.number - 1, isInHead)).length > 0) return false;
    // A restore may have replaced the trail meanwhile.
    if (trail.epochBefore(head) === null) return false;
    trail.add(head, epoch);
    return true;
  });
}

/** Looks without sending anything and without waiting for requests. */
export function observe(context: RelayerContext): Promise<void> {
  return lookAtHead(context, "sends_nothing", async (held) => (held.length === 0 ? "seen" : "look_again"));
}

/**
 * Reads an operation as the chain has it now: when its block has left the chain, or it has none yet, the journal is brought up to the
 * head first. Nothing is sent.
 *
 * @throws OutcomeUnknownError when its block has left the chain and the node does not say what became of it.
 */
export async function readNow(
  context: RelayerContext,
  operationId: string,
): Promise<RelayOperation | undefined> {
  const journaled = await readRelayOperation(context, operationId);
  if (journaled === undefined || (isSettled(journaled) && (await isOnChainNow(context, journaled))))
    return journaled;
  await observe(context);
  const current = await context.journal.read(operationId);
  if (current === undefined) return undefined;
  const superseded = await context.journal.superseded(current);
  const [newest, earlier] = await Promise.all([
    lookWithoutLock(context, current),
    Promise.all(superseded.map((attempt) => lookWithoutLock(context, attempt))),
  ]);
  const observed = toRelayOperation(newest, earlier);
  if (!isSettled(observed) || (await isOnChainNow(context, observed)) !== false) return observed;
  throw new OutcomeUnknownError(observed);
}

/**
 * Returns an attempt that a request is at work on as the chain has it now, which the request is about to write; nothing is written and
 * nothing is waited for. Where the node does not answer, and for every other attempt, that is what the journal has.
 */
async function lookWithoutLock(
  context: RelayerContext,
  attempt: RelayOperationRecord,
): Promise<RelayOperationRecord> {
  if (attempt.nonce === null || !context.locks.isHeld(operationLock(attemptKey(attempt)))) return attempt;
  try {
    const receipt = await findTransactionReceipt(context, attempt, context.node);
    if (receipt === null) return attempt.block_hash === null ? attempt : asBroadcast(attempt);
    const mined = asMined(attempt, receipt);
    const confirmations = (await readHead(context.node)) - receipt.blockNumber + 1;
    return confirmations < context.confirmations ? mined : asConfirmed(mined, context.confirmations);
  } catch (error) {
    if (error instanceof RelayerError) return attempt;
    throw error;
  }
}

/**
 * Finds the operations that name a block that has left the chain: the node does not say what became of their transactions, or a
 * look at them is in progress. Nothing is written. A node that does not answer at all leaves everything as the journal has it.
 */
export async function unknownOutcomes(context: RelayerContext): Promise<OutcomeUnknownError[]> {
  try {
    const [{ epoch }, head] = await Promise.all([readChainIdentity(context), readHeadBlock(context.node)]);
    const reorged = await findReorged(context, epoch, await context.trail.fork(context.node, head));
    return reorged
      .filter(({ block_number }) => block_number !== null)
      .map((operation) => new OutcomeUnknownError(operation));
  } catch (error) {
    if (error instanceof RelayerError) return [];
    throw error;
  }
}

/** Returns whether the block of an operation is on the chain; null when the node does not answer. */
async function isOnChainNow(context: RelayerContext, operation: RelayOperation): Promise<boolean | null> {
  try {
    return await isBlockOnChain(context, operation);
  } catch (error) {
    if (error instanceof RelayerError) return null;
    throw error;
  }
}

/** Returns whether the block of an attempt is on the chain. */
type OnChainCheck = (attempt: RelayOperationRecord) => Promise<boolean>;

/**
 * One look at a time, in the order of nonces. A node that does not answer, or serves a different chain epoch, leaves everything as
 * the journal has it.
 */
function lookAtHead(
  context: RelayerContext,
  waitMode: WaitMode,
  lookAtHeld: (
    held: readonly RelayOperationRecord[],
    isOnChain: OnChainCheck,
  ) => Promise<"seen" | "look_again">,
): Promise<void> {
  return context.locks.run("follow", async () => {
    try {
      // The head is read before anything is looked at: what comes meanwhile belongs to the next look.
      const [{ epoch }, head] = await Promise.all([readChainIdentity(context), readHeadBlock(context.node)]);
      const fork = await context.trail.fork(context.node, head);
      // A block that replaces this one is a head of its own, which is looked at next.
      const isOnChain: OnChainCheck = async (attempt) =>
        attempt.block_hash === head.hash || (await isBlockOnChain(context, attempt));
      const held: RelayOperationRecord[] = [];
      let seen = true;
      for (const operation of await affected(context, epoch, fork, isOnChain)) {
        if (context.locks.isHeld(operationLock(attemptKey(operation)))) held.push(operation);
        else seen = (await lookAt(context, operation, waitMode)) && seen;
      }
      if ((await lookAtHeld(held, isOnChain)) === "seen" && seen) context.trail.add(head, epoch);
    } catch (error) {
      if (!(error instanceof RelayerError)) throw error;
    }
  });
}

/**
 * Looks at one operation.
 *
 * @returns false when it still names a block that has left the chain: the node failed at this look, and later heads would not show it.
 */
async function lookAt(
  context: RelayerContext,
  operation: RelayOperationRecord,
  waitMode: WaitMode,
): Promise<boolean> {
  const { block_hash } = operation;
  const looked = await driveLocked(context, operation, waitMode);
  return block_hash === null || looked.block_hash !== block_hash || (await isBlockOnChain(context, looked));
}

async function affected(
  context: RelayerContext,
  epoch: Hex,
  fork: number,
  isOnChain: OnChainCheck,
): Promise<RelayOperationRecord[]> {
  // An operation that needs attention waits for a person.
  const waiting = (await waitingOperations(context, epoch)).filter(
    ({ status }) => status !== "needs_attention",
  );
  const all = [...waiting, ...(await findReorged(context, epoch, fork, isOnChain))];
  const found = new Map(all.map((attempt) => [attemptKey(attempt), attempt]));
  return [...found.values()].sort((left, right) => (left.nonce ?? 0) - (right.nonce ?? 0));
}

/** Returns the operations whose transactions a block may have. One without a nonce waits for the next request for it. */
async function waitingOperations(
  { journal }: RelayerContext,
  epoch: Hex,
): Promise<readonly RelayOperationRecord[]> {
  return (await journal.unsettled()).filter(
    (operation) => operation.epoch === epoch && operation.nonce !== null,
  );
}

/** Returns whether only a reorg can still change the outcome of an operation. */
function isSettled({ status }: Pick<RelayOperationRecord, "status">): boolean {
  return status === "confirmed" || status === "reverted";
}
