import { type Address, type Hex, toHex } from "viem";
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

/** The fields that are read of a transaction's receipt. */
interface ReceiptFields {
  transactionHash: Hex;
  status: Hex;
  logs: { address: Address; topics: Hex[] }[];
}

/** The number of blocks in a page. */
const pageSize = 50;

/** Reads a page of blocks, the newest first, with their transactions named by what they do; the cursor is a block's number. */
export async function readBlocks(cursor: string | undefined, sources: Sources): Promise<ViewPage<BlockView>> {
  const { node } = sources;
  const top = cursor === undefined ? await node.getBlockNumber({ cacheTime: 0 }) : BigInt(cursor);
  const numbers = Array.from({ length: pageSize }, (_, index) => top - BigInt(index)).filter((n) => n >= 0n);
  const blocks = await Promise.all(numbers.map(async (number) => await readBlockView(number, sources)));
  const lowest = numbers.at(-1) ?? 0n;
  return {
    data: blocks.filter((block) => block !== null),
    next_cursor: lowest > 0n ? String(lowest - 1n) : null,
  };
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
