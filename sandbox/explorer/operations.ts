import { z } from "zod";
import { Problem } from "../../server/errors/problem.ts";
import { readRequests, requestsQuery } from "../activity/read-requests.ts";
import { keptRefusals } from "../activity/refusal-log.ts";
import { requestsSchema } from "../activity/views.ts";
import { type ControlOperation, controlOf } from "../lib/control/operation.ts";
import type { Explorer } from "./explorer.ts";
import { pageQuery } from "./reads/page.ts";
import { blocksQuery, readBlocks } from "./reads/read-blocks.ts";
import { eventsQuery, readEvents } from "./reads/read-events.ts";
import { readMerchants } from "./reads/read-merchants.ts";
import { readOverview } from "./reads/read-overview.ts";
import { purchasesQuery, readPurchases } from "./reads/read-purchases.ts";
import { readRefusals } from "./reads/read-refusals.ts";
import { operationsQuery, readRelayOperations } from "./reads/read-relay-operations.ts";
import { search } from "./search.ts";
import type { Sources } from "./sources.ts";
import { readTimeline } from "./timeline/read-timeline.ts";
import {
  blocksSchema,
  eventsSchema,
  merchantsSchema,
  overviewSchema,
  purchasesSchema,
  refusalsSchema,
  relayOperationsSchema,
  searchSchema,
  timelineSchema,
} from "./views.ts";

const defineControl = controlOf<{ explorer: Explorer }>();

const cursorNumber = z
  .string()
  .regex(/^\d{1,15}$/, "must be a next_cursor of this list")
  .optional();
const refusalsQuery = pageQuery.extend({ cursor: cursorNumber });
const searchQuery = z.strictObject({ q: z.string().trim().min(1).max(200) });

const readStream = defineControl({
  id: "readStream",
  method: "get",
  path: "/stream",
  tag: "Explorer",
  summary: "Sends a message after each change, which names what changed.",
  success: {
    status: 200,
    description: "Server-sent events, until the client or the sandbox ends the stream.",
    schema: z.string(),
    type: "text/event-stream",
  },
  handle: ({ sandbox, request, response }) => sandbox.explorer.stream.open(request, response),
});

const overview = defineRead({
  id: "readOverview",
  path: "/explorer/overview",
  summary:
    "Returns the newest block, clock, mode, chain epoch, gas budgets, the number of unfinished relay operations by status, those of unknown outcome, pending transactions, current faults, and all faults that you can set.",
  success: success("The state of the sandbox.", overviewSchema),
  handle: async ({ sandbox }) => await readOverview(sandbox.explorer.sources),
});

const timeline = defineRead({
  id: "readTimeline",
  path: "/explorer/purchases/{id}",
  summary: "Returns a purchase's timeline: chain, routing API, relayer, wallets, deliveries and refusals.",
  params: { id: z.string().meta({ description: "The purchase's id.", example: "pur_abcdefghij234567abcd" }) },
  success: success("The purchase and its timeline.", timelineSchema),
  errors: ["not_found"],
  async handle({ sandbox, params: { id = "" } }) {
    const found = await readTimeline(id, sandbox.explorer.sources);
    if (found === null) throw new Problem("not_found", `There is no purchase ${id}.`);
    return found;
  },
});

const refusals = defineRead({
  id: "listRefusals",
  path: "/explorer/refusals",
  summary: `Lists the last ${keptRefusals} refused transactions, with every check, until a restore or a restart.`,
  query: refusalsQuery,
  success: success("A page of refusals.", refusalsSchema),
  errors: ["validation_failed"],
  handle: ({ sandbox, query }) => readRefusals(query, sandbox.explorer.sources),
});

const blocks = defineRead({
  id: "listBlocks",
  path: "/explorer/blocks",
  summary:
    "Lists blocks with their transactions. Each transaction has its function, and the accounts and purchases in its call and logs. `?q=` finds a block by its number, its hash or a transaction in it.",
  query: blocksQuery,
  success: success("A page of blocks.", blocksSchema),
  errors: ["validation_failed"],
  handle: async ({ sandbox, query }) => await readBlocks(query, sandbox.explorer.sources),
});

const requests = defineRead({
  id: "listRequests",
  path: "/requests",
  summary: "Lists the last requests to the routing API, with their responses.",
  page: { target: "control.md#the-request-log", words: "the request log" },
  query: requestsQuery,
  success: success("A page of requests.", requestsSchema),
  errors: ["validation_failed"],
  // It says what a restore waits for.
  startsOver: false,
  handle: ({ sandbox: { explorer }, query }) =>
    readRequests(query, explorer.sources.requests, explorer.sources.services),
});

const find = defineRead({
  id: "search",
  path: "/explorer/search",
  summary:
    "Finds what `?q=` names by an id, a hash, an address or a block number. `?q=given` finds the states that can be created, `?q=explain 0x…` the explanation of that transaction.",
  query: searchQuery,
  success: success("The found objects.", searchSchema),
  errors: ["validation_failed"],
  handle: async ({ sandbox, query: { q } }) => ({ data: await search(q, sandbox.explorer.sources) }),
});

/** Everything that the explorer reads; each answers with a type of `views.ts` and changes nothing. */
export const explorerOperations = [
  overview,
  list({
    collection: "purchases",
    summary:
      "Lists purchases with the price, the buyer's allowance (`approved`), and the paid, reconciled and refunded amounts, all read at one block (`as_of`).",
    query: purchasesQuery,
    schema: purchasesSchema,
    read: readPurchases,
  }),
  timeline,
  list({
    collection: "merchants",
    summary: "Lists merchants with their funding, read at one block.",
    query: pageQuery,
    schema: merchantsSchema,
    read: readMerchants,
  }),
  list({
    collection: "operations",
    summary:
      "Lists relay operations with all signed transactions: the original, those with a higher fee, and cancellations.",
    query: operationsQuery,
    schema: relayOperationsSchema,
    read: readRelayOperations,
  }),
  list({
    collection: "events",
    summary:
      "Lists all events (the outbox), each with its delivery attempts, delivery receipt, and arrivals at the test receiver.",
    query: eventsQuery,
    schema: eventsSchema,
    read: readEvents,
  }),
  refusals,
  blocks,
  find,
  requests,
  readStream,
];

type Read<Q extends z.ZodType> = Omit<
  Parameters<typeof defineControl<z.ZodUndefined, Q>>[0],
  "method" | "tag"
>;

/** Defines an operation that reads one state; no cache may keep its answer. */
function defineRead<Q extends z.ZodType = z.ZodUndefined>(read: Read<Q>): ControlOperation {
  const reads = { method: "get", tag: "Explorer", cached: false, startsOver: true } as const;
  return defineControl<z.ZodUndefined, Q>({ ...reads, ...read });
}

function success(description: string, schema: z.ZodType) {
  return { status: 200 as const, description, schema };
}

/** Defines the list of a collection: a cursor names one of its records, and one that a restore took away begins nowhere. */
function list<Q extends { cursor?: string | undefined }>({
  collection,
  summary,
  query,
  schema,
  read,
}: {
  collection: "purchases" | "merchants" | "operations" | "events";
  summary: string;
  query: z.ZodType<Q>;
  schema: z.ZodType;
  read: (query: Q, sources: Sources) => Promise<unknown>;
}): ControlOperation {
  return defineRead<z.ZodType<Q>>({
    id: `list${collection.slice(0, 1).toUpperCase()}${collection.slice(1)}`,
    path: `/explorer/${collection}`,
    summary,
    query,
    success: success(`A page of ${collection}.`, schema),
    errors: ["validation_failed", "not_found"],
    async handle({ sandbox: { explorer }, query: asked }) {
      const { cursor } = asked;
      const { store } = explorer.sources.services;
      if (cursor !== undefined && !(await store.get(collection, cursor)))
        throw new Problem(
          "not_found",
          "The cursor is no longer valid for this list. Read the list again from its start.",
        );
      return await read(asked, explorer.sources);
    },
  });
}
