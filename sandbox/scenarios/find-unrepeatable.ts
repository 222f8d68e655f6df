import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { redact } from "../../server/http/redact.ts";
import { readBearer } from "./describe-request.ts";

/** Methods that a step may have. */
const methods = ["GET", "POST", "DELETE"];

/** The headers that a step records of a request, each once. */
const keptHeaders = ["authorization", "content-type", "idempotency-key"];

/**
 * Finds what a request has that a step cannot say, so that it would be played otherwise.
 *
 * @param seen - the bytes of the body that came before the answer, and the answer's status, null if it was lost.
 * @returns the reason as the end of a sentence; null when the request can be repeated.
 * @example findUnrepeatable(request, { body, status: 400 }) // "its body is not UTF-8"
 */
export function findUnrepeatable(
  request: IncomingMessage,
  seen: { body: Buffer; status: number | null },
): string | null {
  return inLine(request) ?? inHeaders(request) ?? inBody(request, seen) ?? inSecret(request, seen.body);
}

/** A step has the ids of credentials and accounts, and no secrets. */
function inSecret({ url = "", headers }: IncomingMessage, body: Buffer): string | null {
  const key = String(headers["idempotency-key"] ?? "");
  if ([url, key, body.toString()].every((text) => redact(text) === text)) return null;
  return "it has a credential or an account key outside of its Authorization header";
}

function inLine({ method = "", url = "" }: IncomingMessage): string | null {
  if (!methods.includes(method)) return `only ${methods.join(", ")} can be`;
  return /^\/\S*$/.test(url) ? null : "its target is not a path";
}

function inHeaders({ headers, headersDistinct }: IncomingMessage): string | null {
  const { authorization, "content-encoding": encoding = "identity" } = headers;
  const twice = keptHeaders.find((name) => (headersDistinct[name]?.length ?? 0) > 1);
  if (twice !== undefined) return `its header ${twice} was sent more than once`;
  if (authorization !== undefined && readBearer(authorization) === null)
    return "its header authorization is not `Bearer <credential>`";
  if (encoding.toLowerCase() !== "identity") return `its body is encoded (content-encoding: ${encoding})`;
  return null;
}

function inBody(
  { method, headers }: IncomingMessage,
  { body, status }: { body: Buffer; status: number | null },
): string | null {
  const declared = Number(headers["content-length"] ?? body.length);
  // Where no length is declared, an answer of 413 tells how much had come by then.
  if (declared !== body.length || (status === 413 && headers["content-length"] === undefined))
    return `only the first ${body.length} bytes of its body were kept`;
  if (method === "GET" && declared > 0) return "it is a GET with a body";
  return isUtf8(body) ? null : "its body is not UTF-8";
}
