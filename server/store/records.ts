import type { Address, Hex } from "viem";
import type { Decision } from "../../protocol/signatures/decision.ts";
import type { RelayOperationRecord } from "../../relayer/journal/relay-operation.ts";
import type { BudgetRecord } from "../../relayer/journal/relayer-journal.ts";
import type { Merchant } from "../schemas/merchants.ts";
import type { DeliveryReceipt } from "../schemas/notifications.ts";
import type { Deadlines, Purchase } from "../schemas/purchases.ts";
import type { Claim, Refund } from "../schemas/refunds.ts";
import type { WalletAction } from "../schemas/wallets.ts";

/** Times in records are Unix seconds of chain time; amounts are decimal strings in base units. */

/** A credential; only its SHA-256 is kept. */
export interface CredentialRecord {
  id: string;
  account: string;
  program: string;
  scopes: string[];
  token_sha256: Hex;
  issued_at: number;
  expires_at: number;
  revoked_at: number | null;
}

/** The active credential of an account. */
export interface ActiveCredentialRecord {
  account: string;
  credential_id: string;
}

/** A merchant and what it was authorized for. */
export interface MerchantRecord
  extends Pick<Merchant, "id" | "program" | "name" | "wallet" | "reference" | "status" | "event_id"> {
  funding: { cap: string; valid_until: number; salt: Hex; hash: Hex; signature: Hex };
  enrollment: { transaction_hash: Hex; signature: Hex; confirmed_at: number } | null;
  created_at: number;
}

type ReadFromChain = "payment_status" | "expired" | "withdrawn" | "figures";
type OtherRecord = "claim" | "decision" | "refund";
type InAnotherShape = "commitment" | "deadlines" | "wallet_url" | "created_at";

/** A purchase; everything the commitment covers never changes. Its `receipts` are the payments that reconcile has recorded. */
export interface PurchaseRecord
  extends Omit<Purchase, ReadFromChain | OtherRecord | InAnotherShape>,
    Deadlines {
  commitment_hash: Hex;
  commitment_signature: Hex;
  salt: Hex;
  terms_hash: Hex;
  merchant: Address;
  claim_id: string | null;
  decision_id: string | null;
  refund_id: string | null;
  created_at: number;
}

/** A beneficiary's claim. */
export interface ClaimRecord extends Omit<Claim, "beneficiary" | "reason_hash" | "created_at"> {
  created_at: number;
}

/** A reviewer's decision: the signed statement and the approval. */
export interface DecisionRecord {
  id: string;
  statement: Decision;
  approval: string;
  decision_hash: Hex;
  created_at: number;
  event_id: string;
}

/** A refund: recorded as due, then collected. */
export interface RefundRecord
  extends Omit<Refund, "from" | "to" | "claim_hash" | "created_at" | "collected_at"> {
  created_at: number;
  collected_at: number | null;
}

/** An outbox event; its body is frozen when it is written. */
export interface EventRecord {
  id: string;
  program: string;
  sequence: number;
  type: string;
  /** The purchase or the merchant that it is about. */
  subject: string;
  body: string;
  body_sha256: Hex;
  created_at: number;
  delivery: "undelivered" | "delivered" | "exhausted";
}

/** One delivery attempt; its outcome is null while it is in progress. */
export interface AttemptRecord {
  number: number;
  at: number;
  outcome: {
    status_code: number | null;
    error: string | null;
    response_body: string | null;
    duration_ms: number;
    /** The pause that the receiver asked for, in seconds. */
    retry_after_seconds: number | null;
  } | null;
}

/** An event on its way to the pinned receiver; keyed by the event's id. */
export interface NotificationRecord {
  id: string;
  event_id: string;
  program: string;
  status: "pending" | "delivered" | "exhausted";
  attempts: AttemptRecord[];
}

/** A notification that the pinned receiver accepted; keyed by the event's id. */
export interface DeliveryReceiptRecord extends Omit<DeliveryReceipt, "received_at"> {
  program: string;
  received_at: number;
}

/** The number of rotations of the key of one use; keyed by the use. */
export interface KeyGenerationRecord {
  /** 1 for the first key. */
  generation: number;
}

/** The request that an idempotency key was used for. */
export interface IdempotencyRecord {
  fingerprint: Hex;
  state: "in_progress" | "done";
  /** The subject that an effect outside the store was begun on. */
  subject: string | null;
  response: { status: number; body: string } | null;
}

/** A hash that a step has used; keyed by the hash, with the log index for payments. */
export interface UsedTransactionRecord {
  step: string;
  subject: string;
}

/** The state of a submission from one time on. */
export interface SubmissionState {
  transaction_hash: Hex | null;
  signature: Hex | null;
  submitted_at: number;
  event_id: string;
}

/** A submission over the wallet route, for the program operation to use. */
export interface SubmissionRecord extends SubmissionState {
  program: string;
  subject: string;
  action: WalletAction;
  /** The amount that was approved, paid or claimed; absent for other actions. */
  amount?: string;
  /** The reason for the claim; absent for other actions. */
  reason?: string;
  /** The states before this one, the oldest first: a repeated request gets the answer of then. */
  earlier?: SubmissionState[];
}

/** Every collection of the store and what it holds. */
export interface Collections {
  credentials: CredentialRecord;
  active_credentials: ActiveCredentialRecord;
  merchants: MerchantRecord;
  purchases: PurchaseRecord;
  claims: ClaimRecord;
  decisions: DecisionRecord;
  refunds: RefundRecord;
  events: EventRecord;
  notifications: NotificationRecord;
  receipts: DeliveryReceiptRecord;
  key_generations: KeyGenerationRecord;
  idempotency: IdempotencyRecord;
  used_transactions: UsedTransactionRecord;
  submissions: SubmissionRecord;
  /** The current attempt of each relay operation, by its id. */
  operations: RelayOperationRecord;
  /** The attempts of relay operations that later ones have superseded, by id and number. */
  attempts: RelayOperationRecord;
  budgets: BudgetRecord;
}

/** The name of a collection. */
export type CollectionName = keyof Collections;

/** The fields that lists can be filtered by; the embedded store keeps an index for each. */
export const indexedFields = {
  credentials: ["token_sha256"],
  active_credentials: [],
  merchants: ["program"],
  purchases: ["commitment_hash", "program"],
  claims: [],
  decisions: [],
  refunds: [],
  events: ["program", "delivery", "subject"],
  notifications: ["program"],
  receipts: ["program"],
  key_generations: [],
  idempotency: [],
  used_transactions: [],
  submissions: ["subject"],
  operations: ["program", "status"],
  attempts: ["status"],
  budgets: [],
} as const satisfies { [C in CollectionName]: readonly (keyof Collections[C])[] };

/**
 * The orders that records can be read in: those that are equal in some fields, by a number that is unique among them. A record whose
 * number is null is in none. The embedded store keeps each order, so that its ends are found without a search.
 */
export const orderings = {
  operations_by_sequence: { collection: "operations", within: ["program"], by: "sequence" },
  operations_by_status: { collection: "operations", within: ["program", "status"], by: "sequence" },
  operations_by_nonce: { collection: "operations", within: ["from", "epoch"], by: "nonce" },
  attempts_by_nonce: { collection: "attempts", within: ["from", "epoch"], by: "nonce" },
} as const satisfies { [ordering: string]: { collection: CollectionName; within: string[]; by: string } };

/** The name of an order. */
export type OrderingName = keyof typeof orderings;

/** The record type of an order. */
export type Ordered<O extends OrderingName> = Collections[(typeof orderings)[O]["collection"]];

/** The names of all collections. */
export const collectionNames = Object.keys(indexedFields).filter(
  (name): name is CollectionName => name in indexedFields,
);

/**
 * Returns the newest time that a record names as past, in Unix seconds; 0 if it names none.
 *
 * @example newestTime({ created_at: 1790000000, expires_at: 1790604800 }) // 1790000000
 */
export function newestTime(record: object): number {
  const past = Object.entries(record).filter(([name]) => name.endsWith("_at") && name !== "expires_at");
  return Math.max(0, ...past.map(([, time]) => (typeof time === "number" ? time : 0)));
}
