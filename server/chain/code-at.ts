import { type Address, BaseError, type Hex, type PublicClient, RpcRequestError } from "viem";

/**
 * Reads the code of an account as it is after a block.
 *
 * A node keeps the state of its latest blocks only. Beyond that the code is the one of now: nothing but a delegation (EIP-7702), which
 * counts as no code of the account's own, and a node's own test calls change it.
 *
 * @returns undefined for an account without code.
 * @example await codeAt(client, buyer, receipt.blockHash)
 */
export async function codeAt(
  client: PublicClient,
  address: Address,
  blockHash: Hex,
): Promise<Hex | undefined> {
  try {
    return await client.getCode({ address, blockHash });
  } catch (error) {
    if (!isStateGone(error)) throw error;
  }
  return await client.getCode({ address });
}

/** Returns whether Anvil has dropped the state of the block; every invalid parameter has the same error code. */
function isStateGone(error: unknown): boolean {
  const answer = error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : null;
  return answer instanceof RpcRequestError && /BlockOutOfRange/.test(answer.details);
}
