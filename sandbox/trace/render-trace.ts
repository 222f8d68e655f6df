import { posix } from "node:path";
import { toChainTimestamp } from "../../protocol/values/time.ts";
import { redact } from "../../server/http/redact.ts";
import { escapeMarkup } from "../../server/lib/escape-controls.ts";
import { once } from "../../server/lib/once.ts";
import { readAsset } from "../../server/pages/assets.ts";
import { renderTemplate } from "../../server/pages/render-template.ts";
import type { TraceData, TraceEntry, TraceFailure, TraceView } from "./trace-view.ts";

const addresses = /\b0x[0-9a-fA-F]{40}\b/g;

/** Unix seconds after the word that says that they are a time. */
const seconds = /(?<=\b(?:timestamp|\w*[dD]eadline|validUntil|mined at) \(?)\d{10}\b/g;

/**
 * Adds what a person reads to a sentence: its label to each address that is not named already, and the date to each time in Unix seconds.
 *
 * @example annotate("DeadlinePassed(deadline 1767225600)", {}) // "DeadlinePassed(deadline 1767225600 (2026-01-01T00:00:00Z))"
 */
function annotate(text: string, labels: { [address: string]: string }): string {
  return text
    .replaceAll(addresses, (address, offset: number) => {
      const label = labels[address.toLowerCase()];
      return label === undefined || endsWithLabel(text.slice(0, offset), label)
        ? address
        : `${address} (${label})`;
    })
    .replaceAll(seconds, (time) => `${time} (${toChainTimestamp(Number(time))})`);
}

/** Returns whether a text ends with a label, and then with what sets off the address: "buyer 0x…", "the token contract (0x…". */
function endsWithLabel(text: string, label: string): boolean {
  return text
    .slice(-label.length - 4)
    .replace(/[^\w"]+$/, "")
    .endsWith(label);
}

/** Nothing of the page asks another host, or any host. */
const policy =
  "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/**
 * Writes a trace as one HTML file: the explorer's page with its modules, its styles and all data in it.
 *
 * @param labels - the labels of addresses.
 */
export function renderTrace(data: TraceData, labels: { [address: string]: string }): string {
  const { trace } = data;
  // The data must not end its element.
  const json = redact(JSON.stringify(data)).replaceAll("<", "\\u003c");
  const [before = "", after = ""] = template().split(mark);
  const title = escapeMarkup(trace.test ?? "Trace");
  return [
    before.replace(/<title>.*?<\/title>/, () => `<title>${title}</title>`),
    `<pre>${escapeMarkup(redact(summarize(trace, labels)))}</pre>`,
    after.replace("</body>", () => `<script type="application/json" id="trace">${json}</script></body>`),
  ].join("");
}

/** The part of the page that it shows before its modules run. */
const mark = "<p>Reading the overview …</p>";

/** The page with its files in it. */
const template = once(() =>
  renderTemplate("explorer/page.html", { docs_url: "" })
    // The documentation host is not there when a trace is read.
    .replace(/ <a href="\/portal\/docs\.md">Guide<\/a>/, "")
    .replace("<head>", () => `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`)
    .replaceAll(
      /<link rel="stylesheet" href="\/assets\/([^"]+)">/g,
      (_, path: string) => `<style>${read(path)}</style>`,
    )
    .replaceAll(
      /<link rel="icon" href="\/assets\/([^"]+)"/g,
      (_, path: string) => `<link rel="icon" href="${asUrl("image/svg+xml", read(path))}"`,
    )
    .replaceAll(/<script type="module" src="\/assets\/([^"]+)"><\/script>/g, (_, path: string) =>
      inlineModules(path),
    ),
);

/**
 * Returns a module with all that it imports as data URLs in an import map: a page that is opened from the disk may not load other files.
 * The modules name each other by their paths below portal/.
 */
function inlineModules(main: string): string {
  const urls = new Map<string, string>();
  const add = (path: string): void => {
    if (urls.has(path)) return;
    urls.set(path, "");
    const named = read(path).replaceAll(
      /(\bfrom\s*|\bimport\s*)(["'])(\.{1,2}\/[^"']+)\2/g,
      (_, keyword: string, quote: string, relative: string) => {
        const imported = posix.join(posix.dirname(path), relative).replace(/\.ts$/, ".js");
        add(imported);
        return `${keyword}${quote}${imported}${quote}`;
      },
    );
    urls.set(path, asUrl("text/javascript", named.replaceAll(/^\/\/# sourceMappingURL=.*$/gm, "")));
  };
  add(main);
  const imports = Object.fromEntries(urls);
  return `<script type="importmap">${JSON.stringify({ imports })}</script><script type="module">import "${main}";</script>`;
}

function read(path: string): string {
  const text = readAsset(path);
  if (text === null) throw new Error(`portal/${path} does not exist.`);
  return text;
}

function asUrl(type: string, text: string): string {
  return `data:${type};base64,${Buffer.from(text).toString("base64")}`;
}

/** A trace as text, for readers without a browser: the failures with the decisive entry, then what was refused or failed, then everything. */
function summarize(
  { test, failures, entries, left_out, snapshot, decisive, fault, preparation }: TraceView,
  labels: { [address: string]: string },
): string {
  const bad = entries.filter(({ outcome }) => outcome !== "ok");
  const line = (entry: TraceEntry) => annotate(describeEntry(entry), labels);
  const numbered = (wanted: number | null) =>
    entries.filter(({ number }) => number === wanted).map((entry) => line(entry));
  return [
    test ?? "A trace of a sandbox",
    ...failures.flatMap(describeFailure),
    ...numbered(decisive).map((text) => `Last failure\n${text}`),
    ...numbered(fault).map((text) => `Fault\n${text}`),
    ...(snapshot === null
      ? []
      : [
          `The snapshot file ${snapshot} is in the folder of this file. To start a sandbox from it, run there: npx routing-sandbox start --from ${snapshot} --data-dir ${snapshot}.data`,
        ]),
    ...(left_out.length === 0 ? [] : [`Left out\n${left_out.join("\n")}`]),
    `Refused or failed\n${bad.length === 0 ? "nothing" : bad.map(line).join("\n")}`,
    `Timeline${preparation === 0 ? "" : `, of which ${preparation} prepared the test`}\n${entries.map(line).join("\n")}`,
  ].join("\n\n");
}

function describeFailure({ message, diff, at, code }: TraceFailure): string[] {
  const place = at === null ? [] : [[at.file, at.line, at.column].filter((part) => part !== null).join(":")];
  const excerpt = code.map(({ line, text }) => `${line === at?.line ? ">" : " "} ${line} | ${text}`);
  return [message, ...(diff === null ? [] : [diff]), ...place, excerpt.join("\n")];
}

function describeEntry({ number, layer, outcome, title, detail, causes, checks }: TraceEntry): string {
  const failed = checks.filter(({ ok }) => !ok);
  return [
    `${number}. [${layer}, ${outcome}] ${title}`,
    ...(detail === null ? [] : [`   ${detail}`]),
    ...causes.map((sentence) => `   ${sentence}`),
    ...failed.map(
      ({ name, expected, actual }) => `   ${name}: expected ${show(expected)}, actual ${show(actual)}`,
    ),
  ].join("\n");
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}
