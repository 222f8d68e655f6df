import { zeroAddress } from "viem";
import { RpcRefusedError } from "../../../relayer/errors.ts";
import { type Node, readHead, readNonce } from "../../../relayer/node/node.ts";
import { rpcErrorCodes } from "../rpc/error-codes.ts";

/** The blocks that a chain needs to be the one that it is. */
export interface ChainBeginning {
  /** The newest block that Anvil loaded when it started. */
  loadedBlock: number;
  /** The block that the chain's epoch is made of, the last one of the prepared chain. */
  epochBlock: number;
}

/**
 * Thrown when a reorg would lose more than its blocks: the state before them, or the time.
 *
 * Not a CodedError: a client of a chain expects the number of a JSON-RPC error (EIP-1193), and viem repeats a request that fails without one.
 */
export class ReorgDepthError extends Error {
  override readonly name = "ReorgDepthError";
  readonly code = rpcErrorCodes.invalidParams;
}

/**
 * Makes sure that Anvil can take the given number of blocks off the chain. Of blocks before the newest one that it loaded it has no contract code
 * to go back to, and leaves every address without code while it answers success; of blocks whose state it no longer keeps it has nothing.
 * Without the block of its epoch, the chain would be another one.
 *
 * @throws ReorgDepthError with the greatest depth that is possible now.
 */
export async function requireReorgDepth(
  node: Node,
  { loadedBlock, epochBlock }: ChainBeginning,
  depth: number,
): Promise<void> {
  const head = await readHead(node);
  const oldest = Math.max(loadedBlock, epochBlock);
  if (head - depth >= oldest && (await keepsState(node, head - depth))) return;
  const first = await findOldestKept(node, oldest, head);
  const reason =
    first === epochBlock
      ? `the prepared chain ends with block ${epochBlock}`
      : first === loadedBlock
        ? `Anvil loaded the chain at block ${loadedBlock} and has no contract code for blocks before it`
        : `Anvil keeps no state of blocks before block ${first}`;
  const most = head - first;
  const isLimitOfStates = first !== epochBlock && first !== loadedBlock;
  // Each mined block drops the oldest state, so mining helps only against the other two limits.
  const remedy = isLimitOfStates ? "Remove fewer blocks." : "Remove fewer blocks, or mine first.";
  throw new ReorgDepthError(
    `A reorg can remove at most ${most} ${most === 1 ? "block" : "blocks"} now, not ${depth}, because ${reason}. ${remedy}`,
  );
}

/** The oldest block from `oldest` to `head` whose state is kept; those before it were dropped first. */
async function findOldestKept(node: Node, oldest: number, head: number): Promise<number> {
  let low = oldest;
  let high = head;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await keepsState(node, middle)) high = middle;
    else low = middle + 1;
  }
  return high;
}

async function keepsState(node: Node, block: number): Promise<boolean> {
  try {
    await readNonce(node, zeroAddress, block);
    return true;
  } catch (error) {
    if (error instanceof RpcRefusedError) return false;
    throw error;
  }
}
