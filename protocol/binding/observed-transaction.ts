import type { Address, Hex } from "viem";

/** One log as the chain reports it. */
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

/** The fields of a transaction; `hash` and `sender` are recomputed from the signed fields, not read from the node. */
export interface ObservedEnvelope {
  /** keccak256 of the serialized signed transaction; null when the fields are not those of a signed transaction. */
  hash: Hex | null;
  /** The sender, recovered from the signature; null when the recovery fails. */
  sender: Address | null;
  /** Whether its signature is empty: the node impersonated the sender. */
  unsigned: boolean;
  to: Address | null;
  input: Hex;
  /** Wei. */
  value: bigint;
  blockHash: Hex | null;
}

/** The fields of a transaction receipt. */
export interface ObservedReceipt {
  status: "success" | "reverted";
  transactionHash: Hex;
  from: Address;
  to: Address | null;
  blockNumber: bigint;
  blockHash: Hex;
  logs: readonly ObservedLog[];
}

/** The block that the chain has now at the transaction receipt's height. */
export interface ObservedBlock {
  number: bigint;
  hash: Hex;
  /** Unix seconds. */
  timestamp: number;
  /** Whether it lists the transaction. */
  includes: boolean;
  /** The transaction's logs as the block has them, read separately from the transaction receipt. */
  logs: readonly ObservedLog[];
}

/** All inputs of the binding check, read by hash at one head. */
export interface ObservedTransaction {
  /** The hash that was asked for, in lower case. */
  hash: Hex;
  chain: { chainId: number; epoch: Hex };
  /** The newest block when this was read. */
  head: { number: bigint; hash: Hex };
  envelope: ObservedEnvelope | null;
  receipt: ObservedReceipt | null;
  block: ObservedBlock | null;
  /** keccak256 of the code at `to` in that block; null when there is none. */
  codeHash: Hex | null;
}
