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
