import type { Express, Request, RequestHandler, Response } from "express";
import express from "express";
import type { ErrorCode } from "./errors/catalogue.ts";
import { Problem } from "./errors/problem.ts";
import { type Answer, problemAnswer } from "./http/answers/answer.ts";
import { dropConnection, sendAnswer } from "./http/answers/send.ts";
import { describeError, toProblem } from "./http/answers/to-problem.ts";
import { AnswerLostError } from "./http/faults/apply-api-fault.ts";
import { EndedError } from "./http/gate.ts";
import type { Operation } from "./http/operation.ts";
import { answerRequests } from "./http/pipeline.ts";
import { redact } from "./http/redact.ts";
import { requestNames } from "./http/request/request-id.ts";
import { refuseOtherMethods, routeOperations } from "./http/route-operations.ts";
import { nameRequest } from "./http/run-in-gate.ts";
import type { AnsweredRequest, Services, Urls } from "./http/services.ts";
import { type Pages, pageRoutes } from "./pages/page-routes.ts";
import { urlsAt } from "./pages/urls-at.ts";

/** A JSON resource that anyone may read, besides the operations. */
export interface Resource {
  path: string;
  read: () => unknown;
  /** The page that a browser is redirected to, for the URLs of the sandbox as the browser reaches it. */
  page?: (urls: Urls) => string;
}

/** Builds the API: every operation of the table, every resource and the pages, with the checks in the order of the design. */
export function createApp(
  services: Services,
  operations: readonly Operation[],
  resources: readonly Resource[],
  pages: Pages,
): Express {
  const app = express();
  const answerRequest = answerRequests(services, operations);
  const nextRequestId = requestNames(services);
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("case sensitive routing", true);
  app.set("strict routing", true);
  app.set("query parser", "simple");

  app.use((request, response, next) => {
    const requestId = nextRequestId();
    response.locals["requestId"] = requestId;
    response.locals["headers"] = { "X-Request-Id": requestId, "Cache-Control": "no-store" };
    // A connection that breaks off is seen by who reads the body; here it must only not end the process.
    request.on("error", ignore);
    next();
  });
  const handlersOf = (operation: Operation): RequestHandler[] => [
    async (request, response) => {
      response.locals["operation"] = operation.id;
      finish(request, response, await answerRequest(operation, request, response), services);
    },
  ];
  // Pages come before what shares their paths, and after what programs ask for most.
  const isShared = ({ path }: Operation) => path.startsWith("/wallet/");
  const [shared, own] = [operations.filter(isShared), operations.filter((one) => !isShared(one))];
  routeOperations(app, own, handlersOf);
  app.use(pageRoutes(pages, services));
  routeOperations(app, shared, handlersOf);
  for (const resource of resources) serveResource(app, resource, services);
  refuseOtherMethods(app, [
    ...operations,
    ...resources.map(({ path }) => ({ path, method: "get" as const })),
  ]);
  app.use((request) => {
    throw new Problem(
      "route_not_found",
      `There is nothing at ${request.path}. GET /index.json lists all paths.`,
    );
  });
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    answerError(error, request, response, services);
  });
  return app;
}

function serveResource(app: Express, resource: Resource, services: Services): void {
  const { page } = resource;
  app.get(resource.path, async (request, response) => {
    if (page !== undefined) response.vary("Accept");
    if (page !== undefined && request.accepts(["application/json", "text/html"]) === "text/html") {
      response.redirect(302, page(urlsAt(request.hostname, services.settings.urls)));
      return;
    }
    const headers = { "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-cache" };
    const read = async () => await resource.read();
    const body = JSON.stringify(await services.gate.runShared(nameRequest(request), read));
    finish(request, response, { status: 200, body, headers }, services);
  });
}

/** Answers with the problem that an error is, and logs the causes of one that is the service's own, apart from its end. */
function answerError(error: unknown, request: Request, response: Response, services: Services): void {
  if (error instanceof AnswerLostError) {
    dropConnection(response, error.sent);
    const { sent } = error;
    const outcome = { status: sent?.status ?? null, code: null, replayed: false, answer: sent?.body ?? null };
    noteRequest(request, response, outcome, services);
    return;
  }
  const problem = error instanceof EndedError ? new Problem("service_closing", ended) : toProblem(error);
  const requestId = String(response.locals["requestId"]);
  if (problem.status >= 500 && problem.code !== "service_closing")
    services.log.error({ request_id: requestId, causes: describeError(error) }, problem.code);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { docs } = services.settings.urls;
  const answer = problemAnswer(problem, { docsUrl: docs, instance: request.path, requestId });
  finish(request, response, answer, services, problem.code);
}

const ended = "The sandbox was reset for another test, lease or run before this request could run.";

/** Sends an answer, and notes what was asked, by whom, and how it ended. */
function finish(
  request: Request,
  response: Response,
  answer: Answer,
  services: Services,
  code: ErrorCode | null = null,
): void {
  sendAnswer(request, response, answer, services);
  const replayed = answer.headers["Idempotent-Replayed"] === "true";
  noteRequest(request, response, { status: answer.status, code, replayed, answer: answer.body }, services);
}

/** Logs a request, without anything that was sent, and passes it to the request log. The status is null where the answer was lost. */
function noteRequest(
  { method, path, originalUrl, headers }: Request,
  { locals }: Response,
  outcome: Pick<AnsweredRequest, "status" | "code" | "replayed" | "answer">,
  { log, answered }: Services,
): void {
  const { status, code, replayed } = outcome;
  const request_id = String(locals["requestId"]);
  const caller = String(locals["caller"] ?? "anyone");
  const key = headers["idempotency-key"];
  log.info({ request_id, method, path: redact(path), status, code, caller, replayed }, "request");
  answered({
    ...outcome,
    request_id,
    method,
    path: originalUrl,
    caller,
    operation: locals["operation"] ?? null,
    idempotency_key: typeof key === "string" ? key : null,
    at: locals["at"] ?? null,
    body: locals["body"] ?? null,
  });
}

function ignore(): void {}
