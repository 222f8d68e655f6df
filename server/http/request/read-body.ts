import type { Request, Response } from "express";
import { Problem } from "../../errors/problem.ts";
import { limits } from "../../limits.ts";
import { readIdempotencyKey } from "../idempotency.ts";
import { bodyRequired } from "../operation.ts";
import type { Step } from "../step.ts";
import type { Addressed } from "./authenticate.ts";

/** A request with its idempotency key; null where the operation takes none. */
interface Keyed extends Addressed {
  key: string | null;
}

/** Reads the Idempotency-Key of an operation that takes one. @throws Problem idempotency_key_missing, idempotency_key_invalid */
export const readKey: Step<Addressed, Keyed> = async (context, next) => {
  const { operation, request } = context;
  const key = operation.idempotent ? readIdempotencyKey(request.headersDistinct["idempotency-key"]) : null;
  return await next({ ...context, key });
};

const noBody = Buffer.alloc(0);

/** Returns whether a request has content (RFC 9112, 6.3): a length above zero, or a transfer coding. */
export function hasBody({ headers }: Pick<Request, "headers">): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/**
 * Reads a POST body as bytes; refuses by Content-Length before reading, and while reading when it is chunked.
 *
 * @param limit - the most bytes; by default those of the routing API.
 * @throws Problem content_type_unsupported, content_encoding_unsupported, body_too_large, body_malformed when it breaks off.
 */
export async function readBody(
  request: Request,
  response: Response,
  limit: number = limits.body_bytes,
): Promise<Buffer> {
  assertEncoding(request.headersDistinct["content-encoding"]);
  requireJsonType(request);
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > limit) throw tooLarge(declared, limit);
  if (/^100-continue$/i.test(request.headers.expect ?? "")) response.writeContinue();
  return await collect(request, limit);
}

async function collect(request: Request, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let length = 0;
  const take = (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) reject(tooLarge(length, limit));
    else chunks.push(chunk);
  };
  const end = () => resolve(Buffer.concat(chunks));
  const breakOff = () => reject(new Problem("body_malformed", "The connection ended within the body."));
  request.on("data", take).once("end", end).once("error", breakOff).once("close", breakOff);
  try {
    return await promise;
  } finally {
    // The sender of the answer reads the rest off the connection.
    request.pause();
    request.off("data", take).off("end", end).off("error", breakOff).off("close", breakOff);
  }
}

function assertEncoding(values: readonly string[] | undefined): void {
  const [encoding, ...more] = values ?? [];
  if (encoding === undefined || (encoding.toLowerCase() === "identity" && more.length === 0)) return;
  throw new Problem("content_encoding_unsupported", "The body has a Content-Encoding. Send it without one.");
}

/**
 * Requires that a body is declared as JSON in UTF-8.
 *
 * @throws Problem content_type_unsupported
 */
export function requireJsonType({ headersDistinct }: Pick<Request, "headersDistinct">): void {
  const [type = "", ...more] = headersDistinct["content-type"] ?? [];
  if (more.length === 0 && /^application\/json(?:\s*;\s*charset=(?:utf-8|"utf-8"))?\s*$/i.test(type)) return;
  throw new Problem(
    "content_type_unsupported",
    more.length > 0
      ? "The header Content-Type was sent more than once. Send application/json in UTF-8, once."
      : `The content type is ${type === "" ? "missing" : JSON.stringify(type)}. Send application/json in UTF-8.`,
  );
}

function tooLarge(bytes: number, limit: number): Problem {
  return new Problem(
    "body_too_large",
    `The body has at least ${bytes} bytes; ${limit} are allowed. Send a smaller body.`,
  );
}

/** A request whose body was read. */
export interface Received extends Keyed {
  rawBody: Buffer;
}

/** Reads the body of a write once, and waits for it without holding up a snapshot. */
export const receiveBody: Step<Keyed, Received> = async (context, next) => {
  const { operation, request, response, once } = context;
  const takesBody = operation.method === "post" && (bodyRequired(operation) || hasBody(request));
  if (!takesBody) return await next({ ...context, rawBody: noBody });
  const rawBody = await context.releaseGate(async () => {
    once.body ??= readBody(request, response);
    return await once.body;
  });
  response.locals["body"] = rawBody;
  return await next({ ...context, rawBody });
};
