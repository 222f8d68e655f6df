import type { Request, RequestHandler } from "express";
import { parseJson } from "../../server/http/request/parse-json.ts";
import { hasBody, readBody, requireJsonType } from "../../server/http/request/read-body.ts";

/**
 * Refuses a write whose body is not JSON. It runs before any parser: the body of an operation that has a default for every field is
 * not needed, and would be ignored.
 */
export const requireJsonBody: RequestHandler = (request, _response, next) => {
  if (isWrite(request) && hasBody(request)) requireJsonType(request);
  next();
};

/**
 * Parses the body of a write as JSON, as strictly as the routing API does. The body of a GET or HEAD has no meaning and is ignored.
 *
 * @param limit - the most bytes of a body.
 */
export function parseJsonBody(limit: number): RequestHandler {
  return async (request, response, next) => {
    if (isWrite(request) && hasBody(request)) {
      try {
        const bytes = await readBody(request, response, limit);
        if (bytes.length > 0) request.body = parseJson(bytes);
      } catch (error) {
        // The rest of the body is read off the connection.
        request.resume();
        throw error;
      }
    }
    next();
  };
}

function isWrite({ method }: Pick<Request, "method">): boolean {
  return method !== "GET" && method !== "HEAD";
}
