/**
 * Reads bytes to their end.
 *
 * @param mostBytes - how many there may be.
 * @returns null for more, of which the rest is not read.
 * @example await readBytes(request.iterator({ destroyOnReturn: false }), 1_024)
 */
export async function readBytes(
  source: AsyncIterable<Uint8Array>,
  mostBytes: number,
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length > mostBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
