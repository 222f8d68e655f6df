import type { RelayOperationRecord } from "../journal/relay-operation.ts";

/** The points where a fault can act, in the order in which an operation passes them. */
export const faultPoints = [
  /** Nothing is written. */
  "before_intent",
  /** W1 is durable: the intent and its reservation. */
  "after_intent",
  /** RPC: the call is about to be simulated. */
  "simulate",
  /** RPC: the signer's nonce on chain is about to be read. */
  "nonce",
  /** A nonce is chosen; nothing of it is written. */
  "before_signed",
  /** W2 is durable: nonce, signed bytes and hash. */
  "after_signed",
  /** RPC: the signed bytes are about to be sent. */
  "broadcast",
  /** The node answered; W3 is not written. */
  "sent",
  /** W3 is durable: the outcome of the broadcast. */
  "after_broadcast",
  /** RPC: the transaction receipt is about to be read. */
  "receipt",
  /** The transaction receipt is known; W4 is not written. */
  "before_mined",
  /** W4 is durable: transaction receipt and settlement. */
  "after_mined",
  /** Enough confirmations are known; W5 is not written. */
  "before_confirmed",
  /** W5 is durable: the confirmation. */
  "after_confirmed",
] as const;

/** A point where a fault can act. */
export type FaultPoint = (typeof faultPoints)[number];

/** The points where each action of a fault can act. */
export const faultPlacements = {
  /** The process crashes. */
  crash: faultPoints,
  /** The operation stops here, this time; looking at it again continues. */
  hold: faultPoints.slice(1),
  /** The node stops mining, until the fault is cleared. */
  pause_mining: faultPoints,
  /** The node refuses with an internal error. */
  rpc_error: ["simulate", "nonce", "broadcast", "receipt"],
  /** The node does what it is asked; its answer is lost. */
  lose_response: ["simulate", "nonce", "broadcast", "receipt"],
  /** The node seems to take the transaction and never has it. */
  drop: ["broadcast"],
  /** The transaction is sent twice. */
  duplicate: ["broadcast"],
  /** The node refuses because the signer cannot pay. */
  insufficient_funds: ["broadcast"],
  /** Other software uses the signer's next nonce first. */
  foreign_nonce: ["nonce", "broadcast"],
  /** The relayer raises the fee of its own transaction. */
  replace: ["after_signed", "after_broadcast"],
  /** The newest blocks leave the chain. */
  reorg: ["after_broadcast", "after_mined", "after_confirmed"],
} as const satisfies Record<string, readonly FaultPoint[]>;

/** The action of a fault. */
export type FaultAction = keyof typeof faultPlacements;

/** The operation at which a fault acts. */
export type FaultSubject = Pick<RelayOperationRecord, "operation_id" | "program" | "kind" | "subject">;

/** The faults that the relayer meets; its caller keeps them, and changes the chain for those that do. */
export interface RelayerFaults {
  /** Counts one hit of the first fault with this action at a point; a reorg has a `depth`. */
  take(point: FaultPoint, action: FaultAction, subject: FaultSubject): { depth?: number } | null;
  /** Has the node mine nothing until the faults are cleared. */
  pauseMining(): Promise<void>;
  /**
   * Removes the newest blocks from the chain, after automining has mined the transactions that were just sent.
   *
   * @throws FaultInvalidError when the node refuses, as it does for more blocks than it can take.
   */
  reorganize(depth: number): Promise<void>;
}
