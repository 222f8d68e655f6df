import { type Address, type GetBlockReturnType, type Hex, isHash } from "viem";
import { z } from "zod";
import { decodeCall } from "../../../protocol/call.ts";
import type { Json } from "../../../protocol/values/json.ts";
import { sameAddress } from "../../../protocol/values/same-address.ts";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { absent } from "../../../server/chain/head-reader.ts";
import type { Services } from "../../../server/http/services.ts";
import { findByCommitment } from "../../../server/store/records/find.ts";
import { contractAt } from "../../explain/address-book.ts";
import type { ViewPage } from "../../lib/page.ts";
import type { Sources } from "../sources.ts";
import type { BlockView, TransactionView } from "../views.ts";
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
  limit: pageQuery.shape.limit,
  has: z.enum(["transactions"]).optional(),
});

/** The number of transactions after which no further block is on a page. */
const manyTransactions = 1_000;
/** The size after which no further block is on a page, in bytes of what the node is expected to answer. */
const pageBytes = 64 * 1024 * 1024;
/** The size up to which blocks are read together, in bytes of what the node is expected to answer. */
const portionBytes = 32 * 1024 * 1024;

/**
 * Reads a page of blocks, the newest first, with their transactions named by what they do.
 *
 * A page without the blocks that have no transactions can be short or empty and still have a next one, as each page of a search; so can one
 * whose blocks have many transactions, long calldata or many logs.
 */
export async function readBlocks(
  { cursor, q, has, limit = pageSize }: z.output<typeof blocksQuery>,
  sources: Sources,
): Promise<ViewPage<BlockView>> {
  const isAsked = ({ transactions }: { transactions: readonly unknown[] }) =>
    has === undefined || transactions.length > 0;
  if (q !== undefined && q !== "") {
    const number = await findBlockNumber(q, sources);
    const block = number === null ? null : await readBlockView(number, sources);
    return { data: block === null ? [] : [block].filter(isAsked), next_cursor: null };
  }
  const top = cursor === undefined ? await sources.node.getBlockNumber({ cacheTime: 0 }) : BigInt(cursor);
  const headers: Header[] = [];
  const content = { transactions: 0, bytes: 0 };
  let next = top;
  while (next >= 0n && top - next < mostScanned && isShort(headers, content, limit)) {
    const numbers = Array.from({ length: limit }, (_, index) => next - BigInt(index)).filter((n) => n >= 0n);
    const found = await Promise.all(numbers.map(async (number) => await readHeader(number, sources)));
    for (const header of found) {
      if (!isShort(headers, content, limit)) break;
      next -= 1n;
      if (header === undefined || !isAsked(header)) continue;
      headers.push(header);
      content.transactions += header.transactions.length;
      content.bytes += answerBytes(header);
    }
  }
  return { data: await readViews(headers, sources), next_cursor: next >= 0n ? String(next) : null };
}

/** A block without what its transactions do. */
type Header = GetBlockReturnType<undefined, false>;

/** Returns whether a page has room for a further block. */
function isShort(
  headers: readonly Header[],
  content: { transactions: number; bytes: number },
  limit: number,
): boolean {
  return headers.length < limit && content.transactions < manyTransactions && content.bytes < pageBytes;
}

async function readHeader(blockNumber: bigint, { node }: Sources): Promise<Header | undefined> {
  return await node.getBlock({ blockNumber }).catch(absent);
}

/** Reads blocks together as far as the node's answers are small, and one at a time where they are not. */
async function readViews(headers: readonly Header[], sources: Sources): Promise<BlockView[]> {
  const portions: Header[][] = [];
  let bytes = portionBytes;
  for (const header of headers) {
    bytes += answerBytes(header);
    if (bytes > portionBytes) {
      portions.push([]);
      bytes = answerBytes(header);
    }
    portions.at(-1)?.push(header);
  }
  const views: BlockView[] = [];
  for (const portion of portions) {
    const read = async () =>
      await Promise.all(portion.map(async (header) => await viewBlock(header, sources)));
    const found = await sources.largeReads.runExclusive(read);
    views.push(...found.filter((view) => view !== null));
  }
  return views;
}

/** Estimates the answer to {@link viewBlock} from above: calldata in hex, and of the logs those that cost the least gas for what is answered of them. */
function answerBytes({ size, gasUsed, logsBloom }: Header): number {
  const hasLogs = logsBloom !== null && BigInt(logsBloom) !== 0n;
  return 2 * Number(size) + (hasLogs ? Math.ceil(1.2 * Number(gasUsed)) : 0);
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
  const header = await readHeader(blockNumber, sources);
  return header === undefined ? null : ((await readViews([header], sources))[0] ?? null);
}

/** Reads what the transactions of a block do; null when a reorg has taken it meanwhile. */
async function viewBlock(header: Header, sources: Sources): Promise<BlockView | null> {
  const { number, hash, timestamp, gasUsed } = header;
  const content = header.transactions.length === 0 ? nothing : await readContent(hash, sources);
  if (content === null) return null;
  const { transactions, receipts } = content;
  const receiptOf = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
  return {
    number: Number(number),
    hash,
    at: toTimestamp(Number(timestamp)),
    gas_used: gasUsed.toString(),
    transactions: await Promise.all(
      transactions.map(async (one) => await viewTransaction(one, receiptOf.get(one.hash), sources)),
    ),
  };
}

/** The content of a block without transactions. */
const nothing = { transactions: [], receipts: [] };

async function readContent(blockHash: Hex, { node }: Sources) {
  const [block, receipts] = await Promise.all([
    node.getBlock({ blockHash, includeTransactions: true }).catch(absent),
    node.request<{
      Method: "eth_getBlockReceipts";
      Parameters: [Hex];
      ReturnType: ReceiptFields[] | null;
    }>({ method: "eth_getBlockReceipts", params: [blockHash] }),
  ]);
  return block === undefined ? null : { transactions: block.transactions, receipts: receipts ?? [] };
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
    logs: receipt?.logs.length ?? 0,
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
