import express, { type Express, type Request, type Response } from "express";
import { errorCodes } from "../errors/catalogue.ts";
import { Problem } from "../errors/problem.ts";
import { problemAnswer } from "../http/answer.ts";
import { describeError } from "../http/describe-error.ts";
import type { Operation } from "../http/operation.ts";
import { requestNames } from "../http/request-id.ts";
import { sendAnswer } from "../http/send.ts";
import { toProblem } from "../http/to-problem.ts";
import { once } from "../once.ts";
import { describeDocumentation, mediaType } from "../openapi/describe-documentation.ts";
import { referencePath } from "../pages/api-pages.ts";
import { pageRoutes } from "../pages/page-routes.ts";
import { pageHeaders } from "../pages/security-headers.ts";
import type { Services } from "../services.ts";
import { errorIndex, errorPage } from "./error-page.ts";
import { describeFictionalPurchase, fictionalPurchase } from "./fictional-purchase.ts";
import { limitValues } from "./limit-values.ts";
import { previewCapabilities } from "./preview-capabilities.ts";
import { renderTemplate } from "./render-template.ts";
import { type DocumentationPath, documentationResources } from "./resources.ts";
import { errorsTable, eventsTable, limitsTable, operationsTable } from "./tables.ts";
import { testVectors } from "./test-vectors.ts";

interface Page {
  path: string;
  contentType: string;
  /** Rendered when it is first read. */
  body: () => string;
  /** The same for whoever prefers HTML, where people are sent to. */
  html?: () => string;
}

const markdown = "text/markdown; charset=utf-8";

/**
 * Builds the documentation host: the six read-only resources of the specification and a page for every error code.
 *
 * @example (await createDocumentationHost(services, operations)).listen(4021, "127.0.0.1")
 */
export function createDocumentationHost(services: Services, operations: readonly Operation[]): Express {
  const app = express();
  const nextRequestId = requestNames(services);
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("case sensitive routing", true);
  app.set("strict routing", true);
  app.use((_request, response, next) => {
    response.set("X-Request-Id", nextRequestId());
    // The API's reference reads this host's description and tries its resources.
    response.set("Access-Control-Allow-Origin", services.settings.urls.api);
    next();
  });
  app.get("/reference/", (_request, response) => {
    response.redirect(308, `${services.settings.urls.api}${referencePath}`);
  });
  app.use(pageRoutes({ pages: {}, folders: ["style"] }, services));
  for (const { path, contentType, body, html } of renderPages(services, operations)) {
    app.get(path, (request, response) => {
      const shown =
        html && request.accepts([mediaType(contentType), "text/html"]) === "text/html" ? html : body;
      const headers = {
        ...(shown === html ? pageHeaders() : { "Content-Type": contentType, "Cache-Control": "no-cache" }),
        ...(html && { Vary: "Accept" }),
      };
      sendAnswer(request, response, { status: 200, body: shown(), headers }, services);
    });
    app.all(path, () => {
      throw new Problem("method_not_allowed", "The documentation is read-only; use GET or HEAD.", {
        headers: { Allow: "GET, HEAD" },
      });
    });
  }
  app.use((request) => {
    throw new Problem("route_not_found", `There is nothing at ${request.path}.`);
  });
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    const problem = toProblem(error);
    const requestId = String(response.get("X-Request-Id"));
    if (problem.status >= 500)
      services.log.error({ request_id: requestId, causes: describeError(error) }, problem.code);
    const { docs } = services.settings.urls;
    sendAnswer(
      request,
      response,
      problemAnswer(problem, { docsUrl: docs, instance: request.path, requestId }),
      services,
    );
  });
  return app;
}

function renderPages(services: Services, operations: readonly Operation[]): Page[] {
  const { urls } = services.settings;
  const values = once(() => ({
    api_url: urls.api,
    docs_url: urls.docs,
    rpc_url: urls.rpc,
    program: services.deployment.programs[0]?.id ?? "",
    operations_table: operationsTable(operations),
    errors_table: errorsTable(urls.docs),
    events_table: eventsTable(),
    limits_table: limitsTable(),
    ...limitValues(),
    ...testVectors(urls.docs),
  }));
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  const bodies: { readonly [P in DocumentationPath]: () => string } = {
    "/portal/docs.md": () => renderTemplate("docs.md", values()),
    "/portal/capabilities.json": () => json(previewCapabilities(operations, urls)),
    "/portal/examples/purchase.json": () => json(fictionalPurchase(urls.docs)),
    "/portal/schemas/purchase.json": () => json(describeFictionalPurchase(urls.docs)),
    "/portal/openapi.json": () => json(describeDocumentation(urls.docs)),
    "/portal/llms.txt": () => renderTemplate("llms.txt", values()),
  };
  return [
    ...documentationResources.map(({ path, contentType }) => ({
      path,
      contentType,
      body: once(bodies[path]),
    })),
    { path: "/errors", contentType: markdown, body: once(() => errorIndex(urls.docs)) },
    ...errorCodes.map((code) => {
      const page = once(() => errorPage(code, operations));
      const html = () => page().html;
      return { path: `/errors/${code}`, contentType: markdown, body: () => page().markdown, html };
    }),
  ];
}
