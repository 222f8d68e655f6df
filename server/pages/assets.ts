import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
// The whole module: an older Node, which the package refuses by name, has no stripTypeScriptTypes to import.
import * as modules from "node:module";
import { dirname, join } from "node:path";
import type { Answer } from "../http/answers/answer.ts";
import { once } from "../lib/once.ts";
import { assetHeaders } from "./security-headers.ts";

const portal = new URL("../../portal/", import.meta.url);
const require = modules.createRequire(import.meta.url);

const contentTypes: { readonly [extension: string]: string } = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  ts: "text/javascript; charset=utf-8",
  svg: "image/svg+xml; charset=utf-8",
};

/** The files of packages that pages load, by their path below vendor/. Node resolves lit-html to its build for servers, next to the browser's. */
const vendorFiles: { readonly [path: string]: () => string } = {
  "vendor/lit-html/lit-html.js": () => litHtml("lit-html.js"),
  "vendor/lit-html/directive.js": () => litHtml("directive.js"),
  "vendor/lit-html/directive-helpers.js": () => litHtml("directive-helpers.js"),
  "vendor/lit-html/directives/live.js": () => litHtml("directives/live.js"),
  "vendor/lit-html/directives/repeat.js": () => litHtml("directives/repeat.js"),
  "vendor/swagger-ui/swagger-ui.css": () => require.resolve("swagger-ui-dist/swagger-ui.css"),
  "vendor/swagger-ui/swagger-ui-bundle.js": () => require.resolve("swagger-ui-dist/swagger-ui-bundle.js"),
};

function litHtml(file: string): string {
  return join(dirname(require.resolve("lit-html")), "..", file);
}

/** Browser modules without their types, by the SHA-256 of their source. */
const stripped = new Map<string, string>();

/**
 * Returns the files of portal/ that are served, by their path below it: a path that is not in this list does not exist.
 */
const listFiles = once(() =>
  readdirSync(portal, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !path.endsWith(".d.ts") && extensionOf(path) in contentTypes),
);

/**
 * Answers a stylesheet, a picture or a browser module of portal/, or one of a package, with an ETag.
 *
 * Pages name their first module `main.js`, and modules name each other as they do in the source: where only the TypeScript is there, it
 * is served without its types.
 *
 * @param path - below portal/, as in `wallet/main.js`.
 * @param folders - the folders of portal/ that this host serves.
 * @returns null when there is no such file.
 */
export function answerAsset(
  path: string,
  folders: readonly string[],
  ifNoneMatch: string | undefined,
): Answer | null {
  if (!folders.some((folder) => path.startsWith(`${folder}/`))) return null;
  const body = readAsset(path);
  if (body === null) return null;
  const headers = { ...assetHeaders, "Content-Type": contentTypes[extensionOf(path)] ?? "" };
  return withEtag({ status: 200, body, headers }, ifNoneMatch);
}

/** The answer with the ETag of its bytes, or 304 when the client has them. */
export function withEtag(answer: Answer, ifNoneMatch: string | undefined): Answer {
  const etag = `"${hash("sha256", answer.body, "base64url").slice(0, 27)}"`;
  const known = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  const headers = { ...answer.headers, ETag: etag };
  return known.includes(etag) ? { status: 304, body: "", headers } : { ...answer, headers };
}

/** Returns the text of a file of portal/, or of a package, as pages load it; null when there is none. */
export function readAsset(path: string): string | null {
  const vendor = vendorFiles[path];
  if (vendor !== undefined) return readFileSync(vendor(), "utf8");
  const source = listFiles().includes(path) ? path : path.replace(/\.js$/, ".ts");
  if (!listFiles().includes(source)) return null;
  const text = readFileSync(new URL(source, portal), "utf8");
  return extensionOf(source) === "ts" ? stripTypes(text) : text;
}

function stripTypes(source: string): string {
  const key = hash("sha256", source);
  const known = stripped.get(key) ?? modules.stripTypeScriptTypes(source);
  stripped.set(key, known);
  return known;
}

function extensionOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}
