/** Returns words with their first letter in upper case. */
export function capitalize(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/**
 * Returns values as a sentence lists them.
 *
 * @example orList(["offer", "payment", "claim"]) // "offer, payment or claim"
 */
export function orList(values: readonly string[]): string {
  return values.length < 2 ? values.join("") : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
}
