import type { Explanation, Frame } from "../../../../sandbox/hosts/explain/explanation.ts";
import type {
  EventView,
  RelayOperationView,
  RequestViews,
  ViewPage,
} from "../../../../sandbox/hosts/explorer/views.ts";
import type { TraceEntry, TraceFailure, TraceView } from "../../../../sandbox/hosts/trace/trace-view.ts";
import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { ask, read } from "../../api.ts";
import { recordedTrace } from "../../data/recorded.ts";
import { formatTime, shorten } from "../../format.ts";
import { hrefTo } from "../../page-address.ts";
import { checks, empty, purchaseLink, transaction } from "../../templates.ts";
import { defineView, type Scene } from "../../view.ts";
import { eventCard } from "../events.ts";
import { operationCard } from "../operations.ts";
import { explanation } from "../transaction.ts";
import { requestRow } from "./requests.ts";

/** A trace with the objects that its entries are about. */
interface TraceParts {
  trace: TraceView;
  requests: RequestViews;
  operations: ViewPage<RelayOperationView>;
  events: ViewPage<EventView>;
  /** The explanations that are in the trace, by transaction hash. */
  explanations: ReadonlyMap<string, Explanation>;
}

const layers = ["api", "chain", "relayer", "delivery", "fault", "clock"];
const outcomes = ["ok", "refused", "failed"];

/** The first page of a trace: the failed test with its code, and everything that happened on one timeline. */
export const trace = defineView<TraceParts>({
  title: () => recordedTrace().test ?? "Trace",
  topics: [],
  load,
  draw: (parts, scene) => {
    const { trace: shown } = parts;
    const { query, id } = scene.pageAddress;
    const entries = shown.entries.filter((entry) => isAsked(entry, query));
    requestAnimationFrame(() => document.getElementById(`entry-${id}`)?.scrollIntoView({ block: "center" }));
    return html`<h1 tabindex="-1">${shown.test ?? "Trace"}</h1>
      ${shown.failures.map(failure)} ${source(shown)}
      <section class="stack" aria-labelledby="timeline">
        <h2 id="timeline">Timeline</h2>
        ${filter(shown, scene)}
        ${
          entries.length === 0
            ? empty(query.size > 0 ? "Nothing is like that." : "Nothing has happened.")
            : html`<div class="panel"><ol class="timeline">${entries.map((entry) => row(entry, parts, scene))}</ol></div>`
        }
      </section>`;
  },
});

async function load(): Promise<TraceParts> {
  const shown = recordedTrace();
  const hashes = shown.entries.flatMap(({ about }) => (about?.type === "transaction" ? [about.hash] : []));
  const [requests, operations, events, ...explained] = await Promise.all([
    ask<RequestViews>("GET", "/requests"),
    read<ViewPage<RelayOperationView>>("/operations"),
    read<ViewPage<EventView>>("/events"),
    ...hashes.map(async (hash) => await ask<Explanation>("GET", `/explain/${hash}`).catch(() => null)),
  ]);
  const known = explained.flatMap((one) => (one === null ? [] : [[one.transaction_hash, one] as const]));
  return { trace: shown, requests, operations, events, explanations: new Map(known) };
}

function isAsked({ layer, outcome, purchases }: TraceEntry, query: URLSearchParams): boolean {
  const wanted = (name: string) => query.get(name) ?? "";
  if (wanted("layer") !== "" && wanted("layer") !== layer) return false;
  if (wanted("outcome") === "bad" && outcome === "ok") return false;
  if (outcomes.includes(wanted("outcome")) && wanted("outcome") !== outcome) return false;
  return wanted("purchase") === "" || purchases.includes(wanted("purchase"));
}

/** The assertion that failed, with the code around it. */
function failure({ message, diff, at, code }: TraceFailure): TemplateResult {
  return html`<section class="panel failure" aria-label="Failure">
    <pre class="error" tabindex="0">${message}</pre>
    ${diff === null ? nothing : html`<pre tabindex="0" aria-label="Difference">${diff}</pre>`}
    ${at === null ? nothing : html`<p class="small quiet">${at.file}:${at.line}:${at.column}</p>`}
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

function source({ snapshot, snapshot_problem, written }: TraceView): TemplateResult {
  return html`<p class="small quiet">
    Written at ${formatTime(written)} UTC.
    ${
      snapshot === null
        ? snapshot_problem === null
          ? nothing
          : html`There is no snapshot file: ${snapshot_problem}`
        : html`Continue from this moment: <code>routing-sandbox start --from ${snapshot}</code>`
    }
  </p>`;
}

function filter({ entries }: TraceView, { pageAddress: { query } }: Scene): TemplateResult {
  const narrow = (event: Event) => {
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const form = new FormData(event.currentTarget);
    const given = Object.fromEntries(
      ["purchase", "layer", "outcome"].map((name) => [name, String(form.get(name))]),
    );
    location.hash = hrefTo("", "", given);
  };
  const purchases = [...new Set(entries.flatMap((entry) => entry.purchases))];
  const choice = (name: string, label: string, any: string, values: readonly (readonly [string, string])[]) =>
    html`<div class="field">
      <label for=${name}>${label}</label>
      <select id=${name} name=${name}>
        <option value="">${any}</option>
        ${values.map(
          ([given, text]) =>
            html`<option value=${given} ?selected=${query.get(name) === given}>${text}</option>`,
        )}
      </select>
    </div>`;
  return html`<form class="filter" role="search" aria-label="Timeline" @change=${narrow}>
    ${choice("outcome", "Outcome", "any", [
      ["bad", "refused or failed"] as const,
      ...outcomes.map((name) => [name, name] as const),
    ])}
    ${choice(
      "layer",
      "Layer",
      "all",
      layers.map((name) => [name, name] as const),
    )}
    ${choice(
      "purchase",
      "Purchase",
      "all",
      purchases.map((id) => [id, shorten(id)] as const),
    )}
  </form>`;
}

const tones = { ok: "", refused: "bad", failed: "bad" } as const;
const dots = { ok: "created", refused: "refused", failed: "refused" } as const;

/** One entry: its sentence, the reason with the differing fields, and everything else folded. */
function row(entry: TraceEntry, parts: TraceParts, scene: Scene): TemplateResult {
  const { number, layer, outcome, at, title, detail, purchases } = entry;
  const failed = entry.checks.filter(({ ok }) => !ok);
  const isLinked = scene.pageAddress.id === String(number);
  return html`<li id=${`entry-${number}`} class=${`moment ${dots[outcome]} ${layer} ${isLinked ? "linked" : ""}`}>
    <p class="when">
      <a href=${hrefTo("timeline", String(number))} aria-label=${`Link to entry ${number}`}>${number}</a>
      ${at === null ? nothing : html`<time datetime=${at} title=${`${at}, sandbox time`}>${at.slice(5, 10)} ${at.slice(11, 19)}</time>`}
    </p>
    <div class="what">
      <p class="row">
        <span class="badge">${layer}</span>
        ${outcome === "ok" ? nothing : html`<span class=${`badge ${tones[outcome]}`}>${outcome}</span>`}
        <strong>${title}</strong>
      </p>
      ${detail === null ? nothing : html`<p class=${outcome === "ok" ? "" : "error"}>${detail}</p>`}
      ${failed.length === 0 ? nothing : checks(failed)}
      ${purchases.length === 0 ? nothing : html`<p class="row small">${purchases.map(purchaseLink)}</p>`}
      ${more(entry, parts, scene)}
    </div>
  </li>`;
}

/** Everything about an entry's object, by the templates of its own view. */
function more({ about }: TraceEntry, parts: TraceParts, scene: Scene): TemplateResult | typeof nothing {
  if (about === null) return nothing;
  switch (about.type) {
    case "request": {
      const found = parts.requests.data.find(({ number }) => number === about.number);
      return found === undefined ? nothing : folded("Request and answer", requestRow(found, scene));
    }
    case "transaction": {
      const explained = parts.explanations.get(about.hash);
      return html`<p class="row small">${transaction(about.hash)}</p>
        ${explained?.trace == null ? nothing : folded("Calls", html`<ul class="calls plain">${callTree(explained.trace)}</ul>`)}
        ${explained === undefined ? nothing : folded("Explanation", explanation(explained))}`;
    }
    case "operation": {
      const found = parts.operations.data.find(({ id }) => id === about.id);
      return found === undefined ? nothing : folded("Relay operation", operationCard(found, scene));
    }
    case "event": {
      const found = parts.events.data.find(({ id }) => id === about.id);
      return found === undefined ? nothing : folded("Event", eventCard(found, scene));
    }
    default:
      return nothing;
  }
}

function folded(name: string, content: TemplateResult): TemplateResult {
  return html`<details><summary>${name}</summary><div class="stack">${content}</div></details>`;
}

/** A call with the calls that it made, and where it failed. */
function callTree({ type, contract, call, failure: reason, calls }: Frame): TemplateResult {
  return html`<li class="small">
    <code>${call}</code> of ${contract} <span class="quiet">${type.toLowerCase()}</span>
    ${reason === null ? nothing : html`<span class="error">${reason}</span>`}
    ${calls.length === 0 ? nothing : html`<ul class="calls plain">${calls.map(callTree)}</ul>`}
  </li>`;
}
