import { z } from "zod";
import { hexSchema } from "../../../relayer/node/node-schemas.ts";

/** A block by its number and hash. */
export interface KnownBlock {
  number: number;
  hash: string;
}

const knownSchema = z.object({ number: z.string().transform(Number), hash: z.string() });

/** Which of the params of a read says at which block, or up to which. */
const placeOfBlock: { readonly [method: string]: number } = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getLogs: 0,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
};

/** A block by its number or, as EIP-1898 has it, by its hash; or the last one of a filter. */
const placeSchema = z.union([
  hexSchema,
  z.object({ blockHash: hexSchema }).transform(({ blockHash }) => blockHash),
  z.object({ toBlock: hexSchema }).transform(({ toBlock }) => toBlock),
]);

/** One read of the chain, and what the node has answered. */
interface AnsweredRead {
  method: string;
  params: unknown;
  answer: unknown;
}

/**
 * Whether an answer is about blocks that are known alone. A caller that reads at the number of a block compares its hash afterwards, so that a
 * reorg shows then.
 *
 * @param hashes - of all blocks that are known, by their number.
 */
export function isOfKnownBlocks(
  { method, params, answer }: AnsweredRead,
  head: KnownBlock,
  hashes: ReadonlyMap<number, string>,
): boolean {
  if (method === "eth_getBlockByNumber") {
    const { data } = knownSchema.safeParse(answer);
    return data !== undefined && hashes.get(data.number) === data.hash;
  }
  if (method === "eth_chainId") return true;
  const place = placeOfBlock[method];
  if (!Array.isArray(params) || place === undefined) return false;
  const { data } = placeSchema.safeParse(params[place]);
  return data !== undefined && (data === head.hash || Number(data) <= head.number);
}
