import type { Fees, RelayerContext } from "../context.ts";
import { RelayerError, RpcUnavailableError } from "../errors.ts";

/** Reads the fees of a transaction that is signed now. @throws RpcUnavailableError when the node does not say what it asks for. */
export async function feesOf(context: RelayerContext): Promise<Fees> {
  try {
    return await context.fees();
  } catch (error) {
    throw error instanceof RelayerError ? error : new RpcUnavailableError("The estimate of fees", error);
  }
}
