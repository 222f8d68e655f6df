import type { Hex } from "viem";
import type { Json } from "../../protocol/values/json.ts";
import type { WalletName } from "../../sandbox/chain/genesis/roles.ts";
import type { components } from "../../sandbox/client/api-client.ts";
import type { Route } from "../../sandbox/given/states.ts";

type Schemas = components["schemas"];

/** A transaction of a wallet, and what the contract must have made of it. */
export interface SentByWallet {
  hash: Hex;
  by: WalletName;
  succeeded: boolean;
  /** Whether it was mined after the deadline of its step. */
  late: boolean;
}

/** A merchant, as the API and the chain must have it. */
export interface ModelMerchant {
  id: string;
  /** The id of the step that created it. */
  by: number;
  wallet: WalletName;
  cap: bigint;
  collected: bigint;
  status: "pending" | "enrolled";
  /** Whether the contract has accepted the enrollment. */
  onChain: boolean;
  /** The enrollment that succeeded, or else the last one. */
  enrollment: SentByWallet | null;
  view: Schemas["Merchant"];
}

/** A payment on the chain. */
export interface ModelPayment {
  hash: Hex;
  amount: bigint;
  reconciled: boolean;
}

/** A claim that a beneficiary's wallet has sent. */
export interface ModelClaim extends SentByWallet {
  amount: bigint;
  reason: string;
  signature: Hex;
  claimHash: Hex;
}

/** A recorded decision. */
export interface ModelDecision {
  id: string;
  award: bigint;
  body: Schemas["RecordDecision"];
}

/** A purchase, as the API and the chain must have it. */
export interface ModelPurchase {
  id: string;
  /** The id of the step that created it. */
  by: number;
  /** The place of its merchant. */
  merchant: number;
  buyer: WalletName;
  amount: bigint;
  offerDeadline: number;
  payDeadline: number;
  claimDeadline: number;
  /** The fields that its request gave it, as every answer returns them. */
  sent: { amount: string; [field: string]: Json };
  status: Schemas["Purchase"]["status"];
  route: Route | null;
  /** The route by which the contract has it; null while it does not. */
  onChain: Route | null;
  /** The registration that succeeded, or else the last one. */
  registration: SentByWallet | null;
  payments: ModelPayment[];
  /** The last payment that reverted. */
  failedPayment: SentByWallet | null;
  /** The claim that succeeded, or else the last one. */
  claim: ModelClaim | null;
  /** The submissions of its wallets over the wallet route. */
  submitted: { register: boolean; claim: boolean };
  filed: { id: string; claimHash: Hex; requested: bigint } | null;
  decision: ModelDecision | null;
  refunded: bigint;
  view: Schemas["Purchase"];
}

/** An event of the outbox. */
export interface ModelEvent {
  type: string;
  subject: string;
  /** The fields that the event's data must have. */
  data: { [name: string]: string };
  delivery: "undelivered" | "delivered" | "exhausted";
  /** Its id, once it was delivered or exhausted. */
  id: string | null;
  /** When it happened, in Unix seconds; null where a fault decides how many blocks there are before it. */
  at: number | null;
}

/** A write that succeeded, for repeats. */
export interface ModelWrite {
  /** The number of its step in the scenario. */
  step: number;
  /** The id of the step of the walk that sent it. */
  by: number;
  line: string;
  key: string;
  body: string;
  status: number;
  text: string;
  /** Whether it was sent over the wallet route. */
  wallet: boolean;
}

/** A relay operation of a purchase; one that is only accepted is held before it has a nonce; when it is continued, it can fail. */
export interface ModelRelayed {
  kind: "offer" | "collect_refund";
  purchase: string;
  status: "accepted" | "failed" | "confirmed";
}

/**
 * All that a walk expects of the service, the chain and the outbox. It is written from the specification and docs/, and asks no rule of the
 * service. Plain data, so that a snapshot of it is a copy.
 */
export interface Model {
  /** The time of the newest block, in Unix seconds. */
  now: number;
  merchants: ModelMerchant[];
  purchases: ModelPurchase[];
  /** The amount that each buyer allows the registrar contract to draw. */
  approved: { [W in WalletName]?: bigint };
  /** The amount that each merchant's wallet allows the funding source to draw. */
  funded: { [W in WalletName]?: bigint };
  /** The amount that each wallet has received so far, less its payments. */
  received: { [W in WalletName]?: bigint };
  events: ModelEvent[];
  writes: ModelWrite[];
  /** The relay operations, in their order. */
  relayed: ModelRelayed[];
}

/** Returns the model of a fresh sandbox. */
export function freshModel(now: number): Model {
  return {
    now,
    merchants: [],
    purchases: [],
    approved: {},
    funded: {},
    received: {},
    events: [],
    writes: [],
    relayed: [],
  };
}

/** Returns what is paid on the chain. */
export function paidOf({ payments }: Pick<ModelPurchase, "payments">): bigint {
  return payments.reduce((sum, { amount }) => sum + amount, 0n);
}

/** Returns what the API has recorded as paid. */
export function recordedAsPaid({ payments }: Pick<ModelPurchase, "payments">): bigint {
  return paidOf({ payments: payments.filter(({ reconciled }) => reconciled) });
}

/** Returns whether the contract has a claim of a purchase. */
export function isClaimed({ claim }: ModelPurchase): boolean {
  return claim?.succeeded === true;
}

/** Notes how far the relay operation of a purchase is: there is one of each kind. */
export function noteRelayed({ relayed }: Model, operation: ModelRelayed): void {
  const { kind, purchase, status } = operation;
  const known = relayed.find((one) => one.kind === kind && one.purchase === purchase);
  if (known === undefined) relayed.push(operation);
  else known.status = status;
}

/** Moves base units from one wallet to another. */
export function move(model: Model, from: WalletName, to: WalletName, amount: bigint): void {
  model.received[from] = (model.received[from] ?? 0n) - amount;
  model.received[to] = (model.received[to] ?? 0n) + amount;
}

/** Adds an event to the outbox, by default at the time of the newest block. */
export function addEvent(
  model: Model,
  type: string,
  subject: string,
  data: ModelEvent["data"] = {},
  at: number | null = model.now,
): void {
  model.events.push({ type, subject, data, delivery: "undelivered", at, id: null });
}
