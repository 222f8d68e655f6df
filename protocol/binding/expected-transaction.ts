import type { Abi, Address, Hex } from "viem";
import type { Call } from "../call.ts";
import type { Json } from "../values/json.ts";

/** One event that the transaction must have emitted, exactly as often as it is listed. */
export interface ExpectedLog {
  /** The contract that must have emitted it. */
  address: Address;
  abi: Abi;
  event: string;
  /** The fields that must be equal, by name; integers as decimal strings. Fields not named are free. */
  fields: { [name: string]: Json };
  /** Whether it may be missing; it must be exact where it is there. */
  optional?: true;
}

/** What is at a wallet's address: nothing, a delegation to code (EIP-7702), a contract, or what no node tells any more. */
export type WalletCode = "none" | "delegated" | "contract" | "unknown";

/** What a transaction must be to be accepted for one step. */
export interface ExpectedTransaction {
  chain: { chainId: number; epoch: Hex };
  /** Required confirmations (1 = the block that includes it). */
  confirmations: number;
  /** The bound wallet: the transaction's own sender, an account without code. */
  wallet: Address;
  /** What the chain has at the bound wallet's address in the transaction's block. */
  walletCode: WalletCode;
  /** keccak256 of the code that was pinned at deployment. */
  codeHash: Hex;
  call: Call;
  /** The digests that the step is about, and what the chain holds under them. */
  purchase: { expected: Json; actual: Json };
  /** Everything that the contracts named here emit in the transaction, each contract's logs in this order. */
  logs: readonly ExpectedLog[];
  /** What this hash already serves, or null. */
  usedBy: string | null;
  /** Unix seconds, inclusive on both sides; null leaves a side open. */
  timely: { from: number | null; to: number | null };
}
