import type { RelayerContext, RelayerPorts } from "./context.ts";
import { type OutcomeUnknownError, RelayOperationUnknownError } from "./errors.ts";
import { HeldError } from "./faults/fault-effects.ts";
import { type GasBudget, readBudget, toGasBudget } from "./journal/gas-budget.ts";
import {
  attemptKey,
  operationId,
  operationLock,
  type RelayOperation,
  type RelayOperationRecord,
} from "./journal/relay-operation.ts";
import type { RelayOperationPage } from "./journal/relayer-journal.ts";
import { atOneTime, readTime } from "./journal/timestamp.ts";
import { KeyedMutex } from "./keyed-mutex.ts";
import { readChainIdentity } from "./node/chain-epoch.ts";
import { type Head, readHeadBlock, readNextBlockTime, toNode } from "./node/node.ts";
import { prefetch } from "./prefetch.ts";
import { abandon, resume } from "./recovery/abandon.ts";
import { findReorged } from "./recovery/find-reorged.ts";
import { follow, observe, readNow, unknownOutcomes } from "./recovery/follow.ts";
import { HeadTrail, type SeenHead } from "./recovery/head-trail.ts";
import { accept, acceptAgain, type RelayIntent } from "./submission/accept-attempt.ts";
import { drive, driveLocked } from "./submission/drive.ts";
import {
  assembleRelayOperation,
  readRelayOperation,
  waitsForEarlier,
} from "./submission/earlier-attempts.ts";

export type { RelayerPorts } from "./context.ts";
export * from "./errors.ts";
export * from "./faults/fault.ts";
export * from "./journal/relay-operation.ts";
export * from "./journal/relay-operation.ts";
export type { RelayerJournal } from "./journal/relayer-journal.ts";
export type { EffectCheck, Precondition } from "./precondition.ts";
export type { RelayIntent } from "./submission/accept-attempt.ts";

/** Signs and submits for program operators: each operation takes effect once, also if a process crashes in between. */
export interface Relayer {
  /**
   * Relays an intent, or continues with the operation that it already has, and answers with however far that came. An operation whose
   * transaction had reverted before begins its next attempt, if the call would succeed now.
   *
   * Once the intent is journaled, what the node refuses is reported in the operation and not thrown.
   *
   * @throws GasBudgetExceededError, SignerUnknownError, RpcUnavailableError before any effect.
   */
  submit(intent: RelayIntent): Promise<RelayOperation>;
  /**
   * Looks again: transaction receipts of all hashes, confirmations, reorgs; sends the same bytes again where the node lacks them.
   *
   * @throws RelayOperationUnknownError, EpochMismatchError
   */
  advance(operationId: string): Promise<RelayOperation>;
  /**
   * Lets an operation continue that needs attention, once a person has looked.
   *
   * @throws RelayOperationNotResumableError, RelayOperationUnknownError
   */
  resume(operationId: string): Promise<RelayOperation>;
  /**
   * Gives up an operation whose nonce was taken, once a person has looked; the next submit begins its next attempt.
   *
   * @throws RelayOperationNotAbandonableError, RelayOperationNotResumableError, RelayOperationUnknownError
   */
  abandon(operationId: string): Promise<RelayOperation>;
  /**
   * Returns whether a further attempt of the operation has to wait, because an earlier one may still be mined: its
   * nonce is being filled. Asks the chain nothing.
   */
  waitsForEarlier(operationId: string): Promise<boolean>;
  /** The operation as the journal has it; asks the chain nothing. */
  read(operationId: string): Promise<RelayOperation | undefined>;
  /**
   * The operation as the chain has it now: when a reorg took its block, the journal is brought up to the head first, as
   * `observe` does.
   */
  readNow(operationId: string): Promise<RelayOperation | undefined>;
  /**
   * The operations whose block a reorg took, and of which the node does not say what became: what the journal has of them, and of their
   * program's budget, is not known to hold. Nothing is written.
   */
  unknownOutcomes(): Promise<OutcomeUnknownError[]>;
  /** Operations of a program by sequence. */
  list(program: string, page: RelayOperationPage): Promise<RelayOperation[]>;
  budget(program: string): Promise<GasBudget>;
  /** Takes up what an earlier process left; to be awaited before the first submit. */
  recover(): Promise<void>;
  /**
   * Looks at everything that a new head of the chain may have changed, reorgs of what was confirmed included, and sends
   * again what the node lacks. To be called after every new head.
   *
   * @param announced - the head, if the node has announced it.
   */
  follow(announced?: Head): Promise<void>;
  /**
   * Brings the journal up to the head of the chain as `follow` does, for callers that only read: nothing is sent, and what a
   * request is at work on is left to it.
   */
  observe(): Promise<void>;
  /** Returns the heads that were looked at: what the relayer knows in addition to its journal. */
  captureTrail(): readonly SeenHead[];
  /** Replaces the heads that were looked at; to be called when chain and journal are restored to an earlier state. */
  restoreTrail(heads: readonly SeenHead[]): void;
  /** Resolves when nothing is in flight. */
  drain(): Promise<void>;
}

/**
 * Makes a relayer on a journal and a node.
 *
 * @example
 * const relayer = createRelayer({ journal, request: client.request, chain, signers: [operator], ... });
 * await relayer.recover();
 * const operation = await relayer.submit(intent);
 */
export function createRelayer(ports: RelayerPorts): Relayer {
  const context: RelayerContext = {
    ...ports,
    node: toNode(ports.request),
    accounts: new Map(ports.signers.map((account) => [account.address, account])),
    locks: new KeyedMutex(),
    trail: new HeadTrail(),
  };
  const inFlight = new Set<Promise<unknown>>();

  async function track<Result>(work: Promise<Result>): Promise<Result> {
    inFlight.add(work);
    try {
      return await work;
    } finally {
      inFlight.delete(work);
    }
  }

  const assembled = async (work: Promise<RelayOperationRecord>) =>
    assembleRelayOperation(context, await track(work));

  return {
    submit: (intent) => assembled(submit(context, intent)),
    advance: (id) => assembled(advance(context, id)),
    resume: (id) => assembled(resume(context, id)),
    abandon: (id) => assembled(abandon(context, id)),
    recover: () => track(recover(context)),
    follow: (announced) => track(follow(context, announced)),
    observe: () => track(observe(context)),
    waitsForEarlier: (id) => waitsForEarlier(context, id),
    read: (id) => readRelayOperation(context, id),
    readNow: (id) => track(readNow(context, id)),
    unknownOutcomes: () => track(unknownOutcomes(context)),
    async list(program, page) {
      const records = await context.journal.list(program, page);
      return Promise.all(records.map((record) => assembleRelayOperation(context, record)));
    },
    budget: async (program) => toGasBudget(await readBudget(context, program)),
    captureTrail: () => context.trail.capture(),
    restoreTrail: (heads) => context.trail.restore(heads),
    async drain() {
      while (inFlight.size > 0) await Promise.allSettled(inFlight);
    },
  };
}

async function submit(context: RelayerContext, intent: RelayIntent): Promise<RelayOperationRecord> {
  const early = beginSubmission(context);
  const { chainId, epoch } = await readChainIdentity(context);
  const id = operationId(epoch, intent);
  const key = operationLock(id);
  const waits = context.locks.isHeld(key);
  return context.locks.run(key, async () => {
    // Times that were read before a wait are too old.
    const { now, nextTime } = waits ? beginSubmission(context) : early;
    try {
      const operation = await accept(now, intent, id, epoch);
      // Before it is sent, the chain is looked at again.
      const checked = operation.status === "accepted" ? { chainId, nextTime } : undefined;
      const driven = await drive(now, operation, "always", checked);
      // A request that sees the transaction revert tells it; the next one tries again.
      if (operation.status !== "reverted" || driven.status !== "reverted") return driven;
      const next = await acceptAgain(now, intent, driven);
      return next === null ? driven : await drive(now, next, "always", { chainId });
    } catch (error) {
      // Held right after the intent was journaled.
      const accepted = error instanceof HeldError ? await context.journal.read(id) : undefined;
      if (accepted) return accepted;
      throw error;
    }
  });
}

/** Begins to read the times that a submission needs, in one message with the identity of the chain. */
function beginSubmission(context: RelayerContext): { now: RelayerContext; nextTime: Promise<number> } {
  const now = atOneTime(context);
  const nextTime = readNextBlockTime(context.node);
  prefetch(readTime(now), nextTime);
  return { now, nextTime };
}

async function advance(context: RelayerContext, id: string): Promise<RelayOperationRecord> {
  const operation = await context.journal.read(id);
  if (!operation) throw new RelayOperationUnknownError(id);
  return driveLocked(context, operation, "after_sending");
}

/**
 * Takes up what an earlier process left: first every claimed nonce in order, from transaction receipts to rebroadcast, then what was
 * only accepted. Operations of another epoch are left alone.
 */
async function recover(context: RelayerContext): Promise<void> {
  const { epoch } = await readChainIdentity(context);
  const unsettled = (await context.journal.unsettled()).filter((operation) => operation.epoch === epoch);
  // Settled operations can be among these: a reorg may have removed their blocks while the relayer was not running.
  const head = await readHeadBlock(context.node);
  const elsewhere = await findReorged(context, epoch, await context.trail.fork(context.node, head));

  const found = new Map([...unsettled, ...elsewhere].map((attempt) => [attemptKey(attempt), attempt]));
  const inOrder = [...found.values()].sort(byNonce);
  for (const attempt of inOrder) await driveLocked(context, attempt, "never");
  await Promise.all(inOrder.map((attempt) => driveLocked(context, attempt, "always")));
}

// Without a nonce last: they will claim higher ones.
function byNonce(left: RelayOperationRecord, right: RelayOperationRecord): number {
  const order = (left.nonce ?? Number.MAX_SAFE_INTEGER) - (right.nonce ?? Number.MAX_SAFE_INTEGER);
  return order === 0 ? left.sequence - right.sequence : order;
}
