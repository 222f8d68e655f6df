import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { answerOperation } from "../../../sandbox/control/answer-operation.ts";
import { parseJsonBody, requireJsonBody } from "../../../sandbox/control/json-body.ts";
import { refuseError, sendRefusal } from "../../../sandbox/control/refuse-error.ts";
import { Problem } from "../../../server/errors/problem.ts";
import { refuseOtherMethods, routeOperations } from "../../../server/http/route-operations.ts";
import { describePool } from "./describe-pool.ts";
import { poolOperations } from "./pool-operations.ts";
import { PoolError, type ServedPool } from "./served-pool.ts";
import { noteRequest } from "./unread-response.ts";

/**
 * Serves a pool: leases of sandboxes over HTTP, for workers in any language.
 *
 * @param url - where the pool is reached.
 * @example listener.serve({ handle: createPoolHost(pool, listener.url) })
 */
export function createPoolHost(pool: ServedPool, url: string): Express {
  const app = express();
  app.disable("x-powered-by");
  app.use(requireJsonBody);
  app.use((request, response, next) => {
    noteRequest(request);
    response.set("Cache-Control", "no-store");
    next();
  });
  app.use(parseJsonBody(1_024));
  const context = { pool, describe: () => describePool(url) };
  routeOperations(app, poolOperations, (operation) => [
    async (request, response) =>
      await answerOperation<{ pool: ServedPool }>(operation, context, request, response),
  ]);
  refuseOtherMethods(app, poolOperations);
  app.use((request) => {
    throw new Problem("route_not_found", `There is nothing at ${request.method} ${request.path}.`);
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (error instanceof PoolError)
      sendRefusal(response.set("Retry-After", "1"), 503, error.message, { code: error.code });
    else refuseError(error, response);
  });
  return app;
}
