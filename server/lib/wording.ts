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

/**
 * Returns the known name that a mistaken one has the letters of, in another order or spelling; undefined if there is none.
 *
 * @example meantName("merchantId", ["id", "merchant_id"]) // "merchant_id"
 */
export function meantName(mistaken: string, known: readonly string[]): string | undefined {
  const letters = lettersOf(mistaken);
  return known.find((name) => lettersOf(name) === letters);
}

function lettersOf(name: string): string {
  return [...name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")].sort().join("");
}
