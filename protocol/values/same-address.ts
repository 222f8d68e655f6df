/**
 * Tells whether two texts are one address, whatever the case of their digits; a text that is not an address equals none.
 *
 * @example sameAddress("0xE7F1…0512", "0xe7f1…0512") // true
 */
export function sameAddress(left: string | null, right: string | null): boolean {
  if (left === null || right === null || !/^0x[0-9a-fA-F]{40}$/.test(left)) return false;
  return left.toLowerCase() === right.toLowerCase();
}
