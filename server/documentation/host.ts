import { readFileSync } from "node:fs";
import type { Express, Request, Response } from "express";
import express from "express";
import { type ErrorCode, errorCatalogue, errorCodes } from "../errors/catalogue.ts";
import { Problem } from "../errors/problem.ts";
import { type Answer, problemAnswer } from "../http/answers/answer.ts";
import { sendAnswer } from "../http/answers/send.ts";
import { describeError, toProblem } from "../http/answers/to-problem.ts";
import { codesOfOperation, edgeCodes } from "../http/codes-of-operation.ts";
import type { Operation } from "../http/operation.ts";
import { requestNames } from "../http/request/request-id.ts";
import type { Services, Urls } from "../http/services.ts";
import { escapeMarkup } from "../lib/escape-controls.ts";
import { once } from "../lib/once.ts";
import { tagOf } from "../openapi/describe-api.ts";
import { referencePath } from "../pages/api-pages.ts";
import { withEtag } from "../pages/assets.ts";
import { pageRoutes } from "../pages/page-routes.ts";
import { assetHeaders, pageHeaders } from "../pages/security-headers.ts";
import { linkAt, urlsAt } from "../pages/urls-at.ts";
import { type EventType, eventTypeNames, eventTypes } from "../schemas/event-types.ts";
import { atAddresses } from "./at-addresses.ts";
import { describeDocumentation, mediaType } from "./describe-documentation.ts";
import { type DocumentSite, documentSite, isPicture, searchPath } from "./documents/document-site.ts";
import { findSections } from "./documents/find-sections.ts";
import { renderMarkdown } from "./documents/render-markdown.ts";
import { describeFictionalPurchase, fictionalPurchase } from "./resources/fictional-purchase.ts";
import { previewCapabilities } from "./resources/preview-capabilities.ts";
import { type DocumentationPath, documentationResources } from "./resources/resources.ts";
import { findShippedFile } from "./shipped-file.ts";
import { errorsList, linkPages } from "./tables.ts";

interface ServedDocument {
  path: string;
  contentType: string;
  /** Rendered when it is first read. */
  body: (request: Request) => string;
  /** The same for clients that prefer HTML. */
  html?: () => string;
}

const markdown = "text/markdown; charset=utf-8";

/**
 * Builds the documentation host: the six read-only resources of the specification, every document as Markdown and, for browsers, as a
 * page, and a page for every error code.
 */
export function createDocumentationHost(services: Services, operations: readonly Operation[]): Express {
  const app = express();
  const nextRequestId = requestNames(services);
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("case sensitive routing", true);
  app.set("strict routing", true);
  const { urls } = services.settings;
  app.use(({ hostname }, response, next) => {
    response.set("X-Request-Id", nextRequestId());
    // The API's reference reads this host's description and tries its resources.
    response.set("Access-Control-Allow-Origin", urlsAt(hostname, urls).api);
    next();
  });
  app.get("/reference/", ({ hostname }, response) => {
    response.redirect(308, `${urlsAt(hostname, urls).api}${referencePath}`);
  });
  app.get(["/portal", "/portal/"], (_request, response) => {
    response.redirect(308, "/");
  });
  app.use(pageRoutes({ pages: {}, folders: ["style", "documentation"] }, services));
  const { site, pages } = renderPages(services, operations);
  // Routes of their own would take longer to make than the rest of a sandbox.
  const pageAt = new Map(pages.map((page) => [page.path, page]));
  app.use((request, response, next) => {
    const page = pageAt.get(request.path);
    if (page === undefined) return next();
    sendAnswer(request, response, answerPage(request, page, urls), services);
  });
  app.get("/docs/*path", (request, response, next) => {
    const picture = readPicture(request.path);
    if (picture === null) return next();
    sendAnswer(request, response, withEtag(picture, request.get("If-None-Match")), services);
  });
  app.use((request) => {
    throw new Problem("route_not_found", `There is nothing at ${request.path}.`);
  });
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => {
    const problem = toProblem(error);
    if (problem.code === "route_not_found" && prefersHtml(request, "application/problem+json")) {
      const body = linkAt(request.hostname, urls, site.frame("Not found", notFound(request.path)));
      return sendAnswer(request, response, { status: 404, body, headers: pageHeaders() }, services);
    }
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

/** Answers a page as the client prefers it: as HTML, or as it is written. */
function answerPage(request: Request, { contentType, body, html }: ServedDocument, urls: Urls): Answer {
  if (request.method !== "GET" && request.method !== "HEAD")
    throw new Problem("method_not_allowed", "The documentation is read-only. Use GET or HEAD.", {
      headers: { Allow: "GET, HEAD" },
    });
  const vary = html && { Vary: "Accept" };
  if (html !== undefined && prefersHtml(request, contentType))
    return {
      status: 200,
      body: linkAt(request.hostname, urls, html()),
      headers: { ...pageHeaders(), ...vary },
    };
  const headers = { "Content-Type": contentType, "Cache-Control": "no-cache", ...vary };
  return { status: 200, body: body(request), headers };
}

function prefersHtml(request: Request, contentType: string): boolean {
  return request.accepts([mediaType(contentType), "text/html"]) === "text/html";
}

function notFound(path: string): string {
  const shown = escapeMarkup(path.slice(0, 200));
  return `<article><h1>Not found</h1><p>There is nothing at <code>${shown}</code>. Choose a page from the list, or search.</p></article>`;
}

/** Returns the function of each resource of the specification that renders it when it is first read. */
function resourceBodies(
  services: Services,
  operations: readonly Operation[],
): { readonly [P in DocumentationPath]: () => string } {
  const { urls } = services.settings;
  const { programs, chainId } = services.deployment;
  const program = programs[0]?.id ?? "";
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  return {
    "/portal/docs.md": () =>
      readPage("docs.md", urls)
        .replaceAll(/\bprg_demo\b/g, program)
        .replaceAll("chain id 31337", `chain id ${chainId}`),
    "/portal/capabilities.json": () => json(previewCapabilities(operations, urls)),
    "/portal/examples/purchase.json": () => json(fictionalPurchase(urls.docs)),
    "/portal/schemas/purchase.json": () => json(describeFictionalPurchase(urls.docs)),
    "/portal/openapi.json": () => json(describeDocumentation(urls.docs)),
    "/portal/llms.txt": () => readPage("llms.txt", urls),
  };
}

/** Returns a text of portal/ with the addresses of this sandbox. */
function readPage(file: string, urls: Urls): string {
  const page = findShippedFile(`/portal/${file}`);
  if (page === null) throw new Error(`portal/${file} is missing. Install the package again.`);
  return atAddresses(readFileSync(page, "utf8"), urls);
}

function renderPages(
  services: Services,
  operations: readonly Operation[],
): { site: DocumentSite; pages: ServedDocument[] } {
  const { urls } = services.settings;
  const bodies = resourceBodies(services, operations);
  const site = documentSite(once(bodies["/portal/docs.md"]), urls);
  // The first page that is asked for: it needs none of the values that take longer.
  const home = once(() => readPage("home.md", urls));
  const full = () => `${bodies["/portal/llms.txt"]()}\n${site.full()}`;
  const errors = once(() => errorIndex(urls.docs));
  const documents = site.groups.flatMap((group) => group.documents);
  const htmlOf = (path: string) => {
    const document = documents.find((one) => one.path === path);
    return document === undefined ? {} : { html: once(() => site.page(document)) };
  };
  const sections = once(() => [
    ...site.searchSections(),
    ...errorCodes.map(searchedError),
    ...operations.map(searchedOperation),
    ...eventTypeNames.map(searchedEvent),
  ]);
  const text = "text/plain; charset=utf-8";
  const pages: ServedDocument[] = [
    ...documentationResources.map(({ path, contentType }) => ({
      path,
      contentType,
      body: once(bodies[path]),
      ...htmlOf(path),
    })),
    { path: "/", contentType: markdown, body: home, html: once(() => site.markdownPage(home(), "/")) },
    ...documents
      .filter(({ path }) => !(path in bodies))
      .map(({ path, read }) => ({ path, contentType: markdown, body: read, ...htmlOf(path) })),
    {
      path: searchPath,
      contentType: "application/json; charset=utf-8",
      body: ({ query }) => JSON.stringify(findSections(String(query["q"] ?? ""), sections())),
    },
    { path: "/llms.txt", contentType: text, body: bodies["/portal/llms.txt"] },
    { path: "/llms-full.txt", contentType: text, body: full },
    {
      path: "/errors",
      contentType: markdown,
      body: errors,
      html: once(() => site.markdownPage(errors(), "/errors")),
    },
    ...errorCodes.map((code) => {
      const page = once(() => errorPage(code, operations));
      const html = once(() => site.markdownPage(page(), `/errors/${code}`));
      return { path: `/errors/${code}`, contentType: markdown, body: page, html };
    }),
  ];
  return { site, pages };
}

function readPicture(path: string): Answer | null {
  const file = isPicture(path) ? findShippedFile(path) : null;
  if (file === null) return null;
  const type = path.endsWith(".svg") ? "image/svg+xml; charset=utf-8" : "image/webp";
  return { status: 200, body: readFileSync(file), headers: { ...assetHeaders, "Content-Type": type } };
}

/** Explains a code as Markdown: what happened, what to do, which operations answer with it. */
function errorPage(code: ErrorCode, operations: readonly Operation[]): string {
  const { status, title, what, remedy, retryable } = errorCatalogue[code];
  const again = describeRetry(retryable);
  const met = operations
    .filter((operation) => codesOfOperation(operation).includes(code))
    .map(({ method, path, id }) => ({ request: `${method.toUpperCase()} ${path}`, id }));
  const anywhere = edgeCodes.some((one) => one === code)
    ? "Any request, on every host, before an operation sees it."
    : "Any request whose path or method is not one of the API's.";
  const lines = met.map(({ request, id }) => `- \`${request}\` (${id})`);
  return [
    `# ${title}\n`,
    `\`${code}\`, status ${status}. ${again}\n`,
    `## What happened\n\n${what}\n`,
    `## What to do\n\n${linkPages(remedy, "/docs/")}\n`,
    `## Where it is met\n\n${met.length === 0 ? anywhere : lines.join("\n")}\n`,
  ].join("\n");
}

/** An error code as the search index lists it, without its operations: a search for one of them does not ask for all of its codes. */
function searchedError(code: ErrorCode) {
  const { title, what, remedy } = errorCatalogue[code];
  const { sections } = renderMarkdown(`# ${code}\n\n${title}.\n\n${what}\n\n${remedy}\n`, () => null);
  const text = sections.map((section) => section.text).join("\n");
  return { document: "Error codes", url: `/errors/${code}`, heading: code, text };
}

/** An operation as the search index lists it: it leads to the reference. */
function searchedOperation({ id, method, path, summary, description }: Operation) {
  const text = `${method.toUpperCase()} ${path}\n${summary}. ${description}`;
  return { document: "API operations", url: `/reference/#/${tagOf(path)}/${id}`, heading: id, text };
}

/** A delivery as the search index lists it, by the id of its operation of the receiver: it leads to the reference. */
function searchedEvent(type: EventType) {
  const id = `on.${type}`;
  return {
    document: "Webhooks",
    url: `/reference/#/webhooks/${id}`,
    heading: id,
    text: eventTypes[type].description,
  };
}

function describeRetry(retryable: boolean | null): string {
  if (retryable === null)
    return "`retryable` of the response says whether the identical request may succeed later.";
  return retryable ? "The identical request may succeed later." : "The identical request fails again.";
}

/** The list of all error pages, as Markdown. */
function errorIndex(docsUrl: string): string {
  return `# Errors\n\nEvery refusal is \`application/problem+json\` (RFC 9457); its \`type\` is one of these pages.\n${errorsList(docsUrl, "/docs/")}`;
}
