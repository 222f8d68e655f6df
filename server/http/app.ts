import express, { type Express, type Request, type Response } from "express";
import { ChainMismatchError, ChainUnavailableError } from "../chain/chain.ts";
import type { ProgramDeployment } from "../deployment.ts";
import { Problem } from "../errors/problem.ts";
import type { Services } from "../services.ts";
import { StoreUnavailableError } from "../store/store.ts";
import { type Answer, problemAnswer, send } from "./answer.ts";
import { authenticate, authorize } from "./authenticate.ts";
import { claimKey, readIdempotencyKey } from "./idempotency.ts";
import type { Operation, OperationContext } from "./operation.ts";
import { parseJson } from "./parse-json.ts";
import { readBody } from "./read-body.ts";
import { nextRequestId } from "./request-id.ts";
import { OperationRunner } from "./run-operation.ts";
import { validate } from "./validate.ts";

/** A JSON resource that anyone may read, beside the operations. */
export interface Resource {
  path: string;
  read: () => unknown;
}

/**
 * Builds the API: every operation of the table and every resource, with the checks in the order of the design.
 *
 * @example createApp(services, operations, resources).listen(4020, "127.0.0.1")
 */
export function createApp(
  services: Services,
  operations: readonly Operation[],
  resources: readonly Resource[],
): Express {
  const app = express();
  const runner = new OperationRunner(services);
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("case sensitive routing", true);
  app.set("strict routing", true);
  app.set("query parser", "simple");

  app.use((request, response, next) => {
    response.locals["requestId"] = nextRequestId(services);
    response.set("X-Request-Id", response.locals["requestId"]);
    request.on("error", () => {});
    next();
  });
  for (const operation of operations)
    app[operation.method](expressPath(operation.path), async (request, response) => {
      send(response, await answerOperation(operation, operations, request, runner, services));
    });
  for (const resource of resources)
    app.get(resource.path, (_request, response) => {
      response.set("Cache-Control", "no-cache").json(resource.read());
    });
  const paths = [...operations, ...resources.map(({ path }) => ({ path, method: "get" as const }))];
  for (const path of new Set(paths.map((entry) => entry.path)))
    app.all(expressPath(path), () => {
      throw methodNotAllowed(paths.filter((entry) => entry.path === path).map(({ method }) => method));
    });
  app.use((request) => {
    throw new Problem("route_not_found", `There is nothing at ${request.path}.`);
  });
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    const problem = toProblem(error);
    const id = String(response.locals["requestId"]);
    if (problem.status >= 500)
      services.log.error({ request_id: id, path: request.path, error }, problem.message);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    send(
      response,
      problemAnswer(problem, { docsUrl: services.settings.urls.docs, instance: request.path, requestId: id }),
    );
  });
  return app;
}

async function answerOperation(
  operation: Operation,
  operations: readonly Operation[],
  request: Request,
  runner: OperationRunner,
  services: Services,
): Promise<Answer> {
  const now = await services.clock.now();
  const params = Object.fromEntries(
    Object.entries(request.params).map(([name, value]) => [name, String(value)]),
  );
  const programId = params["program"];
  const caller = await authenticate(operation, request.headersDistinct["authorization"], now, services);
  authorize(operation, caller, programId);
  const program = findProgram(services, programId ?? callersProgram(caller));
  const key = operation.idempotent ? readIdempotencyKey(request.headersDistinct["idempotency-key"]) : null;
  const rawBody = operation.method === "post" ? await readBody(request) : Buffer.alloc(0);
  const body = operation.body ? validate(operation.body, parseJson(rawBody), "") : undefined;
  const query = operation.query ? validate(operation.query, { ...request.query }, "/query") : undefined;
  const context: OperationContext = {
    services,
    operations,
    caller,
    program,
    id: params["id"] ?? "",
    params,
    query,
    body,
    rawBody,
    header: (name) => onlyValue(request.headersDistinct[name]),
    now,
  };
  const answer =
    key === null
      ? await runner.run(operation, context)
      : await runner.runOnce(
          operation,
          context,
          claimKey(operation, { key, path: request.path, body: parseJson(rawBody), program: program.id }),
        );
  if (operation.authorization.kind !== "public") answer.headers["Cache-Control"] = "no-store";
  return answer;
}

function onlyValue(values: readonly string[] | undefined): string | undefined {
  return values?.length === 1 ? values[0] : undefined;
}

function callersProgram(caller: OperationContext["caller"]): string | undefined {
  return caller.kind === "account" ? caller.account.program : undefined;
}

/** Operations without a program in the path are about the first one. */
function findProgram(services: Services, id: string | undefined): ProgramDeployment {
  const { programs } = services.deployment;
  const program = id === undefined ? programs[0] : programs.find((entry) => entry.id === id);
  if (program === undefined) throw new Problem("not_found", `There is no program ${id}.`);
  return program;
}

function expressPath(path: string): string {
  return path.replaceAll(/\{([a-z]+)\}/g, ":$1");
}

function methodNotAllowed(methods: readonly string[]): Problem {
  const allow = methods
    .flatMap((method) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]))
    .join(", ");
  return new Problem("method_not_allowed", `Use ${allow}.`, { headers: { Allow: allow } });
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof ChainUnavailableError)
    return new Problem("rpc_unavailable", error.message, { headers: { "Retry-After": "1" }, cause: error });
  if (error instanceof ChainMismatchError)
    return new Problem("chain_mismatch", error.message, { cause: error });
  if (error instanceof StoreUnavailableError)
    return new Problem("storage_unavailable", error.message, { cause: error });
  if (error instanceof URIError)
    return new Problem("route_not_found", "The path is not valid percent-encoding.");
  return new Problem("internal_error", "The service failed; nothing was committed.", { cause: error });
}
