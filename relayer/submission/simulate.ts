import type { RelayerContext } from "../context.ts";
import { RpcRefusedError } from "../errors.ts";
import { nodeOf } from "../faults/fault-effects.ts";
import { writeWithBudget } from "../journal/gas-budget.ts";
import type { RelayOperationError, RelayOperationRecord } from "../journal/relay-operation.ts";
import { decodeRevert } from "../node/decode-revert.ts";
import { readNextBlockTime, simulateCall } from "../node/node.ts";

/** The JSON-RPC error code of a call that reverted. */
const executionReverted = 3;

/**
 * Tries the call without a nonce; a revert fails the operation and gives its reservation back.
 *
 * @param time - the timestamp that the next block would have, in Unix seconds.
 */
export async function simulate(
  context: RelayerContext,
  operation: RelayOperationRecord,
  time: number,
): Promise<RelayOperationRecord> {
  const error = await simulateAt(context, operation, time);
  if (error === null) return operation;
  return writeWithBudget(context, operation, operation.program, () => ({
    ...operation,
    status: "failed",
    status_reason: "simulation_reverted",
    reserved_wei: "0",
    error,
  }));
}

/**
 * Runs an operation's call on the newest block, at the time that the next block would have, and writes nothing.
 *
 * @returns why it would revert, or null.
 */
export async function simulateNow(
  context: RelayerContext,
  operation: RelayOperationRecord,
): Promise<RelayOperationError | null> {
  return await simulateAt(context, operation, await readNextBlockTime(context.node));
}

/** A deadline counts when the transaction is mined: by the time of the block before, its last second is not over yet. */
async function simulateAt(
  context: RelayerContext,
  operation: RelayOperationRecord,
  time: number,
): Promise<RelayOperationError | null> {
  const { from, to, calldata: data, gas_limit } = operation;
  try {
    await simulateCall(nodeOf(context, operation), { from, to, data, gas: BigInt(gas_limit) }, time);
    return null;
  } catch (error) {
    if (!(error instanceof RpcRefusedError) || error.rpcCode !== executionReverted) throw error;
    return {
      code: "simulation_reverted",
      message: error.message,
      rpc_code: error.rpcCode,
      revert: decodeRevert(error.data ?? "0x"),
    };
  }
}
