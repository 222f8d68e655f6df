import { z } from "zod";
import type { RelayerContext } from "../context.ts";
import { FaultInvalidError, RpcRefusedError, RpcUnavailableError } from "../errors.ts";
import { isAutomining } from "../node/mining.ts";
import { ask, countMinable, type Node } from "../node/node.ts";
import { lookUntil } from "./look-until.ts";

/**
 * Has the newest blocks leave the chain, among them that of a transaction just sent: automine answers before it makes the block.
 *
 * Anvil makes blocks while it reorganizes. The chain then lacks a block, and has receipts whose effects are not in its state.
 * So no block may be in progress and none may begin: automine is off, and there is nothing that it could have begun with.
 *
 * @throws FaultInvalidError when the node refuses, as it does for more blocks than it can take.
 */
export async function reorganize(context: RelayerContext, depth: number): Promise<void> {
  const { node } = context;
  if (!(await isAutomining(node))) return reorg(node, depth);
  const reorganizedIdle = async () => (await countMinable(node)) === 0 && (await reorgIfStill(node, depth));
  if (!(await lookUntil(reorganizedIdle, context)))
    throw new RpcUnavailableError("anvil_reorg", new Error("the node does not mine what its pool has"));
}

async function reorgIfStill(node: Node, depth: number): Promise<boolean> {
  await ask(node, "evm_setAutomine", [false], z.unknown());
  try {
    const still = (await countMinable(node)) === 0;
    if (still) await reorg(node, depth);
    return still;
  } finally {
    await ask(node, "evm_setAutomine", [true], z.unknown());
  }
}

async function reorg(node: Node, depth: number): Promise<void> {
  try {
    await ask(node, "anvil_reorg", [depth, []], z.unknown());
  } catch (error) {
    // The operation is where it was: it is the fault that was refused.
    if (error instanceof RpcRefusedError) throw new FaultInvalidError(error.message, { cause: error });
    throw error;
  }
}
