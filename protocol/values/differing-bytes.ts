/**
 * Returns the places of the bytes in which two values in hex differ, which both have 0x or both have not.
 *
 * @example differingBytes("d0ee4de0", "d0ef4de0") // [1]
 */
export function differingBytes(left: string, right: string): number[] {
  const bytes = Array.from(
    { length: Math.ceil(Math.max(left.length, right.length) / 2) },
    (_, index) => index,
  );
  return bytes.filter(
    (index) => left.slice(index * 2, index * 2 + 2) !== right.slice(index * 2, index * 2 + 2),
  );
}
