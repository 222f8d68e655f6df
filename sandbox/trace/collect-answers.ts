import type { Hex } from "viem";
import { readRequests, requestPageSizes } from "../activity/read-requests.ts";
import type { ExplainOptions } from "../explain/explain-transaction.ts";
import type { Explanation } from "../explain/explanation.ts";
import { readBlocks } from "../explorer/reads/read-blocks.ts";
import { readEvents } from "../explorer/reads/read-events.ts";
import { readMerchants } from "../explorer/reads/read-merchants.ts";
import { readOverview } from "../explorer/reads/read-overview.ts";
import { readPurchases } from "../explorer/reads/read-purchases.ts";
import { readRefusals } from "../explorer/reads/read-refusals.ts";
import { readRelayOperations } from "../explorer/reads/read-relay-operations.ts";
import type { Sources } from "../explorer/sources.ts";
import { readTimeline } from "../explorer/timeline/read-timeline.ts";
import type {
  BlockView,
  EventView,
  Overview,
  RelayOperationView,
  RequestViews,
  ViewPage,
} from "../explorer/views.ts";

/**
 * The largest numbers of items in a trace, of the transactions of its blocks and of those that are explained, and of the bytes of explanations; the
 * newest are kept.
 */
export const traceLimits = {
  items: 500,
  listed: 5_000,
  transactions: 200,
  bytes: 16 * 1024 * 1024,
  purchases: 100,
} as const;

/** Explains a transaction. */
export type ExplainTransaction = (hash: Hex, options: ExplainOptions) => Promise<Explanation>;

/** The answers that the timeline is made of. */
export interface CollectedAnswers {
  overview: Overview;
  blocks: BlockView[];
  operations: RelayOperationView[];
  events: EventView[];
  requests: RequestViews;
  /** By transaction hash. */
  explanations: Map<string, Explanation>;
  /** By the path at which the explorer asks for them. */
  byPath: { [path: string]: unknown };
}

/** Reads everything that the explorer could ask for, with whole lists, once. */
export async function collectAnswers(
  sources: Sources,
  explain: ExplainTransaction,
): Promise<CollectedAnswers> {
  const { epochBlock } = sources.services.deployment;
  const [overview, purchases, merchants, operations, events, refusals, blocks] = await Promise.all([
    readOverview(sources),
    all(async (cursor) => await readPurchases({ cursor }, sources)),
    all(async (cursor) => await readMerchants({ cursor }, sources)),
    all(async (cursor) => await readRelayOperations({ cursor }, sources)),
    all(async (cursor) => await readEvents({ cursor }, sources)),
    all(async (cursor) => readRefusals({ cursor }, sources)),
    all(
      async (cursor) => await readBlocks({ cursor }, sources),
      (read) => read.some(({ number }) => number <= epochBlock.number) || listed(read) >= traceLimits.listed,
    ),
  ]);
  const requests = await readAllRequests(sources);
  const ownBlocks = blocks.data.filter(({ number }) => number > epochBlock.number);
  const mined = ownBlocks.flatMap(({ transactions }) => transactions.map(({ hash }) => hash));
  const refused = refusals.data.map(({ transaction_hash }) => transaction_hash);
  const explanations = await explainAll([...new Set([...refused, ...mined])], explain);
  const timelines = await Promise.all(
    purchases.data.slice(0, traceLimits.purchases).map(async ({ id }) => await readTimeline(id, sources)),
  );
  const byPath: CollectedAnswers["byPath"] = {
    "/explorer/overview": overview,
    "/explorer/purchases": purchases,
    "/explorer/merchants": merchants,
    "/explorer/operations": operations,
    "/explorer/events": events,
    "/explorer/refusals": refusals,
    "/explorer/blocks": { ...blocks, data: ownBlocks },
    "/requests": requests,
  };
  for (const timeline of timelines)
    if (timeline !== null) byPath[`/explorer/purchases/${timeline.purchase.id}`] = timeline;
  for (const [hash, explanation] of explanations) byPath[`/explain/${hash}`] = explanation;
  return {
    overview,
    blocks: ownBlocks,
    operations: operations.data,
    events: events.data,
    requests,
    explanations,
    byPath,
  };
}

/** The number of transactions in blocks. */
function listed(blocks: readonly BlockView[]): number {
  return blocks.reduce((count, { transactions }) => count + transactions.length, 0);
}

/** Reads all pages of a list, until no more is wanted. */
async function all<T, P extends ViewPage<T>>(
  read: (cursor: string | undefined) => Promise<P & ViewPage<T>>,
  isEnough: (read: P["data"]) => boolean = () => false,
): Promise<P> {
  const first = await read(undefined);
  let { data, next_cursor } = first;
  while (next_cursor !== null && data.length < traceLimits.items && !isEnough(data)) {
    const page = await read(next_cursor);
    data = [...data, ...page.data];
    next_cursor = page.next_cursor;
  }
  return { ...first, data, next_cursor: null };
}

async function readAllRequests({ requests, services }: Sources): Promise<RequestViews> {
  const limit = requestPageSizes.most;
  const read = async (cursor: string | undefined) => readRequests({ cursor, limit }, requests, services);
  return await all(read);
}

/** A transaction that cannot be explained, such as one that no node knows any more, is left out, and so is one with too large an explanation. */
async function explainAll(
  hashes: readonly string[],
  explain: ExplainTransaction,
): Promise<Map<string, Explanation>> {
  const explanations = new Map<string, Explanation>();
  let left: number = traceLimits.bytes;
  for (const hash of hashes.slice(0, traceLimits.transactions)) {
    const explanation = await explain(`0x${hash.slice(2)}`, {}).catch(() => null);
    const size = JSON.stringify(explanation).length;
    if (explanation === null || size > left) continue;
    explanations.set(hash, explanation);
    left -= size;
  }
  return explanations;
}
