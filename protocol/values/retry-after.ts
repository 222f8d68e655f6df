/**
 * Returns the seconds that a header Retry-After asks for (RFC 9110): a number of seconds, or a date, counted from `now`.
 *
 * @param now - Unix seconds.
 * @returns whole seconds from 0, also for an earlier date; null for anything else.
 * @example readRetryAfter("Thu, 01 Jan 2026 00:00:04 GMT", 1767225600) // 4
 */
export function readRetryAfter(header: string, now: number): number | null {
  if (/^\d+$/.test(header)) return Number(header);
  // Of the three forms of a date, that of asctime has no zone.
  const due = /^[A-Z][a-z]{2}/.test(header) ? Date.parse(header.replace(/(?: GMT)?$/, " GMT")) : Number.NaN;
  return Number.isNaN(due) ? null : Math.max(0, Math.ceil(due / 1_000 - now));
}
