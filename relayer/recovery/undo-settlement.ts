import type { RelayerContext } from "../context.ts";
import { reservationOf, writeWithBudget } from "../journal/gas-budget.ts";
import type { RelayOperationRecord } from "../journal/relay-operation.ts";

/** Takes an operation back to `broadcast` and reverses its settlement: a reorg has removed the block of its transaction. */
export function undoSettlement(
  context: RelayerContext,
  operation: RelayOperationRecord,
): Promise<RelayOperationRecord> {
  return writeWithBudget(context, operation, operation.program, () => asBroadcast(operation));
}

/** Returns an operation whose transaction waits for a block again. */
export function asBroadcast(operation: RelayOperationRecord): RelayOperationRecord {
  return {
    ...operation,
    status: "broadcast",
    status_reason: "reorged",
    error: null,
    transactions: operation.transactions.map((transaction) => ({ ...transaction, outcome: "broadcast" })),
    gas_used: null,
    cost_wei: null,
    reserved_wei: reservationOf(BigInt(operation.gas_limit), BigInt(operation.max_fee_per_gas)).toString(),
    block_number: null,
    block_hash: null,
    confirmations: 0,
    reorg_count: operation.reorg_count + 1,
    mined_at: null,
    confirmed_at: null,
  };
}
