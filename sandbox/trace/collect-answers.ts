import type { Hex } from "viem";
import { readRequests, requestPageSizes } from "../activity/read-requests.ts";
import type { RequestView, RequestViews } from "../activity/views.ts";
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
  TransactionView,
} from "../explorer/views.ts";
import type { ViewPage } from "../lib/page.ts";

/**
 * The largest numbers of items in a trace, of the transactions and the logs of its blocks, of the transactions that are explained, and of the bytes
 * and the logs of explanations; the newest are kept.
 */
export const traceLimits = {
  items: 500,
  listed: 5_000,
  transactions: 200,
  bytes: 16 * 1024 * 1024,
  listedLogs: 100_000,
  logs: 10_000,
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
  /** A sentence for each list that is cut, and for transactions that are not explained. */
  leftOut: string[];
}

/** Reads everything that the explorer could ask for, with whole lists, once. */
export async function collectAnswers(
  sources: Sources,
  explain: ExplainTransaction,
): Promise<CollectedAnswers> {
  const leftOut: string[] = [];
  const { overview, purchases, merchants, operations, events, refusals, blocks, requests } = await readLists(
    sources,
    leftOut,
  );
  const { epochBlock } = sources.services.deployment;
  const ownBlocks = blocks.data.filter(({ number }) => number > epochBlock.number);
  const mined = new Map(
    ownBlocks.flatMap(({ transactions }) => transactions.map(({ hash, logs }) => [hash, logs] as const)),
  );
  const refused = refusals.data.map(({ transaction_hash }) => transaction_hash);
  const hashes = [...new Set([...refused, ...mined.keys()])];
  const explanations = await explainAll(hashes, mined, explain);
  const unexplained = hashes.length - explanations.size;
  if (unexplained > 0)
    leftOut.push(
      `Transactions without an explanation: ${unexplained}. Explain one in the running sandbox, or in one that starts from the snapshot file.`,
    );
  if (purchases.data.length > traceLimits.purchases)
    leftOut.push(`Only the newest ${traceLimits.purchases} purchases have a timeline.`);
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
    leftOut,
  };
}

/** Reads the overview and all lists; adds a sentence for each list that is cut. */
async function readLists(sources: Sources, leftOut: string[]) {
  const { epochBlock } = sources.services.deployment;
  const all = async <T, P extends ViewPage<T>>(name: string, read: ReadPage<T, P>, isFull?: IsFull<P>) =>
    await readAll(read, isFull, () => leftOut.push(`The oldest ${name} are left out.`));
  const isFull = (read: readonly BlockView[]) =>
    countIn(read, () => 1) >= traceLimits.listed ||
    countIn(read, ({ logs }) => logs) >= traceLimits.listedLogs;
  const [overview, purchases, merchants, operations, events, refusals, blocks] = await Promise.all([
    readOverview(sources),
    all("purchases", async (cursor) => await readPurchases({ cursor }, sources)),
    all("merchants", async (cursor) => await readMerchants({ cursor }, sources)),
    all("relay operations", async (cursor) => await readRelayOperations({ cursor }, sources)),
    all("events", async (cursor) => await readEvents({ cursor }, sources)),
    all("refusals", async (cursor) => readRefusals({ cursor }, sources)),
    readAll(
      async (cursor) => await readBlocks({ cursor }, sources),
      (read) => read.some(({ number }) => number <= epochBlock.number) || isFull(read),
      (read) => {
        const oldest = Math.min(...read.map(({ number }) => number));
        if (oldest > epochBlock.number + 1) leftOut.push(`The blocks before block ${oldest} are left out.`);
      },
    ),
  ]);
  const limit = requestPageSizes.most;
  const requests = await all<RequestView, RequestViews>("requests", async (cursor) =>
    readRequests({ cursor, limit }, sources.requests, sources.services),
  );
  return { overview, purchases, merchants, operations, events, refusals, blocks, requests };
}

/** Counts something of all transactions of blocks. */
function countIn(blocks: readonly BlockView[], count: (transaction: TransactionView) => number): number {
  return blocks
    .flatMap(({ transactions }) => transactions)
    .reduce((sum, transaction) => sum + count(transaction), 0);
}

/** Reads a page of a list. */
type ReadPage<T, P extends ViewPage<T>> = (cursor: string | undefined) => Promise<P & ViewPage<T>>;

/** Returns whether no more is wanted of a list. */
type IsFull<P extends ViewPage<unknown>> = (read: P["data"]) => boolean;

/** Reads all pages of a list, until no more is wanted; reports a list that is cut. */
async function readAll<T, P extends ViewPage<T>>(
  read: ReadPage<T, P>,
  isFull: IsFull<P> = () => false,
  cut: (read: P["data"]) => void,
): Promise<P> {
  const first = await read(undefined);
  let { data, next_cursor } = first;
  while (next_cursor !== null && data.length < traceLimits.items && !isFull(data)) {
    const page = await read(next_cursor);
    data = [...data, ...page.data];
    next_cursor = page.next_cursor;
  }
  if (next_cursor !== null) cut(data);
  return { ...first, data, next_cursor: null };
}

/**
 * Explains transactions within the limits of a trace. One that cannot be explained, such as one that no node knows any more, is left out, and so
 * is one with too many logs or too large an explanation.
 *
 * @param logs - the number of logs of each transaction, where it is known: they are read several times.
 */
async function explainAll(
  hashes: readonly string[],
  logs: ReadonlyMap<string, number>,
  explain: ExplainTransaction,
): Promise<Map<string, Explanation>> {
  const explanations = new Map<string, Explanation>();
  let bytesLeft: number = traceLimits.bytes;
  let logsLeft: number = traceLimits.logs;
  for (const hash of hashes.slice(0, traceLimits.transactions)) {
    if ((logs.get(hash) ?? 1) > logsLeft) continue;
    const explanation = await explain(`0x${hash.slice(2)}`, {}).catch(() => null);
    logsLeft -= explanation?.logs.length ?? 0;
    const size = JSON.stringify(explanation).length;
    if (explanation === null || size > bytesLeft) continue;
    explanations.set(hash, explanation);
    bytesLeft -= size;
  }
  return explanations;
}
