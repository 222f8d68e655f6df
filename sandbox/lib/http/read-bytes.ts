import type { IncomingMessage } from "node:http";
import { types } from "node:util";

/**
 * Reads bytes to their end.
 *
 * @param mostBytes - how many there may be.
 * @returns null for more, of which the rest is not read.
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

/** The number of bytes of a body that are kept: more than the service accepts, so that a body that it refuses for its size is kept, too. */
const bodyBytes = 64 * 1024;

/** Keeps the bytes of a body as they come from the connection, for later readers. */
export function collectBody(request: IncomingMessage): () => Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  const push = request.push.bind(request);
  request.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (types.isUint8Array(chunk) && length < bodyBytes) {
      chunks.push(Buffer.from(chunk));
      length += chunk.length;
    }
    return push(chunk, encoding);
  };
  return () => Buffer.concat(chunks).subarray(0, bodyBytes);
}
