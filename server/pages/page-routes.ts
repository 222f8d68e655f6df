import type { Request, Router } from "express";
import express from "express";
import { Problem } from "../errors/problem.ts";
import type { Answer } from "../http/answers/answer.ts";
import { sendAnswer } from "../http/answers/send.ts";
import type { Services, Urls } from "../http/services.ts";
import { escapeMarkup } from "../lib/escape-controls.ts";
import { answerAsset, withEtag } from "./assets.ts";
import { renderTemplate } from "./render-template.ts";
import { type PagePermissions, pageHeaders } from "./security-headers.ts";
import { urlsAt } from "./urls-at.ts";

/** The pages of one host. */
export interface Pages {
  /** By path, with Express's parameters: for the URLs of the sandbox as the page's browser reaches it. */
  pages: { readonly [path: string]: (urls: Urls) => Page };
  /** Paths that answer programs, too: there a page is for clients that prefer HTML. */
  negotiated?: readonly string[];
  /** Paths that are nothing for programs: there a client that prefers HTML is redirected to a page. */
  redirects?: { readonly [path: string]: string };
  /** The folders of portal/ whose scripts, styles and pictures are served below /assets. */
  folders: readonly string[];
}

/**
 * Serves pages and their assets, to GET and HEAD only.
 *
 * @throws Problem method_not_allowed, route_not_found: to the handler of the host's errors.
 */
export function pageRoutes(
  { pages, negotiated = [], redirects = {}, folders }: Pages,
  services: Pick<Services, "wait" | "settings">,
): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  for (const [path, page] of Object.entries(pages)) {
    const shared = negotiated.includes(path);
    // All methods, because a router would answer OPTIONS itself where only GET is known.
    router.all(path, (request, response, next) => {
      const reads = request.method === "GET" || request.method === "HEAD";
      if (shared) response.vary("Accept");
      if (shared && !(reads && prefersHtml(request))) next();
      else if (!reads) refuseMethod();
      else {
        const shown = page(urlsAt(request.hostname, services.settings.urls));
        sendAnswer(request, response, answerPage(shown, request.get("If-None-Match")), services);
      }
    });
  }
  for (const [path, page] of Object.entries(redirects))
    router.get(path, (request, response, next) => {
      response.vary("Accept");
      if (prefersHtml(request)) response.redirect(302, page);
      else next();
    });
  router.get("/assets/*path", (request, response) => {
    const path = decodePath(request.path.slice("/assets/".length));
    const answer = answerAsset(path, folders, request.get("If-None-Match"));
    if (answer === null) throw new Problem("route_not_found", `There is nothing at ${request.path}.`);
    sendAnswer(request, response, answer, services);
  });
  router.all("/assets/*path", refuseMethod);
  return router;
}

function prefersHtml(request: Request): boolean {
  return request.accepts(["application/json", "text/html"]) === "text/html";
}

/** Assets have plain names: what is percent-encoded names none. */
function decodePath(path: string): string {
  return /^[a-z0-9./-]+$/i.test(path) ? path : "";
}

function refuseMethod(): never {
  throw new Problem("method_not_allowed", "Pages are read-only. Use GET or HEAD.", {
    headers: { Allow: "GET, HEAD" },
  });
}

/** A page: a file of portal/ and what it is filled in with. */
export interface Page extends PagePermissions {
  /** Below portal/, as in `wallet/page.html`. */
  file: string;
  /** Texts for its `{{name}}`s; markup in them is shown as text. */
  values?: { readonly [name: string]: string };
}

/** Answers a page under its strict Content-Security-Policy, with an ETag. */
function answerPage(page: Page, ifNoneMatch: string | undefined): Answer {
  const { file, values = {} } = page;
  const escaped = Object.entries(values).map(([name, value]) => [name, escapeMarkup(value)]);
  const body = renderTemplate(file, Object.fromEntries(escaped));
  return withEtag({ status: 200, body, headers: pageHeaders(page) }, ifNoneMatch);
}
