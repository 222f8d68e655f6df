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
  /** Whether the log may be missing. If it is there, it must be exact. */
  optional?: true;
}

/** The code at a wallet's address: none, a delegation (EIP-7702) or a contract. */
export type WalletCode = "none" | "delegated" | "contract";

/** The transaction that is expected for one step. */
export interface ExpectedTransaction {
  chain: { chainId: number; epoch: Hex };
  /** Required confirmations (1 = the block that includes it). */
  confirmations: number;
  /** The bound wallet, which must send the transaction itself and be no contract. */
  wallet: Address;
  /** The code at the bound wallet's address in the transaction's block. */
  walletCode: WalletCode;
  /** keccak256 of the code that the contract had when the service started. */
  codeHash: Hex;
  call: Call;
  /** The digests of the step, expected and on the chain. */
  purchase: { expected: Json; actual: Json };
  /** All logs that the named contracts must emit in the transaction, in this order for each contract. */
  logs: readonly ExpectedLog[];
  /** The step that already uses this hash, or null. */
  usedBy: string | null;
  /** Unix seconds, inclusive on both sides; null leaves a side open. */
  timely: { from: number | null; to: number | null };
}
