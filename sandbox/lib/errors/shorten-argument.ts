/**
 * Returns an argument of a call, an error or an event in at most 44 characters.
 *
 * @example shortenArgument("25000000") // "25000000"
 */
export function shortenArgument(value: unknown): string {
  const text = typeof value === "string" ? value : String(JSON.stringify(value));
  return text.length <= 44 ? text : `${text.slice(0, 20)}…${text.slice(-8)}`;
}
