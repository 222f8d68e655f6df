import { readFileSync } from "node:fs";
import type { Urls } from "../../http/services.ts";
import { escapeMarkup } from "../../lib/escape-controls.ts";
import { once } from "../../lib/once.ts";
import { atAddresses } from "../at-addresses.ts";
import { findShippedFile } from "../shipped-file.ts";
import type { SearchSection } from "./find-sections.ts";
import { type RenderedDocument, renderMarkdown } from "./render-markdown.ts";

/** The path of the search: `?q=` has its words. */
export const searchPath = "/docs/search.json";

/** The title of a document and its first paragraph, if that comes next. */
const beginning = /<\/h1>\n(?:<p>.*?<\/p>\n)?/s;

/** All documents as pages that lead to each other. */
export interface DocumentSite {
  groups: readonly DocumentGroup[];
  /** A document as a page. */
  page: (document: Document) => string;
  /** Markdown that is none of the documents as a page, such as an error code's explanation. */
  markdownPage: (markdown: string, path: string) => string;
  /** A page around HTML. */
  frame: (title: string, content: string) => string;
  /** Every section of every document, for search. */
  searchSections: () => SearchSection[];
  /** All documents in one text. */
  full: () => string;
}

/**
 * Makes pages of the documents: navigation by kind of reader, the sections of each, and what a search needs.
 *
 * @param guide - the guide's Markdown, filled in for this sandbox.
 * @param urls - the addresses of this sandbox: the documents are written with the default ones.
 */
export function documentSite(guide: () => string, urls: Urls): DocumentSite {
  const groups = documentGroups(guide, urls);
  const documents = groups.flatMap(({ documents }) => documents);
  const served = new Set([...documents.map(({ path }) => path), "/", "/errors"]);
  const rendered = new Map(
    documents.map((document) => [
      document,
      once(() => renderMarkdown(document.read(), (href) => resolveLink(href, document.path, served))),
    ]),
  );
  const renderedOf = (document: Document): RenderedDocument =>
    rendered.get(document)?.() ?? renderMarkdown(document.read(), (href) => href);
  const frame = (title: string, content: string, current = "") =>
    layout(title, navigation(groups, urls.api, current), content);
  const pageOf = ({ html, sections }: RenderedDocument, current: string) => {
    const list = sections
      .filter(({ depth }) => depth === 2)
      .map(({ anchor, heading }) => `<li><a href="#${anchor}">${escapeMarkup(heading)}</a></li>`);
    const contents =
      list.length < 3
        ? ""
        : `<details class="contents" open><summary>On this page</summary><nav aria-label="On this page"><ul>${list.join("")}</ul></nav></details>\n`;
    const article = `<article>${html.replace(beginning, (begun) => begun + contents)}</article>`;
    return frame(sections[0]?.heading ?? "", article, current);
  };
  return {
    groups,
    frame,
    page: (document) => pageOf(renderedOf(document), document.path),
    markdownPage: (markdown, path) =>
      pageOf(
        renderMarkdown(markdown, (href) => resolveLink(href, path, served)),
        path,
      ),
    searchSections: () =>
      documents.flatMap((document) =>
        renderedOf(document).sections.map(({ anchor, heading, text }) => ({
          document: document.title,
          url: `${document.path}#${anchor}`,
          heading,
          text,
        })),
      ),
    full: () => documents.map(({ path, read }) => `<!-- ${path} -->\n\n${read().trim()}\n`).join("\n"),
  };
}

/** Resolves a link of a document; null when this host does not serve its target. */
function resolveLink(href: string, from: string, served: ReadonlySet<string>): string | null {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href;
  const { pathname, hash } = new URL(href, new URL(from, "http://documentation.invalid"));
  if (served.has(pathname)) return pathname + hash;
  return isPicture(pathname) && findShippedFile(pathname) !== null ? pathname : null;
}

/** Returns whether a path is that of a picture of the documents. */
export function isPicture(path: string): boolean {
  return /^\/docs\/[a-z0-9/-]+\.(?:webp|svg)$/.test(path);
}

function navigation(groups: readonly DocumentGroup[], apiUrl: string, current: string): string {
  const link = (path: string, title: string) =>
    `<li><a href="${escapeMarkup(path)}"${path === current ? ' aria-current="page"' : ""}>${escapeMarkup(title)}</a></li>`;
  const extra: { [group: string]: string } = {
    Reference: link(`${apiUrl}/reference/`, "API operations") + link("/errors", "Error codes"),
  };
  return groups
    .map(({ title, documents }) => {
      const links = documents.map(({ path, title: name }) => link(path, name)).join("");
      return `<h2>${escapeMarkup(title)}</h2><ul>${extra[title] ?? ""}${links}</ul>`;
    })
    .join("\n");
}

const siteTitle = "Routing sandbox";

function layout(title: string, links: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeMarkup(title === siteTitle ? title : `${title} · ${siteTitle}`)}</title>
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/assets/style/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style/base.css">
<link rel="stylesheet" href="/assets/documentation/documentation.css">
<script type="module" src="/assets/documentation/main.js"></script>
</head>
<body class="documentation">
<a class="skip" href="#content">Skip to the content</a>
<header>
<p class="brand"><a href="/">${siteTitle}</a></p>
<search><form id="search"><input type="search" name="q" placeholder="Search" aria-label="Search the documentation" aria-controls="found" autocomplete="off"></form></search>
</header>
<div class="columns">
<details class="menu" open><summary>All pages</summary><nav aria-label="Documentation">
${links}
</nav></details>
<main id="content" tabindex="-1">
<section id="found" aria-label="Search results" aria-live="polite" hidden></section>
<div id="read" class="read">
${content}
</div>
</main>
</div>
</body>
</html>
`;
}

/** One document that the documentation host serves, as Markdown and as a page. */
interface Document {
  /** The path that it is served at; its relative links lead to the others. */
  path: string;
  title: string;
  /** Markdown. */
  read: () => string;
}

/** Documents that are for one kind of reader. */
interface DocumentGroup {
  title: string;
  documents: readonly Document[];
}

/** The documents of each group, by path, in the order of the navigation. */
const groups: readonly (readonly [
  title: string,
  documents: readonly (readonly [path: string, title: string])[],
])[] = [
  [
    "Integrate",
    [
      ["/docs/tests.md", "Write tests"],
      ["/docs/states.md", "States"],
      ["/docs/faults.md", "Faults"],
      ["/docs/notifications.md", "Notifications"],
      ["/docs/time.md", "Time"],
      ["/docs/snapshots.md", "Snapshots"],
      ["/docs/scenarios.md", "Scenarios"],
      ["/docs/check-client.md", "Check a client"],
      ["/docs/explore.md", "Explore"],
      ["/docs/browser.md", "Browser tests"],
      ["/docs/ci.md", "Run in CI"],
      ["/docs/languages.md", "Other languages"],
      ["/docs/pool.md", "Pool"],
      ["/docs/agents.md", "Agents"],
    ],
  ],
  [
    "Contracts",
    [
      ["/docs/binding.md", "Binding checks"],
      ["/docs/explain.md", "Explain"],
      ["/docs/check-contract.md", "Check a contract"],
      ["/docs/contracts.md", "Contracts"],
    ],
  ],
  [
    "Run it",
    [
      ["/README.md", "README"],
      ["/docs/cli.md", "Command line"],
      ["/docs/store.md", "Data and PostgreSQL"],
      ["/docs/public-network.md", "Public networks"],
      ["/docs/pages.md", "Pages"],
      ["/docs/security.md", "Security"],
      ["/docs/performance.md", "Performance"],
    ],
  ],
  [
    "Reference",
    [
      ["/docs/api.md", "API behavior"],
      ["/docs/options.md", "Options of createSandbox"],
      ["/docs/control.md", "Control API"],
      ["/docs/rpc.md", "Chain RPC"],
      ["/CHANGELOG.md", "Changelog"],
    ],
  ],
  [
    "Inside",
    [
      ["/docs/relayer.md", "Relayer"],
      ["/docs/dependencies.md", "Dependencies"],
    ],
  ],
];

/** The guide, which comes first: it is filled in for this sandbox. */
const guidePath = "/portal/docs.md";

/**
 * Lists the documents by kind of reader, the guide first.
 *
 * @param guide - the guide's Markdown.
 * @param urls - the addresses of this sandbox.
 */
function documentGroups(guide: () => string, urls: Urls): DocumentGroup[] {
  const listed = groups.map(([title, documents]) => ({
    title,
    documents: documents.flatMap(([path, name]): Document[] => {
      const file = findShippedFile(path);
      return file === null
        ? []
        : [{ path, title: name, read: () => atAddresses(readFileSync(file, "utf8"), urls) }];
    }),
  }));
  const [integrate, ...others] = listed;
  const first = { path: guidePath, title: "Guide", read: guide };
  return [{ title: integrate?.title ?? "", documents: [first, ...(integrate?.documents ?? [])] }, ...others];
}
