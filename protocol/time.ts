/**
 * RFC 3339 text, in UTC with whole seconds, of a Unix time in seconds.
 *
 * @example toTimestamp(1767225600) // "2026-01-01T00:00:00Z"
 */
export function toTimestamp(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

/**
 * Unix seconds of an RFC 3339 UTC text.
 *
 * @returns NaN when it is none.
 * @example fromTimestamp("2026-01-01T00:00:00Z") // 1767225600
 */
export function fromTimestamp(text: string): number {
  return Date.parse(text) / 1000;
}
