import type { Request, Response } from "express";
import { validate } from "../../server/http/request/validate.ts";
import { mapFields } from "../../server/lib/map-fields.ts";
import { needsBody, type ServedOperation } from "../lib/control/operation.ts";

/**
 * Answers a request whose body is parsed: checks it by the schemas of its operation, and sends what the handler returns.
 *
 * @param run - runs the handler.
 */
export async function answerOperation<C extends object>(
  operation: ServedOperation<C>,
  context: C & { describe: () => object },
  request: Request,
  response: Response,
  run = async (handle: () => Promise<unknown>): Promise<unknown> => await handle(),
): Promise<void> {
  const { body, query, params = {}, success } = operation;
  const sent: unknown = needsBody(operation) || request.body !== undefined ? request.body : {};
  const checked = {
    ...context,
    body: body === undefined ? sent : validate(body, sent, ""),
    query: query === undefined ? undefined : validate(query, request.query, "/query"),
    params: mapFields(params, (schema, name) => validate(schema, request.params[name], `/${name}`)),
    request,
    response,
  };
  const given = await run(async () => await operation.handle(checked));
  if (success.schema === null) response.status(success.status).end();
  else if (given !== undefined) {
    response.status(success.status);
    if (success.type === undefined) response.json(given);
    else response.type(success.type).send(given);
  }
}
