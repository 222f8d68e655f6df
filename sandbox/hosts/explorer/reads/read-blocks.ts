import { type Address, type Hex, isHash, toHex } from "viem";
import { z } from "zod";
import { decodeCall } from "../../../../protocol/call.ts";
import type { Json } from "../../../../protocol/values/json.ts";
import { sameAddress } from "../../../../protocol/values/same-address.ts";
import { toTimestamp } from "../../../../protocol/values/time.ts";
import { absent } from "../../../../server/chain/head-reader.ts";
import { findByCommitment } from "../../../../server/domain/records/find.ts";
import type { Services } from "../../../../server/services.ts";
import { contractAt } from "../../explain/address-book.ts";
import type { Sources } from "../sources.ts";
import type { BlockView, TransactionView, ViewPage } from "../views.ts";
import { mostScanned, pageQuery, pageSize } from "./page.ts";

/** The fields that are read of a transaction's receipt. */
interface ReceiptFields {
  transactionHash: Hex;
  status: Hex;
  logs: { address: Address; topics: Hex[] }[];
}

/** The query of the blocks: the number or the hash of one, and whether those without transactions are left out. */
export const blocksQuery = z.strictObject({
  /** The `next_cursor` of the page before: a block's number. */
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, "must be a next_cursor of this list")
    .optional(),
  q: pageQuery.shape.q,
  has: z.enum(["transactions"]).optional(),
});

/**
 * Reads a page of blocks, the newest first, with their transactions named by what they do.
 *
 * A page without the blocks that have no transactions can be short or empty and still have a next one, as each page of a search.
 */
export async function readBlocks(
  { cursor, q, has }: z.output<typeof blocksQuery>,
  sources: Sources,
): Promise<ViewPage<BlockView>> {
  const isAsked = (block: BlockView | null): block is BlockView =>
    block !== null && (has === undefined || block.transactions.length > 0);
  if (q !== undefined && q !== "") {
    const number = await findBlockNumber(q, sources);
    const block = number === null ? null : await readBlockView(number, sources);
    return { data: [block].filter(isAsked), next_cursor: null };
  }
  const top = cursor === undefined ? await sources.node.getBlockNumber({ cacheTime: 0 }) : BigInt(cursor);
  const data: BlockView[] = [];
  let next = top;
  while (next >= 0n && data.length < pageSize && top - next < mostScanned) {
    const numbers = Array.from({ length: pageSize }, (_, index) => next - BigInt(index)).filter(
      (n) => n >= 0n,
    );
    const blocks = await Promise.all(numbers.map(async (number) => await readBlockView(number, sources)));
    data.push(...blocks.filter(isAsked).slice(0, pageSize - data.length));
    next = data.length === pageSize ? BigInt(data.at(-1)?.number ?? 0) - 1n : next - BigInt(numbers.length);
  }
  return { data, next_cursor: next >= 0n ? String(next) : null };
}

/** Returns the number of the block that a text names by its number, by its hash or by a transaction in it; null when there is none. */
export async function findBlockNumber(text: string, { node }: Sources): Promise<bigint | null> {
  if (/^\d{1,15}$/.test(text)) return BigInt(text);
  if (!isHash(text)) return null;
  const hash: Hex = `0x${text.slice(2).toLowerCase()}`;
  const block = await node.getBlock({ blockHash: hash }).catch(absent);
  if (block !== undefined) return block.number;
  const receipt = await node.getTransactionReceipt({ hash }).catch(absent);
  return receipt?.blockNumber ?? null;
}

/** Reads one block, or null when there is none with this number. */
export async function readBlockView(blockNumber: bigint, sources: Sources): Promise<BlockView | null> {
  const { node } = sources;
  const [block, receipts] = await Promise.all([
    node.getBlock({ blockNumber, includeTransactions: true }).catch(absent),
    node.request<{
      Method: "eth_getBlockReceipts";
      Parameters: [Hex];
      ReturnType: ReceiptFields[] | null;
    }>({ method: "eth_getBlockReceipts", params: [toHex(blockNumber)] }),
  ]);
  if (block === undefined) return null;
  const receiptOf = new Map((receipts ?? []).map((receipt) => [receipt.transactionHash, receipt]));
  return {
    number: Number(block.number),
    hash: block.hash,
    at: toTimestamp(Number(block.timestamp)),
    gas_used: block.gasUsed.toString(),
    transactions: await Promise.all(
      block.transactions.map(
        async (transaction) => await viewTransaction(transaction, receiptOf.get(transaction.hash), sources),
      ),
    ),
  };
}

async function viewTransaction(
  { hash, from, to, input }: { hash: Hex; from: Address; to: Address | null; input: Hex },
  receipt: ReceiptFields | undefined,
  { services, labels }: Sources,
): Promise<TransactionView> {
  const contract = contractAt(services.deployment, to);
  const decoded = contract === null ? null : decodeCall(contract.abi, input);
  return {
    hash,
    from: labels.view(from),
    to: to === null ? null : labels.view(to),
    function: decoded?.function ?? null,
    about: await aboutOf([...argumentIds(decoded?.args ?? {}), ...loggedIds(receipt, services)], services),
    succeeded: receipt?.status === "0x1",
  };
}

/** The ids on chain that a call names. */
function argumentIds({ id, ids }: { [name: string]: Json }): Json[] {
  return Array.isArray(ids) ? ids : id === undefined ? [] : [id];
}

/** The ids on chain that the registrar's logs name. */
function loggedIds(receipt: ReceiptFields | undefined, { deployment }: Services): Hex[] {
  return (receipt?.logs ?? [])
    .filter(({ address }) => sameAddress(address, deployment.registrar.address))
    .flatMap(({ topics }) => topics.slice(1, 2));
}

/** The purchases behind ids on chain. */
async function aboutOf(ids: readonly Json[], { store }: Services): Promise<string[]> {
  const hashes = new Set(ids.filter((id) => typeof id === "string" && id.startsWith("0x")));
  const found = await Promise.all(
    [...hashes].map(async (id) => await findByCommitment(store, `0x${String(id).slice(2)}`)),
  );
  return found.flatMap((purchase) => purchase?.key ?? []);
}
