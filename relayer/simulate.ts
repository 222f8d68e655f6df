import { writeWithBudget } from "./budget.ts";
import type { RelayerContext } from "./context.ts";
import { RpcRefusedError } from "./errors.ts";
import { nodeOf } from "./faulty-node.ts";
import { simulateCall } from "./node.ts";
import type { OperationRecord } from "./operation.ts";
import { decodeRevert } from "./revert.ts";

/** The JSON-RPC error code of a call that reverted. */
const executionReverted = 3;

/** Tries the call without a nonce; a revert fails the operation and gives its reservation back. */
export async function simulate(
  context: RelayerContext,
  operation: OperationRecord,
): Promise<OperationRecord> {
  const { from, to, calldata: data, gas_limit } = operation;
  try {
    await simulateCall(nodeOf(context, operation), { from, to, data, gas: BigInt(gas_limit) });
    return operation;
  } catch (error) {
    if (!(error instanceof RpcRefusedError) || error.rpcCode !== executionReverted) throw error;
    return fail(context, operation, error);
  }
}

function fail(
  context: RelayerContext,
  operation: OperationRecord,
  cause: RpcRefusedError,
): Promise<OperationRecord> {
  return writeWithBudget(context, operation, operation.program, () => ({
    ...operation,
    status: "failed",
    status_reason: "simulation_reverted",
    reserved_wei: "0",
    error: {
      code: "simulation_reverted",
      message: cause.message,
      rpc_code: cause.rpcCode,
      revert: decodeRevert(cause.data ?? "0x"),
    },
  }));
}
