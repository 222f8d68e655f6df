import type { Hex } from "viem";
import type { RelayerContext } from "../context.ts";
import { EpochMismatchError, RelayerError, RpcUnavailableError } from "../errors.ts";
import type { RelayOperationRecord } from "../journal/relay-operation.ts";

/** Reads which chain the node serves now, and in which epoch. */
export async function readChainIdentity(context: RelayerContext): Promise<{ chainId: number; epoch: Hex }> {
  try {
    return await context.chain.identity();
  } catch (error) {
    throw error instanceof RelayerError ? error : new RpcUnavailableError("The chain's identity", error);
  }
}

/**
 * Makes sure that the node is in the chain epoch that the operation was accepted for: on another one its bytes
 * may not be sent, and missing transaction receipts mean nothing.
 *
 * @throws EpochMismatchError
 */
export async function requireEpoch(
  context: RelayerContext,
  operation: RelayOperationRecord,
): Promise<number> {
  const { chainId, epoch } = await readChainIdentity(context);
  if (epoch !== operation.epoch) throw new EpochMismatchError(operation.operation_id, operation.epoch, epoch);
  return chainId;
}
