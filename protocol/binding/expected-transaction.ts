import type { Abi, Address, Hex } from "viem";
import type { Call } from "../call.ts";
import type { Json } from "../json.ts";

/** One event that the transaction must have emitted, exactly as often as it is listed. */
export interface ExpectedLog {
  abi: Abi;
  event: string;
  /** The fields that must be equal, by name; integers as decimal strings. Fields not named are free. */
  fields: { [name: string]: Json };
}

/** What a transaction must be to be accepted for one step. */
export interface ExpectedTransaction {
  chain: { chainId: number; epoch: Hex };
  /** How many blocks must stand on it, its own included. */
  confirmations: number;
  /** The bound wallet: the transaction's own sender. */
  wallet: Address;
  /** keccak256 of the code that was pinned at deployment. */
  codeHash: Hex;
  call: Call;
  /** The digest that the step is about, and what the chain holds under it. */
  purchase: { expected: Hex; actual: Hex | null };
  logs: readonly ExpectedLog[];
  /** What this hash already serves, or null. */
  usedBy: string | null;
  /** Unix seconds, inclusive on both sides; null leaves a side open. */
  timely: { from: number | null; to: number | null };
}
