import type { Address, Hex } from "viem";
import type { AttemptName, RelayOperationRecord, RelayOperationStatus } from "./relay-operation.ts";

/** A program's gas budget; `limit = available + reserved + spent`, in wei as decimal strings. */
export interface BudgetRecord {
  program: string;
  limit_wei: string;
  reserved_wei: string;
  spent_wei: string;
  /** The sequence number of the program's next operation. */
  next_sequence: number;
}

/** One step of the journal: what it leaves behind, all of it or nothing. */
interface JournalStep {
  /** The attempt that the step is about. */
  operation: RelayOperationRecord;
  /** The attempt whose place it takes. */
  superseded?: RelayOperationRecord;
  budget?: BudgetRecord;
}

/** The operations of a program to list. */
export interface RelayOperationPage {
  /** The operation after which the page begins. */
  after?: string;
  limit: number;
  status?: RelayOperationStatus;
}

/**
 * The storage of operations, attempt by attempt. The relayer keeps nothing of its own.
 *
 * Reads see what is durable. Writes become durable in the order in which they were called: when one resolves, all
 * earlier ones are durable too. The order of nonces rests on that.
 */
export interface RelayerJournal {
  /** The current attempt of an operation. */
  read(operationId: string): Promise<RelayOperationRecord | undefined>;
  /** An attempt as it is kept now: the current one, whatever its number, or the superseded one of this number. */
  reread(attempt: AttemptName): Promise<RelayOperationRecord | undefined>;
  /** The attempts before this one, the first one first. */
  superseded(current: RelayOperationRecord): Promise<RelayOperationRecord[]>;
  /** Every attempt that is not confirmed, reverted or failed, of all programs, in sequence order. */
  unsettled(): Promise<RelayOperationRecord[]>;
  /** The current attempts of a program's operations, by sequence. */
  list(program: string, page: RelayOperationPage): Promise<RelayOperationRecord[]>;
  budget(program: string): Promise<BudgetRecord | undefined>;
  /** The highest nonce ever claimed for a signer in an epoch. */
  lastNonce(signer: Address, epoch: Hex): Promise<number | undefined>;
  /** The attempts with the highest nonces below this one for a signer in an epoch, by falling nonce. */
  claimedBelow(signer: Address, nonce: number, epoch: Hex, limit: number): Promise<RelayOperationRecord[]>;
  /** Every attempt that claimed this nonce or a higher one for a signer in an epoch, settled or not, by nonce. */
  claimed(signer: Address, fromNonce: number, epoch: Hex): Promise<RelayOperationRecord[]>;
  /** Atomic, and durable when it resolves. */
  write(step: JournalStep): Promise<void>;
  /** The journal as it is once everything is durable that was written so far. */
  ahead(): RelayerJournalAhead;
}

/**
 * The reads and the write of a step that builds on steps which are not durable yet, so that it need not wait for them:
 * its own write is refused when one of theirs is.
 */
export type RelayerJournalAhead = Pick<RelayerJournal, "budget" | "lastNonce" | "write">;
