import { fromTimestamp } from "../../protocol/values/time.ts";
import type { Fees, RelayerContext } from "../context.ts";
import type { FaultPoint } from "../faults/fault.ts";
import { reach } from "../faults/fault-effects.ts";
import { available, reservationOf, writeWithBudget } from "../journal/gas-budget.ts";
import {
  currentTransaction,
  type RelayOperationRecord,
  type TransactionPurpose,
} from "../journal/relay-operation.ts";
import { readTime } from "../journal/timestamp.ts";
import { requireEpoch } from "../node/chain-epoch.ts";
import { feesOf, signerAccountOf, signTransaction } from "./sign.ts";

/** Raises the fee at a fault point where the fault `replace` is set. */
export async function bumpAt(
  context: RelayerContext,
  point: FaultPoint,
  operation: RelayOperationRecord,
): Promise<RelayOperationRecord> {
  // A higher fee would bring back the call of an attempt that is superseded.
  if (operation.superseded) return operation;
  return context.faults.take(point, "replace", operation) ? bump(context, operation) : operation;
}

/**
 * Raises the fees of a transaction that has waited for a block for long, if the network asks for more now than it offers.
 *
 * @returns the operation as it is if it has not, or the network does not, or the budget does not cover more.
 */
export async function raiseWhenLate(
  context: RelayerContext,
  operation: RelayOperationRecord,
): Promise<RelayOperationRecord> {
  const { raiseAfterSeconds } = context;
  if (raiseAfterSeconds === null || raiseAfterSeconds === undefined || operation.superseded) return operation;
  const { signed_at, transactions } = operation;
  if (signed_at === null) return operation;
  // After a minute, after two, after four, and so on.
  const due = fromTimestamp(signed_at) + raiseAfterSeconds * 2 ** (transactions.length - 1);
  if ((await readTime(context)) < due) return operation;
  const fees = await feesOf(context);
  if (fees.maxFeePerGas <= BigInt(operation.max_fee_per_gas)) return operation;
  return await bump(context, operation, fees);
}

/**
 * W2 again: the same call with the same nonce and higher fees, so that at most one of the two is mined.
 *
 * The operation stays as it is when the budget does not cover the higher fees.
 */
async function bump(
  context: RelayerContext,
  operation: RelayOperationRecord,
  least?: Fees,
): Promise<RelayOperationRecord> {
  const bumped = await replace(context, operation, "bump", operation, least);
  const more = BigInt(bumped.reserved_wei) - BigInt(operation.reserved_wei);
  return writeWithBudget(context, operation, operation.program, (budget) =>
    available(budget) < more ? operation : bumped,
  );
}

/**
 * W2 of a superseded attempt whose nonce is free, because a reorg has freed it or because the attempt was withdrawn: a transaction that
 * does nothing, with the same nonce and higher fees. It fills the nonce, so that later ones can be mined, and keeps the attempt's call
 * from being mined in addition to a later attempt's.
 */
export async function cancel(
  context: RelayerContext,
  superseded: RelayOperationRecord,
): Promise<RelayOperationRecord> {
  if (currentTransaction(superseded).purpose === "cancel") return superseded;
  const nothing = { to: superseded.from, calldata: "0x", gas_limit: transferGas } as const;
  const cancelled = await replace(context, superseded, "cancel", nothing);
  const signed = await writeWithBudget(context, superseded, superseded.program, () => ({
    ...cancelled,
    status: "signed",
    status_reason: superseded.status_reason === "precondition_failed" ? "precondition_failed" : "reorged",
  }));
  await reach(context, "after_signed", signed);
  return signed;
}

/** The operation with a further transaction for its nonce, its current one from then on; nothing is written. */
async function replace(
  context: RelayerContext,
  operation: RelayOperationRecord,
  purpose: TransactionPurpose,
  call: Pick<RelayOperationRecord, "to" | "calldata" | "gas_limit">,
  least: Fees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
): Promise<RelayOperationRecord> {
  const { nonce } = operation;
  if (nonce === null) throw new Error(`${operation.operation_id} has no nonce.`);
  const newest = operation.transactions.at(-1);
  if (!newest) throw new Error(`${operation.operation_id} has no signed transaction.`);

  const fees = {
    maxFeePerGas: larger(raised(newest.max_fee_per_gas), least.maxFeePerGas),
    maxPriorityFeePerGas: larger(raised(newest.max_priority_fee_per_gas), least.maxPriorityFeePerGas),
  };
  const chainId = await requireEpoch(context, operation);
  const { to, calldata, gas_limit } = call;
  const transaction = await signTransaction(
    signerAccountOf(context, operation),
    { to, calldata, gas_limit },
    { chainId, nonce, purpose, ...fees },
  );
  return {
    ...operation,
    hash: transaction.hash,
    transactions: [...operation.transactions, transaction],
    max_fee_per_gas: fees.maxFeePerGas.toString(),
    // Any of them may be mined, and none costs more than this.
    reserved_wei: reservationOf(BigInt(operation.gas_limit), fees.maxFeePerGas).toString(),
  };
}

/** The cost of a transfer of nothing, in gas units. */
const transferGas = "21000";

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

// Nodes ask for at least a tenth more before they replace a waiting transaction.
function raised(fee: string): bigint {
  return (BigInt(fee) * 9n + 7n) / 8n;
}
