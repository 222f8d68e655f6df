import type { IRouter, RequestHandler } from "express";
import { Problem } from "../errors/problem.ts";

/** A method of a path, which has its parameters in braces. */
interface Route {
  method: "get" | "post" | "put" | "delete";
  path: string;
}

/**
 * Routes the requests of each operation of a table to handlers.
 *
 * @example routeOperations(app, operations, (operation) => [async (request, response) => await answer(operation, request, response)])
 */
export function routeOperations<O extends Route>(
  router: IRouter,
  operations: readonly O[],
  handlersOf: (operation: O) => RequestHandler[],
): void {
  for (const operation of operations)
    router[operation.method](expressPath(operation.path), ...handlersOf(operation));
}

/** Refuses every other method on the paths of a table, with those that it has. */
export function refuseOtherMethods(router: IRouter, table: readonly Route[]): void {
  // `all` would add a route for each method that there is.
  for (const [path, routes] of Map.groupBy(table, (route) => route.path))
    router.route(expressPath(path)).all(() => {
      const allow = routes
        .flatMap(({ method }) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]))
        .join(", ");
      throw new Problem("method_not_allowed", `This path does not have the method. Use ${allow}.`, {
        headers: { Allow: allow },
      });
    });
}

function expressPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
