import {
  BlockNotFoundError,
  type PublicClient,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
} from "viem";
import { type BlockPoint, ChainUnavailableError } from "./chain-reader.ts";

/** How often a read starts over when the chain reorganized under it. */
const headRetries = 3;

/** Reads at a head, and again if that block is no longer on the chain afterwards. */
export async function atOneHead<T>(
  client: PublicClient,
  read: (head: BlockPoint) => Promise<T>,
  point?: BlockPoint,
): Promise<T> {
  for (let tries = 0; tries < headRetries; tries += 1) {
    const head = point ?? (await headBlock(client));
    // A node answers a read at a block that has gone with an error; whether it has is seen below.
    const result = await read(head).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    const still = await client.getBlock({ blockNumber: BigInt(head.number) }).catch(absent);
    if (still?.hash !== head.hash) continue;
    if ("error" in result) throw result.error;
    return result.value;
  }
  throw new ChainUnavailableError("The chain reorganized while it was read; ask again.");
}

/** Reads the newest block. */
export async function headBlock(client: PublicClient): Promise<BlockPoint> {
  const block = await client.getBlock({ blockTag: "latest" });
  return { number: Number(block.number), hash: block.hash, timestamp: Number(block.timestamp) };
}

/** Answers undefined for what the node does not have; every other failure stays one. */
export function absent(error: unknown): undefined {
  const missing =
    error instanceof TransactionNotFoundError ||
    error instanceof TransactionReceiptNotFoundError ||
    error instanceof BlockNotFoundError;
  if (!missing) throw error;
}
