import type { Address, Hex } from "viem";
import { deriveId } from "../protocol/id.ts";
import type { Json } from "../protocol/json.ts";
import type { OperationKind } from "./operation-kind.ts";

/** How far an operation is, in the order of its life. */
export const operationStatuses = [
  "accepted",
  "signed",
  "broadcast",
  "mined",
  "confirmed",
  "reverted",
  "failed",
  "needs_attention",
] as const;

/** How far an operation is. */
export type OperationStatus = (typeof operationStatuses)[number];

/** Why an operation is where it is, when its status alone does not say it. */
type StatusReason =
  /** The simulation reverted; no nonce was claimed. */
  | "simulation_reverted"
  /** The mined transaction reverted; it cost its gas. */
  | "transaction_reverted"
  /** The node did not answer the last question about this operation. */
  | "rpc_unavailable"
  /** The node refused the last request of this operation; `error` has its words. */
  | "rpc_refused"
  /** The block that had the transaction is no longer on the chain. */
  | "reorged"
  /** Before a nonce was claimed: the signer's nonce on chain is above every nonce that the journal knows. */
  | "foreign_nonce"
  /** After a nonce was claimed: the chain has used it, and not for a transaction of this operation. */
  | "nonce_taken";

/** Why a transaction was signed. */
export type TransactionPurpose = "original" | "bump" | "cancel";

/** What became of one signed transaction. */
type TransactionOutcome =
  /** Signed and stored; not known to have reached the node. */
  | "signed"
  /** The node took it. */
  | "broadcast"
  | "succeeded"
  | "reverted"
  /** Another transaction of the operation was mined with the same nonce. */
  | "replaced";

/** An error of the chain or of the node, as far as it can be told. */
export interface OperationError {
  code: StatusReason;
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

/** What the API shows of an operation. Wei and gas are decimal strings, times RFC 3339 in chain time. */
export interface Operation {
  operation_id: string;
  program: string;
  kind: OperationKind;
  subject: { type: "purchase" | "refund"; id: string };
  /** Counts the program's operations from 1. */
  sequence: number;
  status: OperationStatus;
  status_reason: StatusReason | null;
  nonce: number | null;
  from: Address;
  to: Address;
  calldata: Hex;
  decoded: { function: string; args: { [name: string]: Json } };
  /** The transaction that stands for the operation: the mined one, otherwise the newest. */
  hash: Hex | null;
  /** Every transaction that was ever signed for it; at most one of them can be mined. */
  hashes: { hash: Hex; purpose: TransactionPurpose; outcome: TransactionOutcome }[];
  gas_limit: string;
  gas_used: string | null;
  max_fee_per_gas: string;
  /** What the mined transaction cost. */
  cost_wei: string | null;
  /** What the budget holds back for it now; zero once it is mined or has failed. */
  reserved_wei: string;
  block_number: number | null;
  block_hash: Hex | null;
  /** Blocks that confirm it, its own included, counted up to the number that is required. */
  confirmations: number;
  /** How often a block that had the transaction left the chain. */
  reorg_count: number;
  error: OperationError | null;
  created_at: string;
  signed_at: string | null;
  broadcast_at: string | null;
  mined_at: string | null;
  confirmed_at: string | null;
}

/** An operation as the journal keeps it: JSON, with what recovery needs and the API does not show. */
export interface OperationRecord extends Omit<Operation, "hashes"> {
  /** The life of the chain that it was accepted for. */
  epoch: Hex;
  business_key: Hex;
  transactions: SignedTransaction[];
  /** The lowest nonce that it may claim, set when a person resumed it after foreign use of the signer. */
  nonce_floor: number;
}

/**
 * The id of an operation: equal for every request that means the same effect on the same life of the chain.
 *
 * @example operationId(epoch, { program: "prg_demo", kind: "offer", businessKey: commitmentHash }) // "op_…"
 */
export function operationId(
  epoch: Hex,
  intent: { program: string; kind: OperationKind; businessKey: Hex },
): string {
  return deriveId("op", [epoch, intent.program, intent.kind, intent.businessKey]);
}

/** The signed transaction that stands for an operation. */
export function standing(operation: OperationRecord): SignedTransaction {
  const transaction = operation.transactions.find(({ hash }) => hash === operation.hash);
  if (!transaction) throw new Error(`${operation.operation_id} has no signed transaction.`);
  return transaction;
}

/**
 * What the API shows of a journaled operation.
 *
 * @example toPublicOperation(record).hashes // without the signed bytes
 */
export function toPublicOperation(record: OperationRecord): Operation {
  const { epoch: _epoch, business_key: _key, nonce_floor: _floor, transactions, ...shown } = record;
  return {
    ...shown,
    hashes: transactions.map(({ hash, purpose, outcome }) => ({ hash, purpose, outcome })),
  };
}
