import { toTimestamp } from "../../../protocol/time.ts";
import { type PageQuery, pageSize } from "./page.ts";
import type { KeptRefusal } from "./refusal-log.ts";
import type { ShownPage, ShownRefusal } from "./shown.ts";
import type { Sources } from "./sources.ts";

/** Reads a page of the transactions that were refused, the newest first; the cursor is a refusal's number. */
export function readRefusals(query: PageQuery, sources: Sources): ShownPage<ShownRefusal> {
  const { cursor, program, q } = query;
  const before = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor);
  const found = sources.refusals
    .newest()
    .filter((refusal) => refusal.number < before)
    .filter((refusal) => program === undefined || refusal.program === program)
    .filter((refusal) => mentions(refusal, q));
  const data = found.slice(0, pageSize).map((refusal) => showRefusal(refusal, sources));
  const last = data.at(-1);
  return { data, next_cursor: found.length > pageSize && last !== undefined ? String(last.number) : null };
}

/** A refusal as it is shown. */
export function showRefusal(refusal: KeptRefusal, { description }: Sources): ShownRefusal {
  const { at, request_id: _, checks, ...shown } = refusal;
  return {
    ...shown,
    at: toTimestamp(at),
    checks: checks.map((check) => ({ ...check })),
    explain: `${description.urls.control}/explain/${refusal.transaction_hash}`,
  };
}

function mentions({ subject, transaction_hash, step, code }: KeptRefusal, text: string | undefined): boolean {
  if (text === undefined || text === "") return true;
  const wanted = text.toLowerCase();
  return [subject, transaction_hash, step, code].some((field) => field.toLowerCase().includes(wanted));
}
