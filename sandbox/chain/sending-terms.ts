import type { Fees } from "../../relayer/context.ts";

/** How transactions are paid for, and how they are waited for. */
export interface SendingTerms {
  /** Returns the fees of a transaction that is signed now, in wei. */
  fees(): Promise<Fees>;
  /** The longest pause between two looks for a transaction receipt, in milliseconds; each look is a request to the node. */
  receiptPauseMs: number;
  /** The seconds that a transaction of the relayer waits for a block before its fees are raised for the first time; null for never. */
  raiseAfterSeconds: number | null;
}

const fixedFees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/** The terms of the sandbox's own chain. The fees are fixed, so that equal transactions are equal bytes. */
export const ownTerms: SendingTerms = {
  fees: async () => fixedFees,
  receiptPauseMs: 25,
  raiseAfterSeconds: null,
};
