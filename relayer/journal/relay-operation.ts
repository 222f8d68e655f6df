import type { Address, Hex } from "viem";
import { deriveId } from "../../protocol/values/id.ts";
import type { Json } from "../../protocol/values/json.ts";

/** The statuses of an operation, in order. */
export const relayOperationStatuses = [
  "accepted",
  "signed",
  "broadcast",
  "mined",
  "confirmed",
  "reverted",
  "failed",
  "needs_attention",
] as const;

/** The progress of an operation. */
export type RelayOperationStatus = (typeof relayOperationStatuses)[number];

/** The error codes of an operation that the chain or the node refused. */
export const relayOperationErrorCodes = [
  /** The simulation reverted; no nonce was claimed. */
  "simulation_reverted",
  /** The mined transaction reverted; it cost its gas. */
  "transaction_reverted",
  /** The node did not answer the last question about this operation. */
  "rpc_unavailable",
  /** The node refused the last request of this operation; `error` has its words. */
  "rpc_refused",
  /**
   * The condition that the call depends on no longer holds; `error` says why. It was withdrawn, and the next request
   * starts a new operation; or it was mined anyway, and `error` says what it has done.
   */
  "precondition_failed",
] as const;

/** The reasons for an operation's status, when the status alone does not say it. */
export const statusReasons = [
  ...relayOperationErrorCodes,
  /** The block that had the transaction is no longer on the chain. */
  "reorged",
  /** Before a nonce was claimed: the signer's nonce on chain is above every nonce that the journal knows. */
  "foreign_nonce",
  /** After a nonce was claimed: the chain has used it, and not for a transaction of this operation. */
  "nonce_taken",
  /** A person gave up the attempt before this one, whose nonce was taken; the next request begins this one. */
  "abandoned",
] as const;

type StatusReason = (typeof statusReasons)[number];

/** The purposes that a transaction is signed for. */
export const transactionPurposes = ["original", "bump", "cancel"] as const;

/** The purpose that a transaction is signed for. */
export type TransactionPurpose = (typeof transactionPurposes)[number];

/** The outcomes of one signed transaction. */
export const transactionOutcomes = [
  /** Signed and stored; not known to have reached the node. */
  "signed",
  /** The node took it. */
  "broadcast",
  "succeeded",
  "reverted",
  /** Another transaction of the operation was mined with the same nonce. */
  "replaced",
] as const;

type TransactionOutcome = (typeof transactionOutcomes)[number];

/** An error of the chain or of the node, as far as it is known. */
export interface RelayOperationError {
  code: (typeof relayOperationErrorCodes)[number];
  message: string;
  /** The JSON-RPC error code, when the node refused. */
  rpc_code: number | null;
  /** The decoded custom error, when a call reverted. */
  revert: { name: string; args: { [name: string]: Json }; data: Hex } | null;
}

/** A signed transaction: what recovery looks for and sends again, byte for byte. */
export interface SignedTransaction {
  hash: Hex;
  purpose: TransactionPurpose;
  outcome: TransactionOutcome;
  raw: Hex;
  max_fee_per_gas: string;
  max_priority_fee_per_gas: string;
}

/** A relay operation as the API shows it. Wei and gas are decimal strings, times RFC 3339 in chain time. */
export interface RelayOperation {
  operation_id: string;
  program: string;
  kind: RelayOperationKind;
  subject: { type: "purchase" | "refund"; id: string };
  /** Counts the program's operations from 1. */
  sequence: number;
  /** Counts from 1: the next one begins when the transaction before reverted or was withdrawn, or its nonce was taken and it was abandoned. */
  attempt: number;
  status: RelayOperationStatus;
  status_reason: StatusReason | null;
  nonce: number | null;
  from: Address;
  to: Address;
  calldata: Hex;
  decoded: { function: string; args: { [name: string]: Json } };
  /** The operation's current transaction: the mined one, otherwise the newest. */
  hash: Hex | null;
  /** Every transaction that was ever signed for it; of those with one nonce at most one can be mined. */
  hashes: {
    hash: Hex;
    attempt: number;
    nonce: number | null;
    purpose: TransactionPurpose;
    outcome: TransactionOutcome;
  }[];
  gas_limit: string;
  /** The gas that its mined transactions used, one for each attempt. */
  gas_used: string | null;
  max_fee_per_gas: string;
  /** The cost of its mined transactions, one for each attempt. */
  cost_wei: string | null;
  /**
   * The amount that the budget reserves for it now; zero once it is mined, has failed or was abandoned, except for a
   * cancellation in progress.
   */
  reserved_wei: string;
  block_number: number | null;
  block_hash: Hex | null;
  /** Blocks that confirm it, its own included, counted up to the number that is required. */
  confirmations: number;
  /** The number of times that a block with the transaction left the chain. */
  reorg_count: number;
  error: RelayOperationError | null;
  created_at: string;
  signed_at: string | null;
  broadcast_at: string | null;
  mined_at: string | null;
  confirmed_at: string | null;
}

/** One attempt of an operation as the journal keeps it: JSON, with what recovery needs and the API does not show. */
export interface RelayOperationRecord extends Omit<RelayOperation, "hashes"> {
  /** The chain epoch that it was accepted for. */
  epoch: Hex;
  business_key: Hex;
  transactions: SignedTransaction[];
  /** Whether a later attempt has taken its place. Its call must no longer be mined. */
  superseded: boolean;
  /** The lowest nonce that it may claim, set when a person resumed it after foreign use of the signer. */
  nonce_floor: number;
}

/**
 * The id of an operation: equal for every request that means the same effect in the same chain epoch.
 *
 * @example operationId(epoch, { program: "prg_demo", kind: "offer", businessKey: commitmentHash }) // "op_…"
 */
export function operationId(
  epoch: Hex,
  intent: { program: string; kind: RelayOperationKind; businessKey: Hex },
): string {
  return deriveId("op", [epoch, intent.program, intent.kind, intent.businessKey]);
}

/** The current transaction of an operation that is signed. */
export function currentTransaction(operation: RelayOperationRecord): SignedTransaction {
  const transaction = operation.transactions.find(({ hash }) => hash === operation.hash);
  if (!transaction) throw new Error(`${operation.operation_id} has no signed transaction.`);
  return transaction;
}

/** An attempt before anything is signed for it. */
type Unsigned = Pick<
  RelayOperationRecord,
  | "operation_id"
  | "epoch"
  | "business_key"
  | "program"
  | "kind"
  | "subject"
  | "sequence"
  | "attempt"
  | "status"
  | "status_reason"
  | "from"
  | "to"
  | "calldata"
  | "decoded"
  | "gas_limit"
  | "max_fee_per_gas"
  | "reserved_wei"
  | "created_at"
>;

/** An attempt for which nothing is signed. Its fields are in the order in which they are answered: recordings have the hash of that text. */
export function unsignedAttempt(attempt: Unsigned): RelayOperationRecord {
  return {
    operation_id: attempt.operation_id,
    epoch: attempt.epoch,
    business_key: attempt.business_key,
    program: attempt.program,
    kind: attempt.kind,
    subject: attempt.subject,
    sequence: attempt.sequence,
    attempt: attempt.attempt,
    superseded: false,
    status: attempt.status,
    status_reason: attempt.status_reason,
    nonce: null,
    nonce_floor: 0,
    from: attempt.from,
    to: attempt.to,
    calldata: attempt.calldata,
    decoded: attempt.decoded,
    hash: null,
    transactions: [],
    gas_limit: attempt.gas_limit,
    gas_used: null,
    max_fee_per_gas: attempt.max_fee_per_gas,
    cost_wei: null,
    reserved_wei: attempt.reserved_wei,
    block_number: null,
    block_hash: null,
    confirmations: 0,
    reorg_count: 0,
    error: null,
    created_at: attempt.created_at,
    signed_at: null,
    broadcast_at: null,
    mined_at: null,
    confirmed_at: null,
  };
}

/** The fields that identify one attempt of an operation in the journal. */
export type AttemptName = Pick<RelayOperationRecord, "operation_id" | "attempt" | "superseded">;

/** The key of an attempt: the operation's id for the current one, and with its number for one that was superseded. */
export function attemptKey({ operation_id, attempt, superseded }: AttemptName): string {
  return superseded ? `${operation_id}/${attempt}` : operation_id;
}

/** The name of the lock of an attempt, by its key. */
export function operationLock(key: string): string {
  return `operation:${key}`;
}

/** Returns whether a superseded attempt has had no effect and, unless the chain reorganizes, never will. */
export function isOver(superseded: RelayOperationRecord): boolean {
  const { status } = superseded;
  if (status === "reverted" || status === "needs_attention") return true;
  return status === "confirmed" && currentTransaction(superseded).purpose === "cancel";
}

/** Returns whether the call of a superseded attempt is mined, though it was to be cancelled. */
function hasEffect(superseded: RelayOperationRecord): boolean {
  if (superseded.block_hash === null) return false;
  const { purpose, outcome } = currentTransaction(superseded);
  return purpose !== "cancel" && outcome === "succeeded";
}

/**
 * Returns a journaled operation as the API shows it.
 *
 * @param superseded - its earlier attempts. One that took effect after all is shown instead of the current attempt.
 * @example toRelayOperation(record, []).hashes // without the signed bytes
 */
export function toRelayOperation(
  current: RelayOperationRecord,
  superseded: readonly RelayOperationRecord[],
): RelayOperation {
  const attempts = [...superseded, current];
  const told = superseded.find(hasEffect) ?? current;
  const {
    epoch: _epoch,
    business_key: _key,
    nonce_floor: _floor,
    superseded: _over,
    transactions: _raw,
    ...answered
  } = told;
  return {
    ...answered,
    hashes: attempts.flatMap(({ attempt, nonce, transactions }) =>
      transactions.map(({ hash, purpose, outcome }) => ({ hash, attempt, nonce, purpose, outcome })),
    ),
    gas_used: total(attempts.map(({ gas_used }) => gas_used)),
    cost_wei: total(attempts.map(({ cost_wei }) => cost_wei)),
    reserved_wei: total(attempts.map(({ reserved_wei }) => reserved_wei)) ?? "0",
    reorg_count: attempts.reduce((count, { reorg_count }) => count + reorg_count, 0),
  };
}

function total(amounts: readonly (string | null)[]): string | null {
  const known = amounts.filter((amount) => amount !== null);
  return known.length === 0 ? null : known.reduce((sum, amount) => sum + BigInt(amount), 0n).toString();
}

/** The kinds of transactions that the relayer sends for a program. */
export const relayOperationKinds = ["offer", "collect_refund"] as const;

/** The kind of transaction that the relayer sends for a program. */
export type RelayOperationKind = (typeof relayOperationKinds)[number];
