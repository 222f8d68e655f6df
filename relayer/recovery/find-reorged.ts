import type { Hex } from "viem";
import type { RelayerContext } from "../context.ts";
import type { RelayOperationRecord } from "../journal/relay-operation.ts";
import { readBlockHash } from "../node/node.ts";

/** The number of operations that are read at a time on the way down. */
const stride = 8;

/**
 * The operations with a nonce that are on no block of the chain above `fork`, or not on the block that the journal names.
 *
 * Transactions of one signer are mined in the order of their nonces, so that the way down ends at the first one at or below `fork`.
 *
 * @param isOnChain - says whether the block of an operation is on the chain; the node does by default.
 */
export async function findReorged(
  context: RelayerContext,
  epoch: Hex,
  fork: number,
  isOnChain = async (operation: RelayOperationRecord) => await isBlockOnChain(context, operation),
): Promise<RelayOperationRecord[]> {
  const { journal } = context;
  const found: RelayOperationRecord[] = [];
  for (const signer of context.accounts.keys()) {
    let below = ((await journal.lastNonce(signer, epoch)) ?? -1) + 1;
    while (below > 0) {
      const page = await journal.claimedBelow(signer, below, epoch, stride);
      const above = page.filter(({ block_number }) => block_number === null || block_number > fork);
      for (const operation of above) if (!(await isOnChain(operation))) found.push(operation);
      below = above.length < page.length ? 0 : (page.at(-1)?.nonce ?? 0);
    }
  }
  return found;
}

/** Returns whether an operation's block is still on the chain. */
export async function isBlockOnChain(
  context: RelayerContext,
  { block_number, block_hash }: Pick<RelayOperationRecord, "block_number" | "block_hash">,
): Promise<boolean> {
  return block_number !== null && (await readBlockHash(context.node, block_number)) === block_hash;
}
