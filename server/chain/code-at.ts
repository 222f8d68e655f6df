import type { Address, Hex, PublicClient } from "viem";
import { isStateGone } from "./head-reader.ts";

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
