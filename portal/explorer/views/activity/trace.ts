import type { RequestViews } from "../../../../sandbox/activity/views.ts";
import type { Explanation } from "../../../../sandbox/explain/explanation.ts";
import type { EventView, RelayOperationView } from "../../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../../sandbox/lib/page.ts";
import type { TraceEntry, TraceView } from "../../../../sandbox/trace/trace-view.ts";
import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { readExplorer, requestControl } from "../../api.ts";
import { recordedTrace } from "../../data/recorded.ts";
import { shortenId } from "../../format.ts";
import { hrefTo } from "../../page-address.ts";
import { checks } from "../../templates/checks.ts";
import { wide } from "../../templates/lists.ts";
import { empty, folded, purchaseLink, type Template, transaction } from "../../templates/templates.ts";
import { linked } from "../../templates/text.ts";
import { defineView, type ViewContext } from "../../view.ts";
import { eventDetails } from "../events.ts";
import { operationDetails } from "../relay-operations.ts";
import { explanation, hasDifference, transactionDetails } from "../transaction.ts";
import { requestDetails } from "./requests.ts";
import { failures, outcomeBadge, reasonOf, traceSource } from "./trace-failure.ts";

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
const outcomes = ["ok", "refused", "open", "failed"];

/** The first page of a trace: the failed test with its code, and everything that happened on one timeline. */
export const traceView = defineView<TraceParts>({
  title: () => recordedTrace().test ?? "Trace",
  topics: [],
  load,
  draw: (parts, context) => {
    const { trace: shown } = parts;
    const { query, id } = context.pageAddress;
    const entries = shown.entries.filter((entry) => isAsked(entry, query));
    requestAnimationFrame(() => document.getElementById(`entry-${id}`)?.scrollIntoView({ block: "center" }));
    const state = shown.failures.length === 0 ? nothing : html` <span class="badge bad">failed</span>`;
    return html`<h1 tabindex="-1">${shown.test ?? "Trace"}${state}</h1>
      ${failures(shown, context.measure)} ${traceSource(shown)}
      <section class="stack" aria-labelledby="timeline">
        <h2 id="timeline">Timeline</h2>
        ${filter(shown, context)}
        ${
          entries.length === 0
            ? empty(query.size > 0 ? "No entry matches." : "Nothing has happened.")
            : html`<div class="panel">${timeline(entries, parts, context)}</div>`
        }
      </section>`;
  },
});

async function load(): Promise<TraceParts> {
  const shown = recordedTrace();
  const hashes = shown.entries.flatMap(({ about }) => (about?.type === "transaction" ? [about.hash] : []));
  const [requests, operations, events, ...explained] = await Promise.all([
    requestControl<RequestViews>("GET", "/requests"),
    readExplorer<ViewPage<RelayOperationView>>("/operations"),
    readExplorer<ViewPage<EventView>>("/events"),
    ...hashes.map(
      async (hash) => await requestControl<Explanation>("GET", `/explain/${hash}`).catch(() => null),
    ),
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

function filter({ entries }: TraceView, { pageAddress: { query } }: ViewContext): TemplateResult {
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
  return html`<details class="filters" ?open=${wide.matches}>
    <summary>Filter</summary>
    <form class="filter" role="search" aria-label="Timeline" @change=${narrow}>
    ${choice("outcome", "Outcome", "any", [
      ["bad", "all but ok"] as const,
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
      purchases.map((id) => [id, shortenId(id)] as const),
    )}
  </form></details>`;
}

const dots = { ok: "created", refused: "refused", open: "claimed", failed: "refused" } as const;

/** The entries: those that only prepared the test are folded, unless a link leads to one of them. */
function timeline(entries: readonly TraceEntry[], parts: TraceParts, context: ViewContext): TemplateResult {
  const { preparation } = parts.trace;
  const isFolded = context.pageAddress.query.size === 0 && preparation > 0;
  const list = (some: readonly TraceEntry[]) =>
    html`<ol class="timeline">${some.map((entry) => row(entry, parts, context))}</ol>`;
  if (!isFolded) return list(entries);
  const isLinked = entries.some(
    ({ number }) => number <= preparation && String(number) === context.pageAddress.id,
  );
  return html`<div class="preparation">
      ${folded(
        `Preparation: ${preparation} ${preparation === 1 ? "entry" : "entries"} before the first step of the test`,
        list(entries.slice(0, preparation)),
        isLinked,
      )}
    </div>
    ${list(entries.slice(preparation))}`;
}

/** One entry: its sentence, the reason with the differing fields, and everything else folded. */
function row(entry: TraceEntry, parts: TraceParts, context: ViewContext): TemplateResult {
  const { number, layer, outcome, at, title, about, causes, purchases } = entry;
  const { labels } = context.measure;
  const failed = entry.checks.filter(({ ok }) => !ok);
  const isLinked = context.pageAddress.id === String(number);
  const reason = reasonOf(entry);
  const others = causes.filter((cause) => cause !== reason);
  const asked = about?.type === "request" ? requestOf(about.number, parts) : undefined;
  return html`<li id=${`entry-${number}`} class=${`moment ${dots[outcome]} ${layer} ${isLinked ? "linked" : ""}`}>
    <p class="when">
      <a href=${hrefTo("timeline", String(number))} aria-label=${`Link to entry ${number}`}>${number}</a>
      ${at === null ? nothing : html`<time datetime=${at} title=${`${at}, sandbox time`}>${at.slice(5, 10)} ${at.slice(11, 19)}</time>`}
    </p>
    <div class="what">
      <p class="row">
        <span class="badge">${layer}</span> ${outcomeBadge(outcome)} <strong>${linked(title, labels)}</strong>
        ${asked === undefined ? nothing : html`<span class="small quiet">from ${asked.from}</span>`}
      </p>
      ${reason === null ? nothing : html`<p class=${outcome === "ok" ? "" : "error"}>${linked(reason, labels)}</p>`}
      ${others.length === 0 ? nothing : html`<ul class="small">${others.map((sentence) => html`<li>${linked(sentence, labels)}</li>`)}</ul>`}
      ${failed.length === 0 ? nothing : folded(`Failed checks (${failed.length})`, checks(failed, context.measure))}
      ${purchases.length === 0 ? nothing : html`<p class="row small">${purchases.map(purchaseLink)}</p>`}
      ${more(entry, parts, context)}
    </div>
  </li>`;
}

function requestOf(wanted: number, { requests }: TraceParts) {
  return requests.data.find(({ number }) => number === wanted);
}

/** Everything about an entry's object, by the templates of its own view; of a transaction with another call than the expected one it is open. */
function more({ about, outcome }: TraceEntry, parts: TraceParts, context: ViewContext): Template {
  if (about === null) return nothing;
  switch (about.type) {
    case "request": {
      const found = requestOf(about.number, parts);
      return found === undefined
        ? nothing
        : folded("Request and response", requestDetails(found, context.measure, true));
    }
    case "transaction": {
      const explained = parts.explanations.get(about.hash);
      return html`<p class="row small">${transaction(about.hash)}</p>
        ${
          explained === undefined
            ? nothing
            : outcome === "ok"
              ? folded("Explanation", explanation(explained, context.measure))
              : folded(
                  "Explanation",
                  transactionDetails(explained, context.measure),
                  hasDifference(explained),
                )
        }`;
    }
    case "operation": {
      const found = parts.operations.data.find(({ id }) => id === about.id);
      return found === undefined ? nothing : folded("Relay operation", operationDetails(found, context));
    }
    case "event": {
      const found = parts.events.data.find(({ id }) => id === about.id);
      return found === undefined ? nothing : folded("Event", eventDetails(found, context));
    }
    default:
      return nothing;
  }
}
