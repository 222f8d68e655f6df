import type { IncomingMessage } from "node:http";
import { types } from "node:util";

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
