import express, { type Request, type RequestHandler } from "express";
import { hasBody, requireJsonType } from "../../../server/http/request/read-body.ts";

/**
 * Refuses a write whose body is not JSON. It runs before any parser: a parser ignores a body of another type, and the defaults of
 * the operation would be done instead.
 *
 * @example app.use(requireJsonBody)
 */
export const requireJsonBody: RequestHandler = (request, response, next) => {
  if (isWrite(request) && hasBody(request)) requireJsonType(request);
  // Every body is taken; the listener has refused all other expectations.
  if (request.headers.expect !== undefined) response.writeContinue();
  next();
};

/**
 * Parses the body of a write as JSON. The body of a GET or HEAD has no meaning and is ignored.
 *
 * @param limit - the largest body, as Express takes it.
 * @example app.use(parseJsonBody("1kb"))
 */
export function parseJsonBody(limit: string | number): RequestHandler {
  const parse = express.json({ limit, strict: false });
  return (request, response, next) => {
    if (isWrite(request) && hasBody(request)) parse(request, response, next);
    else next();
  };
}

function isWrite({ method }: Pick<Request, "method">): boolean {
  return method !== "GET" && method !== "HEAD";
}
