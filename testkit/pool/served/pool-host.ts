import express, { type Express, type NextFunction, type Request, type Response } from "express";
import { z } from "zod";
import { refuseError, sendRefusal } from "../../../sandbox/hosts/control/refuse-error.ts";
import { Problem } from "../../../server/api/errors/problem.ts";
import { methodNotAllowed } from "../../../server/http/app.ts";
import { hasBody, requireJsonType } from "../../../server/http/request/read-body.ts";
import { validate } from "../../../server/http/request/validate.ts";
import { poolLimits } from "./pool-limits.ts";
import { PoolExhaustedError, type ServedPool } from "./served-pool.ts";

const termBody = z.strictObject({ seconds: z.int().min(1).max(poolLimits.mostLeaseSeconds).optional() });

type Handle = (
  pool: ServedPool,
  request: Request<{ id: string }>,
  response: Response,
) => Promise<void> | void;

/** The requests of a pool, by path and method. */
const routes: { readonly [path: string]: { readonly [M in "get" | "put" | "post" | "delete"]?: Handle } } = {
  "/": {
    get: (pool, _request, response) => {
      response.json(pool.status());
    },
  },
  "/leases": {
    async post(pool, request, response) {
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const lease = await pool.lease(readSeconds(request), gone.signal);
      // Only the caller would know the id of the lease.
      if (response.closed) pool.end(lease.id);
      else response.status(201).location(`/leases/${lease.id}`).json(lease);
    },
  },
  "/leases/:id": {
    put: (pool, request, response) => {
      response.json(pool.renew(request.params.id, readSeconds(request)));
    },
    delete: (pool, request, response) => {
      pool.end(request.params.id);
      response.status(204).end();
    },
  },
  "/leases/:id/restore": {
    async post(pool, request, response) {
      response.json(await pool.restore(request.params.id));
    },
  },
};

/**
 * Serves a pool: leases of sandboxes over HTTP, for workers in any language.
 *
 * @example listener.serve({ handle: createPoolHost(pool) })
 */
export function createPoolHost(pool: ServedPool): Express {
  const app = express();
  app.disable("x-powered-by");
  app.use((request, response, next) => {
    if (hasBody(request)) requireJsonType(request);
    if (request.headers.expect !== undefined) response.writeContinue();
    response.set("Cache-Control", "no-store");
    next();
  });
  app.use(express.json({ limit: "1kb", strict: false }));
  for (const [path, methods] of Object.entries(routes)) {
    const route = app.route(path);
    for (const [method, handle] of Object.entries(methods))
      route[method as keyof typeof methods](
        async (request: Request<{ id: string }>, response: Response) => await handle(pool, request, response),
      );
    route.all(() => {
      throw methodNotAllowed(Object.keys(methods));
    });
  }
  app.use((request) => {
    throw new Problem("route_not_found", `There is nothing at ${request.method} ${request.path}.`);
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (error instanceof PoolExhaustedError)
      sendRefusal(response.set("Retry-After", "1"), 503, error.message, { code: error.code });
    else refuseError(error, response);
  });
  return app;
}

function readSeconds(request: Request<{ id: string }>): number | undefined {
  return validate(termBody, request.body ?? {}, "").seconds;
}
