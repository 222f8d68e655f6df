import { toTimestamp } from "../../../protocol/values/time.ts";
import type { KeptRefusal } from "../../activity/refusal-log.ts";
import { callOfChecks } from "../../explain/cause/compare-calls.ts";
import { causeFirst, nameCauses } from "../../explain/cause/name-cause.ts";
import type { ViewPage } from "../../lib/page.ts";
import type { Sources } from "../sources.ts";
import type { RefusalView } from "../views.ts";
import { type PageQuery, pageSize } from "./page.ts";

/** Reads a page of the transactions that were refused, the newest first; the cursor is a refusal's number. */
export function readRefusals(query: PageQuery, sources: Sources): ViewPage<RefusalView> {
  const { cursor, program, q, order, limit = pageSize } = query;
  const kept = sources.refusals.newest();
  const isAfter = ({ number }: KeptRefusal) =>
    cursor === undefined || (order === "oldest" ? number > Number(cursor) : number < Number(cursor));
  const found = (order === "oldest" ? kept.toReversed() : kept)
    .filter(isAfter)
    .filter((refusal) => program === undefined || refusal.program === program)
    .filter((refusal) => mentions(refusal, q));
  const data = found.slice(0, limit).map((refusal) => viewRefusal(refusal, sources));
  const last = data.at(-1);
  return { data, next_cursor: found.length > limit && last !== undefined ? String(last.number) : null };
}

/** A refusal in the shape that is answered. */
export function viewRefusal(refusal: KeptRefusal, { description, services }: Sources): RefusalView {
  const { at, request_id: _id, is_used: _used, checks, ...told } = refusal;
  const call = callOfChecks(checks, services.deployment);
  // Of a transaction that reverted or is not there, the checks do not have the reason.
  const cause = told.code === "binding_mismatch" ? nameCauses({ checks, call, failure: null })[0] : undefined;
  return {
    ...told,
    cause: cause ?? told.detail,
    at: toTimestamp(at),
    checks: causeFirst(checks),
    explain: `${description.urls.control}/explain/${refusal.transaction_hash}`,
  };
}

function mentions({ subject, transaction_hash, step, code }: KeptRefusal, text: string | undefined): boolean {
  if (text === undefined || text === "") return true;
  const wanted = text.toLowerCase();
  return [subject, transaction_hash, step, code].some((field) => field.toLowerCase().includes(wanted));
}
