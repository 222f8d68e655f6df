import express, { type Express, type NextFunction, type Request, type Response, Router } from "express";
import { isOfOtherCode, requireDeployment } from "../../server/chain/find-difference.ts";
import { Problem } from "../../server/errors/problem.ts";
import { UndoneError } from "../../server/http/gate.ts";
import { refuseOtherMethods, routeOperations } from "../../server/http/route-operations.ts";
import { limits } from "../../server/limits.ts";
import { bodyOf, type ControlContext, type ControlOperation } from "../lib/control/operation.ts";
import { undoneRequest } from "../lib/control/undoable-calls.ts";
import { needsOwnChain } from "../lib/errors/needs-own-chain.ts";
import { endUnlessTaken } from "../lib/http/unless-taken.ts";
import { KeptSnapshots } from "../snapshots/kept-snapshots.ts";
import { answerOperation } from "./answer-operation.ts";
import type { ControlledSandbox, ServedSandbox } from "./controlled-sandbox.ts";
import { describeControl } from "./describe-control.ts";
import { parseJsonBody, requireJsonBody } from "./json-body.ts";
import { refuseError } from "./refuse-error.ts";
import { controlOperations } from "./table.ts";

/**
 * The control API: what a tester does to the sandbox itself. It never is part of the routing API. Its listener keeps every
 * page out but the explorer, which it serves itself.
 */
export function createControlHost(controlled: ControlledSandbox): Express {
  const context = { sandbox: { ...controlled, kept: new KeptSnapshots(controlled) } };
  const app = express();
  app.disable("x-powered-by");
  app.set("strict routing", true);
  app.set("case sensitive routing", true);
  app.use((_request, response, next) => {
    response.locals["undone"] = controlled.gate.undone;
    next();
  });
  app.use(requireJsonBody);
  // Before a recording holds requests back.
  app.use(routes(context, false));
  app.use(controlled.recorder.control());
  app.use(parseJsonBody(limits.body_bytes));
  app.use(routes(context, true));
  app.use(controlled.explorer.pages);
  refuseOtherMethods(app, controlOperations);
  app.use((request) => {
    throw new Problem(
      "route_not_found",
      `There is nothing at ${request.method} ${request.path}. GET /openapi.json lists all requests.`,
    );
  });
  app.use(async (error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const { client, deployment } = controlled.chain;
    const checked = isOfOtherCode(error) ? requireDeployment(client, deployment) : Promise.resolve();
    await checked.then(
      () => refuseError(error, response),
      (mismatch: unknown) => refuseError(mismatch, response),
    );
  });
  return app;
}

/** Serves the operations that a recording has as steps, or the others. */
function routes(context: ControlContext<ServedSandbox>, recorded: boolean): Router {
  const router = Router({ strict: true, caseSensitive: true });
  // A router answers OPTIONS by itself. It is refused as every other method that the table does not have.
  router.use((request, _response, next) => next(request.method === "OPTIONS" ? "router" : undefined));
  const operations = controlOperations.filter((one) => one.recorded === recorded);
  routeOperations(router, operations, (operation) => {
    const { bodyLimit = limits.body_bytes } = operation;
    return [
      ...(recorded || bodyOf(operation) === undefined ? [] : [parseJsonBody(bodyLimit)]),
      async (request, response) => await serve(operation, context, request, response),
    ];
  });
  return router;
}

/** The number of restores that a read starts over after; then the next restore waits for it. */
const mostStartsOver = 2;

/**
 * Runs an operation as it asks for: inside the request gate, which is before a snapshot or a restore or after it, or outside, where a read
 * starts over after a restore.
 */
async function runInGate<T>(
  { gated, startsOver }: ControlOperation,
  { gate }: ControlledSandbox,
  what: string,
  run: () => Promise<T>,
): Promise<T> {
  if (!gated && !startsOver) return await run();
  for (let restores = 0; startsOver && restores < mostStartsOver; restores += 1)
    try {
      return await gate.runShared(what, async ({ releaseGate }) => await releaseGate(run));
    } catch (error) {
      if (!(error instanceof UndoneError)) throw error;
    }
  return await gate.runShared(what, run);
}

/** Answers a request whose body is there. */
async function serve(
  operation: ControlOperation,
  { sandbox }: ControlContext<ServedSandbox>,
  request: Request,
  response: Response,
): Promise<void> {
  if (operation.needsOwnChain && !sandbox.chain.isOwn)
    throw needsOwnChain(`${request.method} ${operation.path}`);
  if (!operation.cached) response.set("Cache-Control", "no-store");
  const what = `${request.method} ${request.path} of the control API`;
  const context = { sandbox, describe: () => describeControl(sandbox.description.urls) };
  await answerOperation(operation, context, request, response, async (handle) => {
    const given = await runInGate(operation, sandbox, what, async () => {
      if (operation.method !== "get" && response.locals["undone"].aborted) throw undoneRequest();
      return await handle();
    });
    if (given !== undefined) endUnlessTaken(response);
    return given;
  });
}
