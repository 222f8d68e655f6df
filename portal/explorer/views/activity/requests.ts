import type {
  NodeCallView,
  OpenRequestView,
  RequestView,
  RequestViews,
} from "../../../../sandbox/activity/views.ts";
import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { requestControl } from "../../api.ts";
import type { Measure } from "../../format.ts";
import { checks } from "../../templates/checks.ts";
import { type ListField, listFilter, recordList, recordRow } from "../../templates/lists.ts";
import { copyable, subjectLink, type Template, time } from "../../templates/templates.ts";
import { linked } from "../../templates/text.ts";
import { defineView, type ViewContext } from "../../view.ts";

/** The number of requests on a page: each has its bodies and its calls to the node, which are most of what a first view draws. */
const pageSize = "25";

/** The requests of the API with their answers, the newest answer first. */
export const requestsView = defineView<RequestViews>({
  title: () => "Requests",
  topics: ["requests"],
  load: ({ query }) =>
    requestControl("GET", `/requests?${new URLSearchParams([["limit", pageSize], ...query])}`),
  draw: ({ data, in_progress, next_cursor }, context) => html`
    <h1 tabindex="-1">Requests</h1>
    <p class="quiet">Requests of the API with their responses.</p>
    ${listFilter("requests", "Requests", context.pageAddress.query, fieldsOf(context))}
    ${in_progress.map((open) => openRequest(open, context.measure))}
    ${recordList("requests", context.pageAddress.query, {
      page: { data, next_cursor },
      key: ({ number }) => number,
      row: (request) => requestRow(request, data.length === 1, context),
      empty: {
        sentence: "No request has a response yet.",
        unmatched: "No request matches.",
      },
    })}
  `,
});

/** One request on one line, with what was sent and answered folded below it. */
export function requestRow(request: RequestView, isOpen: boolean, { measure }: ViewContext): TemplateResult {
  const { number, method, path, operation, replayed, objects, refusal, duration_ms, at } = request;
  return recordRow({
    name: `Request ${number}`,
    summary: html`${answered(request)} <strong>${operation ?? method}</strong>
      <code class="small path">${operation === null ? path : `${method} ${path}`}</code>`,
    meta: html`${replayed ? html`<span class="badge">replayed</span>` : nothing}
      ${objects.filter((id) => id.startsWith("pur_") || id.startsWith("mer_")).map(subjectLink)}
      <span>from ${callerOf(request)}</span> <span class="amount">${duration_ms} ms</span> ${at === null ? nothing : time(at, measure)}`,
    below: refusal === null ? nothing : reason(refusal, measure),
    details: requestDetails(request, measure),
    isOpen,
  });
}

/** Names who sent a request: a notification whose signature was verified is the service's own. */
function callerOf({ operation, from, status }: RequestView): string {
  return operation === "receiveNotification" && from === "anyone" && status === 200 ? "the service" : from;
}

function reason(
  { detail, causes }: NonNullable<RequestView["refusal"]>,
  { labels }: Measure,
): TemplateResult {
  const [cause] = causes;
  return html`<p class=${cause === undefined ? "error repeated" : "error"}>${linked(cause ?? detail, labels)}</p>`;
}

function answered({ status, code }: RequestView): TemplateResult {
  if (status === null) return html`<span class="badge bad">response lost</span>`;
  const tone = status < 300 ? "good" : status < 500 ? "warn" : "bad";
  return html`<span class=${`badge ${tone}`}>${status}${code === null ? nothing : html` ${code}`}</span>`;
}

/** Everything that was sent and answered, and the calls to the node; the checks that failed come first, unless a trace's entry has them. */
export function requestDetails(request: RequestView, measure: Measure, isInTrace = false): TemplateResult {
  const { id, refusal, body, answer, calls, more_calls, caller, from, idempotency_key, method, path } =
    request;
  return html`<dl class="facts small">
      <dt>Request</dt>
      <dd><code>${method} ${path}</code></dd>
      <dt>Id</dt>
      <dd>${copyable(id, "request id")}</dd>
      <dt>Caller</dt>
      <dd>${from === caller ? from : html`${from} <code>${caller}</code>`}</dd>
      ${idempotency_key === null ? nothing : html`<dt>Key</dt><dd><code>${idempotency_key}</code></dd>`}
    </dl>
    ${refusal === null ? nothing : html`<p class="error">${linked(refusal.detail, measure.labels)}</p>`}
    ${refusal === null || refusal.checks.length === 0 || isInTrace ? nothing : checks(refusal.checks, measure)}
    ${body === null ? nothing : json("Body", body, measure)}
    ${answer === null ? nothing : json("Response", answer, measure)} ${nodeCalls(calls, more_calls, measure)}`;
}

function json(name: string, data: unknown, { labels }: Measure): TemplateResult {
  const text = typeof data === "string" ? data : JSON.stringify(data, null, 2);
  return html`<div><p class="small quiet">${name}</p><pre tabindex="0" aria-label=${name}>${linked(text, labels)}</pre></div>`;
}

function nodeCalls(calls: readonly NodeCallView[], more: number, { labels }: Measure): Template {
  if (calls.length === 0) return nothing;
  const count = calls.length + more;
  return html`<div>
    <p class="small quiet">${count} ${count === 1 ? "call" : "calls"} to the chain node</p>
    <ol class="small calls">
      ${calls.map(
        ({ method, call, duration_ms, failed }) => html`<li>
          <code>${method}</code> ${call === null ? nothing : linked(call, labels)}
          <span class="quiet">${duration_ms === null ? "in progress" : `${duration_ms} ms`}</span>
          ${failed ? html`<span class="error">failed</span>` : nothing}
        </li>`,
      )}
    </ol>
  </div>`;
}

function openRequest({ method, path, received, calls }: OpenRequestView, measure: Measure): TemplateResult {
  return html`<div class="notice warn">
    <p><code>${method} ${path}</code> has no response yet. It arrived at ${received.slice(11, 23)} UTC.</p>
    ${nodeCalls(calls, 0, measure)}
  </div>`;
}

function fieldsOf({ overview }: ViewContext): ListField[] {
  const asIs = (names: readonly string[]) => names.map((name) => [name, name] as const);
  return [
    { name: "purchase", label: "Purchase or other id" },
    { name: "status", label: "Answer", choices: [["", "any"], ...asIs(["2xx", "4xx", "5xx", "lost"])] },
    {
      name: "operation",
      label: "Write",
      choices: [["", "any request"], ...asIs(overview.fault_choices.operations)],
    },
    {
      name: "order",
      label: "Order",
      choices: [
        ["", "newest first"],
        ["slowest", "slowest first"],
      ],
    },
  ];
}
