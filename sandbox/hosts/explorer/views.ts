/**
 * The answers of the explorer's routes. It is plain JSON: amounts are decimal strings in base units of the token, `…_at` is RFC 3339 in
 * sandbox time, hashes and addresses are hex.
 */

import type { Fault } from "../../service/faults/fault.ts";

/** One page of a list; `next_cursor` asks for the next one, null when this is the last. */
export interface ViewPage<T> {
  data: T[];
  next_cursor: string | null;
}

/** A point of the chain. */
export interface BlockPointView {
  number: number;
  hash: string;
  at: string;
}

/** An account with its label, or null. */
export interface AccountView {
  address: string;
  name: string | null;
}

/** A program with what its relayer may spend, in wei; null while one of its operations is among the unknown ones. */
export interface ProgramView {
  id: string;
  name: string;
  operator: string;
  gas_budget: { limit_wei: string; reserved_wei: string; spent_wei: string; available_wei: string } | null;
}

/** The state of the sandbox at one glance. */
export interface Overview {
  seed: string;
  mode: "live" | "deterministic";
  now: string;
  block: BlockPointView;
  chain: { chain_id: number; epoch: string };
  /** The number of times that Anvil has ended since the start, and the chain was made again from the journal. */
  anvil_restarts: number;
  urls: { api: string; docs: string; rpc: string; control: string };
  contracts: { token: string; registrar: string; funding_source: string };
  token: { symbol: string; decimals: number };
  programs: ProgramView[];
  /** The number of the relayer's operations that are not settled, by status. */
  unsettled: { [status: string]: number };
  /** A sentence for each operation whose block a reorg took, while the node does not say what became of it. */
  unknown: string[];
  /** The number of transactions that wait for a block. */
  pending_transactions: number;
  faults: Fault[];
  refusals: number;
  /** The faults that there are: those with a name, the points of all by layer and action, and the writes that they can be limited to. */
  fault_choices: {
    intents: readonly string[];
    matrix: { [layer: string]: { readonly [action: string]: readonly string[] } };
    operations: readonly string[];
  };
}

/** A purchase's money, read at one block. */
export interface FiguresView {
  amount: string;
  approved: string;
  paid: string;
  reconciled: string;
  refunded: string;
}

/** A purchase in a list. */
export interface PurchaseView {
  id: string;
  program: string;
  merchant_id: string;
  status: string;
  route: string | null;
  reference: string | null;
  commitment_hash: string;
  merchant: AccountView;
  buyer: AccountView;
  beneficiary: AccountView;
  deadlines: { offer_at: string; pay_at: string; claim_at: string };
  figures: FiguresView;
  created_at: string;
}

/** Purchases, the newest first, with the block that their figures were read at. */
export interface PurchaseViews extends ViewPage<PurchaseView> {
  as_of: BlockPointView;
}

/** A merchant with its funding at one block. */
export interface MerchantView {
  id: string;
  program: string;
  name: string;
  status: string;
  reference: string | null;
  wallet: AccountView;
  funding: {
    cap: string;
    collected: string;
    allowance: string;
    balance: string;
    valid_until: string;
    revoked_at: string | null;
  };
  created_at: string;
}

/** A relay operation. */
export interface RelayOperationView {
  id: string;
  program: string;
  kind: string;
  subject: { type: string; id: string };
  /** The purchase that it is about. */
  purchase_id: string | null;
  sequence: number;
  status: string;
  status_reason: string | null;
  error: string | null;
  nonce: number | null;
  from: AccountView;
  /** Every transaction that was ever signed for it: the original, bumps and cancellations, and what became of each. */
  transactions: {
    hash: string;
    attempt: number;
    purpose: string;
    outcome: string;
    max_fee_per_gas: string;
  }[];
  /** The current attempt; it is above 1 when the transaction before reverted or was abandoned. */
  attempt: number;
  hash: string | null;
  cost_wei: string | null;
  reserved_wei: string;
  block_number: number | null;
  confirmations: number;
  reorg_count: number;
  created_at: string;
  signed_at: string | null;
  broadcast_at: string | null;
  mined_at: string | null;
  confirmed_at: string | null;
}

/** One attempt to deliver an event. */
export interface DeliveryAttemptView {
  number: number;
  at: string;
  /** False while it is in progress, or when a crash lost what came of it. */
  ended: boolean;
  status_code: number | null;
  error: string | null;
  duration_ms: number | null;
}

/** An outbox event and how it was delivered. */
export interface EventView {
  id: string;
  program: string;
  sequence: number;
  type: string;
  subject: string;
  delivery: string;
  attempts: DeliveryAttemptView[];
  receipt_id: string | null;
  /** The arrivals at the sandbox's own receiver, by their numbers, which can be sent again. */
  arrivals: { number: number; verified: boolean; status: number | null }[];
  body: unknown;
  created_at: string;
}

/** A check of a binding with both sides. */
export interface CheckView {
  name: string;
  ok: boolean;
  expected: unknown;
  actual: unknown;
}

/** A transaction that a step did not accept. */
export interface RefusalView {
  /** Counts refusals from 1. */
  number: number;
  at: string;
  /** The number of times that the same was refused in a row. */
  times: number;
  operation: string;
  step: string;
  program: string;
  subject: string;
  code: string;
  detail: string;
  transaction_hash: string;
  checks: CheckView[];
  /** The address of the page that explains the transaction field by field. */
  explain: string;
}

/** A JSON-RPC call to the chain node that a request needed. */
export interface NodeCallView {
  method: string;
  /** The decoded call of `eth_call`, `eth_sendRawTransaction` and the like, as in `balanceOf(0x…)` with its contract; null for others. */
  call: string | null;
  /** Null while it is in progress. */
  duration_ms: number | null;
  failed: boolean;
}

/** A request that has no answer yet. */
export interface OpenRequestView {
  method: string;
  path: string;
  /** The wall clock when it arrived, RFC 3339 in UTC. */
  received: string;
  calls: NodeCallView[];
}

/** A request of the API with its answer. */
export interface RequestView extends OpenRequestView {
  /** Counts answers from 1. */
  number: number;
  /** The request id of the answer. */
  id: string;
  /** Sandbox time; null when the request was refused before the time was read. */
  at: string | null;
  duration_ms: number;
  /** The id of the API operation, as in `createPurchase`; null for a path that has none. */
  operation: string | null;
  /** An account, a credential's id, or `anyone`. */
  caller: string;
  idempotency_key: string | null;
  replayed: boolean;
  /** Null where a fault dropped the answer. */
  status: number | null;
  /** The code of the problem that was answered. */
  code: string | null;
  body: unknown;
  answer: unknown;
  /** The problem's sentence and the checks of its binding, if the answer refuses; the failed checks come first. */
  refusal: { detail: string; checks: CheckView[] } | null;
  /** The ids of the purchases, merchants and other records that it names. */
  objects: string[];
  /** The number of further calls, which are not kept. */
  more_calls: number;
}

/** Requests, the newest answer first, and those in progress. */
export interface RequestViews extends ViewPage<RequestView> {
  in_progress: OpenRequestView[];
}

/** A transaction in a block, named by what it does. */
export interface TransactionView {
  hash: string;
  from: AccountView;
  to: AccountView | null;
  /** As in `pay`; null for what no contract of the deployment decodes. */
  function: string | null;
  /** The purchases and merchants that it names. */
  about: string[];
  succeeded: boolean;
}

/** A block with its transactions. */
export interface BlockView extends BlockPointView {
  gas_used: string;
  transactions: TransactionView[];
}

/** One entry of a purchase's timeline. */
export interface TimelineEntry {
  at: string;
  kind:
    | "created"
    | "signed"
    | "on_chain"
    | "relayed"
    | "approved"
    | "paid"
    | "reconciled"
    | "submitted"
    | "claimed"
    | "decided"
    | "refunded"
    | "event"
    | "delivery"
    | "refused";
  /** One sentence. */
  title: string;
  /** The actor. */
  actor: string;
  block_number: number | null;
  transaction_hash: string | null;
  /** Hashes, amounts and states that belong to it, by name. */
  details: { [name: string]: string };
  /** The checks of a refusal. */
  checks: CheckView[];
}

/** A purchase with its whole timeline, the oldest entry first. */
export interface PurchaseTimeline {
  purchase: PurchaseView;
  merchant_name: string;
  terms: unknown;
  as_of: BlockPointView;
  wallet_url: string;
  operations: RelayOperationView[];
  entries: TimelineEntry[];
}

/** Something that a search found. */
export interface SearchResult {
  type: "purchase" | "merchant" | "operation" | "event" | "transaction" | "block" | "account";
  id: string;
  title: string;
  /** The purchase whose timeline has it, or null. */
  purchase_id: string | null;
}

/** A change, as `GET /stream` sends it. */
export interface ExplorerChange {
  topics: ChangeTopic[];
  /** The purchases that changed; null when there are too many to name. */
  purchases: string[] | null;
}

/** The topic of a change. */
export type ChangeTopic =
  | "blocks"
  | "purchases"
  | "merchants"
  | "operations"
  | "events"
  | "keys"
  | "faults"
  | "refusals"
  | "requests"
  /** Everything: a snapshot was restored, or the client missed too much. */
  | "everything";
