import { z } from "zod";
import { askNode, type Node } from "../../../relayer/node/node.ts";

/** Returns by how many seconds Anvil's time is ahead of the wall clock. */
export async function readOffset(node: Node): Promise<number> {
  return await moveBy(node, 0);
}

/** Raises Anvil's offset to a value. A time that is set in Anvil counts from when it arrives; an offset is exact. */
export async function raiseOffset(node: Node, offset: number): Promise<void> {
  const missing = offset - (await readOffset(node));
  if (missing > 0) await moveBy(node, missing);
}

/** Returns the offset that Anvil has afterwards. */
async function moveBy(node: Node, seconds: number): Promise<number> {
  return await askNode(node, "evm_increaseTime", [seconds], z.int());
}
