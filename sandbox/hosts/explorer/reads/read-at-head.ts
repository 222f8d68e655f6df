import { BlockNotFoundError, type Hex } from "viem";
import { toTimestamp } from "../../../../protocol/values/time.ts";
import type { BatchingNode } from "../sources.ts";
import type { BlockPointView } from "../views.ts";

/** A block to read at. */
export interface Head extends BlockPointView {
  hash: Hex;
}

/** How often a read starts over when a reorg took its block. */
const mostTries = 3;

/** Reads at the newest block, by its hash, and again when that block has left the chain meanwhile. */
export async function readAtHead<T>(node: BatchingNode, read: (head: Head) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const { number, hash, timestamp } = await node.getBlock({ blockTag: "latest" });
    const head = { number: Number(number), hash, at: toTimestamp(Number(timestamp)) };
    try {
      return await read(head);
    } catch (error) {
      const still = await node.getBlock({ blockNumber: number }).catch(absent);
      if (still?.hash === hash || tries === mostTries) throw error;
    }
  }
}

/** Answers null for a block that the node does not have; every other failure stays one. */
export function absent(error: unknown): null {
  if (error instanceof BlockNotFoundError) return null;
  throw error;
}
