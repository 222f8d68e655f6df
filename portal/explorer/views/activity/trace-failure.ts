import type {
  TraceEntry,
  TraceFailure,
  TraceOutcome,
  TraceView,
} from "../../../../sandbox/trace/trace-view.ts";
import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { formatTime, type Measure } from "../../format.ts";
import { hrefTo } from "../../page-address.ts";
import type { Template } from "../../templates/templates.ts";
import { linked } from "../../templates/text.ts";

/** The errors that ended the test, with what in the sandbox led to them. */
export function failures({ failures: list, ...trace }: TraceView, measure: Measure): Template {
  if (list.length === 0) return nothing;
  return html`${list.map((one, index) => {
    const isFirst = index === 0;
    const name = isFirst ? "Failure" : `Failure ${index + 1}`;
    return failure(one, name, isFirst ? course(trace, measure) : nothing, measure);
  })}`;
}

/** One error: its message, what led to it, its place and the code around that. */
function failure(
  { message, diff, at, code }: TraceFailure,
  name: string,
  led: Template,
  { labels }: Measure,
): TemplateResult {
  return html`<section class="panel failure" aria-label=${name}>
    <pre class="error" tabindex="0">${linked(message, labels)}</pre>
    ${diff === null ? nothing : html`<pre tabindex="0" aria-label="Difference">${diff.split("\n").map(diffLine)}</pre>`} ${led}
    ${at === null ? nothing : html`<p class="small quiet">${[at.file, at.line, at.column].filter((part) => part !== null).join(":")}</p>`}
    ${
      code.length === 0
        ? nothing
        : html`<pre class="frame" tabindex="0" aria-label="Code">${code.map(
            ({ line, text }) =>
              html`<span class=${line === at?.line ? "differs" : ""}>${`${line === at?.line ? ">" : " "} ${String(line).padStart(4)} | ${text}\n`}</span>`,
          )}</pre>`
    }
  </section>`;
}

/** A line of a difference: that of objects marks its lines with a minus or a plus, that of two texts or numbers with words. */
function diffLine(line: string): TemplateResult {
  const side = /^(?:-|Expected: )/.test(line) ? "expected" : /^(?:\+|Received: )/.test(line) ? "actual" : "";
  return html`<span class=${side}>${line}\n</span>`;
}

/** The reason of an entry in one sentence; the detail of a refused request only lists the names of the checks that its causes explain. */
export function reasonOf({ about, detail, causes }: TraceEntry): string | null {
  return about?.type === "request" ? (causes[0] ?? detail) : detail;
}

/** The entry that decided the test, and the fault that acted, each with a link into the timeline. */
function course({ entries, decisive, fault }: Omit<TraceView, "failures">, measure: Measure): TemplateResult {
  const entryOf = (wanted: number | null) => entries.find(({ number }) => number === wanted);
  const decided = entryOf(decisive);
  const acted = entryOf(fault);
  return html`<dl class="facts course">
    <dt>Last failure</dt>
    <dd>${decided === undefined ? "No request and no transaction was refused or failed." : entryLink(decided, measure)}</dd>
    ${acted === undefined ? nothing : html`<dt>Fault</dt><dd>${entryLink(acted, measure)}</dd>`}
  </dl>`;
}

function entryLink(entry: TraceEntry, { labels }: Measure): TemplateResult {
  const { number, layer, outcome, title } = entry;
  const reason = reasonOf(entry);
  return html`<span class="row">
      <a href=${hrefTo("timeline", String(number))}>Entry ${number}</a> <span class="badge">${layer}</span>
      ${outcomeBadge(outcome)} <strong>${linked(title, labels)}</strong>
    </span>
    ${reason === null ? nothing : html`<span class="reason">${linked(reason, labels)}</span>`}`;
}

/** The outcome of an entry; none for one that went well. */
export function outcomeBadge(outcome: TraceOutcome): Template {
  if (outcome === "ok") return nothing;
  if (outcome === "open") return html`<span class="badge warn">no response</span>`;
  return html`<span class="badge bad">${outcome}</span>`;
}

/** When the trace was written, where its snapshot file is, and how to start from it. */
export function traceSource({ snapshot, snapshot_problem, written, left_out }: TraceView): TemplateResult {
  return html`<div class="small quiet">
    <p>Written at ${formatTime(written)} UTC.</p>
    ${left_out.map((sentence) => html`<p>${sentence}</p>`)}
    ${
      snapshot === null
        ? snapshot_problem === null
          ? nothing
          : html`<p>There is no snapshot file: ${snapshot_problem}</p>`
        : html`<p>The snapshot file <code>${snapshot}</code> is in the folder of this file. Start a sandbox from it:</p>
          <pre class="command" tabindex="0" aria-label="Command">npx routing-sandbox start --from ${quoted(`${folder()}${snapshot}`)} --data-dir ${quoted(`${snapshot}.data`)}</pre>`
    }
  </div>`;
}

/** The folder of this file, if it was opened from the disk. */
function folder(): string {
  if (location.protocol !== "file:") return "";
  return decodeURIComponent(location.pathname).replace(/[^/]*$/, "");
}

/** A path as a shell reads it. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
