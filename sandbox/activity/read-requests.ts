import { performance } from "node:perf_hooks";
import { type Hex, isAddress, isHex, parseTransaction } from "viem";
import { z } from "zod";
import { checkNames } from "../../protocol/binding/check-binding.ts";
import { decodeCall } from "../../protocol/call.ts";
import type { Json } from "../../protocol/values/json.ts";
import { toTimestamp } from "../../protocol/values/time.ts";
import type { Deployment } from "../../server/chain/deployment.ts";
import { redact } from "../../server/http/redact.ts";
import type { Services } from "../../server/http/services.ts";
import { operations } from "../../server/operations.ts";
import { jsonSchema } from "../../server/schemas/primitives.ts";
import { ifAvailable } from "../../server/store/store.ts";
import { contractAt } from "../explain/address-book.ts";
import { callOfChecks } from "../explain/cause/compare-calls.ts";
import { causeFirst, nameCauses } from "../explain/cause/name-cause.ts";
import { shortenArgument } from "../lib/errors/show-value.ts";
import { decimal, limitTo } from "../lib/page.ts";
import { readJson } from "../lib/read-json.ts";
import type { KeptCall, KeptRequest, OpenRequest, RequestLog } from "./request-log.ts";
import type { NodeCallView, OpenRequestView, RequestView, RequestViews } from "./views.ts";

const problem = z.object({
  detail: z.string(),
  binding: z
    .object({
      checks: z.array(
        z.object({ name: z.enum(checkNames), ok: z.boolean(), expected: jsonSchema, actual: jsonSchema }),
      ),
    })
    .optional(),
});

const callFields = z.object({ to: z.string(), data: z.string().optional(), input: z.string().optional() });

/** Ids of records. */
const ids = /\b(?:crd|mer|pur|clm|dec|ref|op|evt|ntf|rcp)_[a-z2-7]{20}\b/g;

/** The clients that have an account of their own, by the first part of its id. */
const ownClients = new Map<string, RequestView["from"]>([
  ["client", "sandbox.client"],
  ["given", "given"],
  ["demo", "demo"],
]);

/**
 * Returns a request as it is answered, without secrets.
 *
 * @param account - of the caller's credential, or the caller.
 */
function viewRequest(kept: KeptRequest, account: string, deployment: Deployment): RequestView {
  const { number, request_id: id, at, operation, caller, idempotency_key, replayed, status, code } = kept;
  const answer = read(kept.answer);
  return {
    number,
    id,
    ...viewOpen(kept, deployment),
    at: at === null ? null : toTimestamp(at),
    duration_ms: round(kept.durationMs),
    operation,
    caller,
    from: isOfPage(kept) ? "page" : account === "anyone" ? "anyone" : nameClient(account, kept.isDirect),
    idempotency_key: idempotency_key === null ? null : redact(idempotency_key),
    replayed,
    status,
    code,
    body: read(kept.body),
    answer,
    refusal: code === null ? null : viewRefusal(answer, deployment),
    objects: namedIn(kept),
    more_calls: kept.moreCalls,
  };
}

function isOfPage(kept: KeptRequest): boolean {
  return kept.isOfPage || kept.path.startsWith("/wallet/");
}

/** Names the client that an account belongs to; no option can name an account with a slash. */
function nameClient(account: string, isDirect: boolean): RequestView["from"] {
  const [client = "", program] = account.split("/");
  if (client === "given" && program !== undefined && isDirect) return "sandbox";
  return (program === undefined ? undefined : ownClients.get(client)) ?? "backend";
}

/** Returns a request in progress as it is answered. */
function viewOpen(
  { method, path, startedAt, calls }: Omit<OpenRequest, "ended">,
  deployment: Deployment,
): OpenRequestView {
  return {
    method,
    path: redact(path),
    received: new Date(performance.timeOrigin + startedAt).toISOString(),
    calls: calls.map((call) => viewCall(call, deployment)),
  };
}

/** Returns the ids of records that a request names: in its path and body, and in its answer unless that is a list or a document with examples. */
function namedIn({
  operation,
  path,
  body,
  answer,
}: Pick<KeptRequest, "operation" | "path" | "body" | "answer">): string[] {
  const named = [path, body ?? "", answer === null || operation === null || isList(answer) ? "" : answer];
  return [...new Set(named.flatMap((text) => text.match(ids) ?? []))];
}

function isList(answer: string): boolean {
  return answer.startsWith('{"data":[');
}

function read(text: string | null): Json {
  if (text === null || text === "") return null;
  const { data } = jsonSchema.safeParse(readJson(text));
  // Once it is parsed: JSON can have a secret in escaped characters.
  return data === undefined ? redact(text) : JSON.parse(redact(JSON.stringify(data)));
}

function viewRefusal(answer: unknown, deployment: Deployment): RequestView["refusal"] {
  const { data } = problem.safeParse(answer);
  if (data === undefined) return null;
  const checks = data.binding?.checks ?? [];
  const call = callOfChecks(checks, deployment);
  // The problem's own sentence has the reason of a revert.
  const causes = nameCauses({ checks: checks.filter(({ name }) => name !== "status"), call, failure: null });
  return { detail: data.detail, causes, checks: causeFirst(checks) };
}

function viewCall({ method, params, durationMs, failed }: KeptCall, deployment: Deployment): NodeCallView {
  const duration_ms = durationMs === null ? null : round(durationMs);
  return { method, call: describeCall(method, params, deployment), duration_ms, failed };
}

/** Decodes the contract call in the parameters of a JSON-RPC call. */
function describeCall(method: string, params: unknown, deployment: Deployment): string | null {
  const [first]: unknown[] = Array.isArray(params) ? params : [];
  if (method === "eth_sendRawTransaction") return isHex(first) ? describeSigned(first, deployment) : null;
  const { data } = callFields.safeParse(first);
  return data === undefined ? null : decode(data.to, data.data ?? data.input ?? "0x", deployment);
}

function describeSigned(signed: Hex, deployment: Deployment): string | null {
  try {
    const { to, data } = parseTransaction(signed);
    return decode(to ?? "", data ?? "0x", deployment);
  } catch {
    return null;
  }
}

function decode(to: string, data: string, deployment: Deployment): string | null {
  const contract = isAddress(to, { strict: false }) ? contractAt(deployment, to) : null;
  if (contract === null || !isHex(data)) return null;
  const decoded = decodeCall(contract.abi, data);
  if (decoded === null) return `${data.slice(0, 10)} of ${contract.name}`;
  return `${decoded.function}(${Object.values(decoded.args).map(shortenArgument).join(", ")}) of ${contract.name}`;
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}

/** The number of requests in an answer: by default, and at most. */
export const requestPageSizes = { usual: 50, most: 200 } as const;

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
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, "must be the number of a request")
    .optional(),
  /** `slowest` sorts all kept requests by their duration, and answers one page. */
  order: z.enum(["newest", "slowest"]).optional(),
  /** Only requests that were answered after this number, the oldest of them first. */
  after: decimal(z.int({ error: "must be the number of a request" }).min(0)),
  limit: limitTo(requestPageSizes.most),
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
      // While the store is not available, a caller has the id of its credential for a name.
      const credential = await ifAvailable(store.get("credentials", kept.caller));
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
