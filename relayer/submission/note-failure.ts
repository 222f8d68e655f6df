import type { RelayerContext } from "../context.ts";
import { RpcRefusedError, type RpcUnavailableError } from "../errors.ts";
import type { RelayOperationRecord, RelayOperationStatus } from "../journal/relay-operation.ts";

const underWay: readonly RelayOperationStatus[] = ["accepted", "signed", "broadcast"];

/** Journals why an operation that is in progress does not move on. */
export async function note(
  context: RelayerContext,
  operation: RelayOperationRecord,
  failure: RpcRefusedError | RpcUnavailableError,
): Promise<RelayOperationRecord> {
  // The status of an operation that is settled, is mined or waits for a person already says more than this failure.
  if (!underWay.includes(operation.status)) return operation;
  const noted: RelayOperationRecord = {
    ...operation,
    status_reason: failure.code,
    error: {
      code: failure.code,
      message: failure.message,
      rpc_code: failure instanceof RpcRefusedError ? failure.rpcCode : null,
      revert: null,
    },
  };
  await context.journal.write({ operation: noted });
  return noted;
}
