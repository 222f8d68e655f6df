import type { Request } from "express";
import { Problem } from "../errors/problem.ts";
import { limits } from "../limits.ts";

/**
 * Reads a POST body as bytes; refuses by Content-Length before reading, and while reading when it is chunked.
 *
 * @throws Problem content_type_unsupported, content_encoding_unsupported, body_too_large.
 */
export async function readBody(request: Request): Promise<Buffer> {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    throw new Problem(
      "content_encoding_unsupported",
      `The body is encoded as ${encoding}; send it as it is.`,
    );
  if (!isJsonType(request.headers["content-type"]))
    throw new Problem(
      "content_type_unsupported",
      `The content type is ${request.headers["content-type"] ?? "missing"}; send application/json.`,
    );
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limits.body_bytes) throw tooLarge(request, declared);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError("The request stream must give bytes.");
    length += chunk.length;
    if (length > limits.body_bytes) throw tooLarge(request, length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function isJsonType(type: string | undefined): boolean {
  return /^application\/json(\s*;\s*charset="?utf-8"?)?\s*$/i.test(type ?? "");
}

/** The connection ends after the answer, so that nobody reads what is left of the body. */
function tooLarge(request: Request, bytes: number): Problem {
  request.pause();
  return new Problem(
    "body_too_large",
    `The body has at least ${bytes} bytes; ${limits.body_bytes} are allowed.`,
    {
      headers: { Connection: "close" },
    },
  );
}
