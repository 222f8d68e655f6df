import { z } from "zod";
import { operations } from "../../server/operations.ts";
import type { Services } from "../../server/services.ts";
import type { RequestViews } from "../explorer/views.ts";
import type { KeptRequest, RequestLog } from "./request-log.ts";
import { namedIn, viewOpen, viewRequest } from "./view-request.ts";

/** The number of requests in an answer: by default, and at most. */
export const requestPageSizes = { usual: 50, most: 200 } as const;

const number = z.string().regex(/^\d{1,15}$/, "must be the number of a request");

/** The query of the request log. */
export const requestsQuery = z.strictObject({
  /** A status (`409`), its first digit (`4xx`), or `lost` for answers that a fault dropped. */
  status: z
    .string()
    .regex(/^(?:[1-5](?:\d\d|xx)|lost)$/, 'must be a status such as 409, a class such as 4xx, or "lost"')
    .optional(),
  operation: z.enum(operations.map(({ id }) => id)).optional(),
  /** The id of a purchase or of any other record, or of the request itself. */
  purchase: z.string().max(100).optional(),
  /** The `next_cursor` of the page before. */
  cursor: number.optional(),
  /** `slowest` sorts all kept requests by their duration, and answers one page. */
  order: z.enum(["newest", "slowest"]).optional(),
  /** Only requests that were answered after this number, the oldest of them first. */
  after: number.optional(),
  limit: z
    .string()
    .regex(/^\d{1,3}$/)
    .transform(Number)
    .refine(
      (limit) => limit >= 1 && limit <= requestPageSizes.most,
      `must be a number from 1 to ${requestPageSizes.most}`,
    )
    .optional(),
});

/** The parsed form of {@link requestsQuery}. */
type RequestsQuery = z.output<typeof requestsQuery>;

/** Reads a page of the request log: the newest answer first, or from a number on the oldest first. */
export async function readRequests(
  query: RequestsQuery,
  log: RequestLog,
  { deployment, store }: Pick<Services, "deployment" | "store">,
): Promise<RequestViews> {
  const { cursor, after, order, limit = requestPageSizes.usual } = query;
  const before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);
  const newest = log
    .newest()
    .filter((kept) => kept.number < before && kept.number > Number(after ?? 0) && isAsked(kept, query));
  const isPaged = after === undefined && order !== "slowest";
  const byTime = after === undefined ? newest : newest.toReversed();
  const found =
    order === "slowest" ? newest.toSorted((left, right) => right.durationMs - left.durationMs) : byTime;
  const data = await Promise.all(
    found.slice(0, limit).map(async (kept) => {
      const credential = await store.get("credentials", kept.caller);
      return viewRequest(kept, credential?.value.account ?? kept.caller, deployment);
    }),
  );
  const last = data.at(-1);
  const next = isPaged && found.length > limit && last !== undefined ? String(last.number) : null;
  return {
    data,
    in_progress: log.inProgress().map((open) => viewOpen(open, deployment)),
    next_cursor: next,
  };
}

function isAsked(kept: KeptRequest, { status, operation, purchase }: RequestsQuery): boolean {
  const answered = kept.status === null ? "lost" : String(kept.status);
  if (status !== undefined && status !== answered && status !== `${answered.charAt(0)}xx`) return false;
  if (operation !== undefined && kept.operation !== operation) return false;
  return purchase === undefined || kept.request_id === purchase || namedIn(kept).includes(purchase);
}
