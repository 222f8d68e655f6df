import type { Address, Hex } from "viem";

/** One log as the chain reports it in a receipt. */
export interface ObservedLog {
  address: Address;
  topics: readonly Hex[];
  data: Hex;
  logIndex: number;
  blockNumber: bigint;
  blockHash: Hex;
  transactionHash: Hex;
  removed: boolean;
}

/** A transaction's own fields; `hash` and `sender` are recomputed from the signed fields, never taken from a node's word. */
export interface ObservedEnvelope {
  /** keccak256 of the serialized signed transaction. */
  hash: Hex;
  /** Recovered from the signature. */
  sender: Address;
  /** EIP-2718 type. */
  type: string;
  to: Address | null;
  input: Hex;
  /** Wei. */
  value: bigint;
  nonce: number;
  blockHash: Hex | null;
}

/** What a receipt says. */
export interface ObservedReceipt {
  status: "success" | "reverted";
  transactionHash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  gasUsed: bigint;
  effectiveGasPrice: bigint;
  logs: readonly ObservedLog[];
}

/** Everything the binding check looks at, read by hash at one head. */
export interface ObservedTransaction {
  /** The hash that was asked for, in lower case. */
  hash: Hex;
  chain: { chainId: number; epoch: Hex };
  /** The newest block when this was read. */
  head: { number: bigint; hash: Hex };
  envelope: ObservedEnvelope | null;
  receipt: ObservedReceipt | null;
  /** The block that the chain has now at the receipt's height. */
  block: { number: bigint; hash: Hex; timestamp: number } | null;
  /** keccak256 of the code at `to` in the receipt's block; null when there is none. */
  codeHash: Hex | null;
}
