import type {
  NodeCallView,
  OpenRequestView,
  RequestView,
  RequestViews,
} from "../../../../sandbox/hosts/explorer/views.ts";
import { repeat } from "../../../vendor/lit-html/directives/repeat.js";
import { html, nothing, type TemplateResult } from "../../../vendor/lit-html/lit-html.js";
import { ask } from "../../api.ts";
import type { Measure } from "../../format.ts";
import { hrefTo } from "../../page-address.ts";
import { checks } from "../../templates/checks.ts";
import { copyable, empty, pager, subjectLink, type Template, time } from "../../templates/templates.ts";
import { linked } from "../../templates/text.ts";
import { defineView, type Scene } from "../../view.ts";

/** The requests of the API with their answers, the newest answer first. */
export const requests = defineView<RequestViews>({
  title: () => "Requests",
  topics: ["requests"],
  load: ({ query }) => ask("GET", `/requests?${query}`),
  draw: ({ data, in_progress, next_cursor }, scene) => html`
    <h1 tabindex="-1">Requests</h1>
    <p class="quiet">Requests of the API with their answers. The last 1,000 are kept until a restore or a restart.</p>
    ${filter(scene)}
    ${in_progress.map((open) => openRequest(open, scene.measure))}
    ${
      data.length === 0
        ? empty(
            scene.pageAddress.query.size > 0 ? "No request is like that." : "No request was answered yet.",
          )
        : html`<ul class="rows panel">
          ${repeat(
            data,
            ({ number }) => number,
            (request) => html`<li>${requestRow(request, scene)}</li>`,
          )}
        </ul>`
    }
    ${pager("requests", scene.pageAddress.query, next_cursor)}
  `,
});

/** One request on one line, with what was sent and answered folded below it. */
export function requestRow(request: RequestView, scene: Scene): TemplateResult {
  const { method, path, caller, idempotency_key, replayed, objects, refusal, duration_ms } = request;
  return html`<article class="entry request" aria-label=${`Request ${request.number}`}>
    <details>
      <summary>
        <span class="row">
          ${answered(request)} <strong>${request.operation ?? method}</strong>
          <code class="small path">${method} ${path}</code>
        </span>
      </summary>
      <div class="stack">${exchange(request, scene.measure)}</div>
    </details>
    ${refusal === null ? nothing : html`<p class="error">${linked(refusal.detail, scene.measure.labels)}</p>`}
    <p class="row small quiet">
      ${request.at === null ? nothing : time(request.at, scene.measure)}
      <span>${duration_ms} ms</span>
      <span>by ${caller}</span>
      ${idempotency_key === null ? nothing : html`<span>key <code>${idempotency_key}</code></span>`}
      ${replayed ? html`<span class="badge">replayed</span>` : nothing}
      ${objects.filter((id) => id.startsWith("pur_") || id.startsWith("mer_")).map(subjectLink)}
    </p>
  </article>`;
}

function answered({ status, code }: RequestView): TemplateResult {
  if (status === null) return html`<span class="badge bad">answer lost</span>`;
  const tone = status < 300 ? "good" : status < 500 ? "warn" : "bad";
  return html`<span class=${`badge ${tone}`}>${status}${code === null ? nothing : html` ${code}`}</span>`;
}

/** Everything that was sent and answered, and the calls to the node; the checks that failed come first. */
function exchange(
  { id, refusal, body, answer, calls, more_calls }: RequestView,
  measure: Measure,
): TemplateResult {
  return html`${refusal === null || refusal.checks.length === 0 ? nothing : checks(refusal.checks, measure)}
    ${body === null ? nothing : json("Body", body, measure)}
    ${answer === null ? nothing : json("Answer", answer, measure)} ${nodeCalls(calls, more_calls, measure)}
    <p class="small row">Request ${copyable(id, "request id")}</p>`;
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
    <p><code>${method} ${path}</code> has no answer yet. It arrived at ${received.slice(11, 23)} UTC.</p>
    ${nodeCalls(calls, 0, measure)}
  </div>`;
}

function filter({ pageAddress: { query }, overview }: Scene): TemplateResult {
  const narrow = (event: Event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const form = new FormData(event.currentTarget);
    const given = (name: string) => String(form.get(name)).trim();
    const wanted = { purchase: given("purchase"), status: given("status"), operation: given("operation") };
    location.hash = hrefTo("requests", "", wanted);
  };
  const chosen = (name: string, value: string) => query.get(name) === value;
  return html`<form class="filter" role="search" aria-label="Requests" @submit=${narrow}>
    <div class="field">
      <label for="purchase">Purchase or other id</label>
      <input id="purchase" name="purchase" type="search" autocomplete="off" .value=${query.get("purchase") ?? ""} />
    </div>
    <div class="field">
      <label for="status">Answer</label>
      <select id="status" name="status">
        <option value="">any</option>
        ${["2xx", "4xx", "5xx", "lost"].map(
          (status) => html`<option value=${status} ?selected=${chosen("status", status)}>${status}</option>`,
        )}
      </select>
    </div>
    <div class="field">
      <label for="operation">Write</label>
      <select id="operation" name="operation">
        <option value="">any request</option>
        ${overview.fault_choices.operations.map(
          (id) => html`<option value=${id} ?selected=${chosen("operation", id)}>${id}</option>`,
        )}
      </select>
    </div>
    <button type="submit">Filter</button>
  </form>`;
}
