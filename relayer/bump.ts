import { available, reservationOf, writeWithBudget } from "./budget.ts";
import { requireEpoch } from "./chain-epoch.ts";
import type { RelayerContext } from "./context.ts";
import type { OperationRecord } from "./operation.ts";
import { accountOf, signTransaction } from "./sign.ts";

/**
 * W2 again: the same call with the same nonce and higher fees, so that at most one of the two is mined.
 *
 * The operation stays as it is when the budget does not cover the higher fees.
 */
export async function bump(context: RelayerContext, operation: OperationRecord): Promise<OperationRecord> {
  const { nonce } = operation;
  if (nonce === null) throw new Error(`${operation.operation_id} has claimed no nonce.`);
  const newest = operation.transactions.at(-1);
  if (!newest) throw new Error(`${operation.operation_id} has no signed transaction.`);

  const fees = {
    maxFeePerGas: raised(newest.max_fee_per_gas),
    maxPriorityFeePerGas: raised(newest.max_priority_fee_per_gas),
  };
  const reservation = reservationOf(BigInt(operation.gas_limit), fees.maxFeePerGas);
  const more = reservation - BigInt(operation.reserved_wei);
  const chainId = await requireEpoch(context, operation);
  const transaction = await signTransaction(accountOf(context, operation), operation, {
    chainId,
    nonce,
    purpose: "bump",
    ...fees,
  });
  return writeWithBudget(context, operation, operation.program, (budget) =>
    available(budget) < more
      ? operation
      : {
          ...operation,
          hash: transaction.hash,
          transactions: [...operation.transactions, transaction],
          max_fee_per_gas: fees.maxFeePerGas.toString(),
          reserved_wei: reservation.toString(),
        },
  );
}

// Nodes ask for at least a tenth more before they replace a waiting transaction.
function raised(fee: string): bigint {
  return (BigInt(fee) * 9n + 7n) / 8n;
}
