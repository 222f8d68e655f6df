/**
 * Returns the RFC 3339 text, in UTC with whole seconds, of a Unix time in seconds.
 *
 * @throws RangeError for a time outside the years 0 to 9999, or with a fraction.
 * @example toTimestamp(1767225600) // "2026-01-01T00:00:00Z"
 */
export function toTimestamp(seconds: number): string {
  if (!Number.isInteger(seconds) || seconds < earliest || seconds > latest)
    throw new RangeError(`${seconds} is not a whole second of the years 0 to 9999.`);
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

/**
 * Returns the RFC 3339 text of a contract's time in Unix seconds. Times after the year 9999 become its last second.
 *
 * @example toChainTimestamp(2 ** 64) // "9999-12-31T23:59:59Z"
 */
export function toChainTimestamp(seconds: number): string {
  return toTimestamp(toChainSeconds(seconds));
}

/**
 * Returns a contract's time in Unix seconds. Times after the year 9999, which RFC 3339 cannot express, become its last second.
 *
 * @example toChainSeconds(2 ** 64) // 253402300799
 */
export function toChainSeconds(seconds: number): number {
  return Math.min(seconds, latest);
}

/**
 * Returns the Unix seconds of an RFC 3339 UTC text, with its fraction.
 *
 * @returns NaN for another form, another zone, or an invalid date.
 * @example fromTimestamp("2026-01-01T00:00:00Z") // 1767225600
 */
export function fromTimestamp(text: string): number {
  const parts = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d+)?Z$/.exec(text);
  if (parts === null) return Number.NaN;
  const whole = `${parts[1]}.000Z`;
  const milliseconds = Date.parse(whole);
  // Date.parse moves 30 February to March and 24:00 to the next day; only what comes back unchanged was a time.
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString() !== whole) return Number.NaN;
  return milliseconds / 1000 + Number(`0${parts[2] ?? ""}`);
}

/** 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z, which RFC 3339 ends with. */
const earliest = -62_167_219_200;
const latest = 253_402_300_799;

/**
 * Returns the Unix seconds of a number that is a time from 2001 to 2286 in milliseconds; undefined for any other value.
 *
 * @example secondsOfMilliseconds(1_767_830_400_000) // 1767830400
 */
export function secondsOfMilliseconds(time: unknown): number | undefined {
  return typeof time === "number" && time >= 1e12 && time < 1e13 ? Math.floor(time / 1_000) : undefined;
}
