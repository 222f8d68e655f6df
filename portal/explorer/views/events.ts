import type { EventView } from "../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import type { EventRecord } from "../../../server/store/records.ts";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { readExplorer, requestControl } from "../api.ts";
import {
  choicesOf,
  type ListField,
  listFilter,
  orderField,
  recordList,
  recordRow,
} from "../templates/lists.ts";
import { badge, copyable, folded, subjectLink, subjectName, time } from "../templates/templates.ts";
import { linked } from "../templates/text.ts";
import { defineView, type ViewContext } from "../view.ts";
import { control } from "./controls/control.ts";

const fields: readonly ListField[] = [
  { name: "q", label: "Id, type or subject" },
  {
    name: "status",
    label: "Delivery",
    choices: choicesOf<EventRecord["delivery"]>({
      undelivered: "undelivered",
      delivered: "delivered",
      exhausted: "exhausted",
    }),
  },
  orderField,
];

/** The outbox, the newest event first, with every attempt to deliver it. */
export const eventsView = defineView<ViewPage<EventView>>({
  title: () => "Events",
  topics: ["events"],
  load: ({ query }) => readExplorer("/events", Object.fromEntries(query)),
  draw: ({ data, next_cursor }, context) => html`
    <h1 tabindex="-1">Events</h1>
    ${listFilter("events", "Events", context.pageAddress.query, fields)} ${deliverAll(data, context)}
    ${recordList("events", context.pageAddress.query, {
      page: { data, next_cursor },
      key: ({ id }) => id,
      row: (event) => eventRow(event, data.length === 1, context),
      empty: {
        sentence: "No event was written yet.",
        more: "Every write of the API adds an event.",
        unmatched: "No event matches.",
      },
    })}
  `,
});

/** A button that delivers what is not delivered yet, while there is any on this page. */
function deliverAll(events: readonly EventView[], context: ViewContext): TemplateResult | typeof nothing {
  if (context.isRecorded || !events.some(({ delivery }) => delivery === "undelivered")) return nothing;
  return control(context, {
    label: "Deliver all events",
    done: "Every undelivered event was delivered, or has no attempts left.",
    act: async () => await requestControl("POST", "/deliver"),
  });
}

/** One event on one line. */
function eventRow(event: EventView, isOpen: boolean, context: ViewContext): TemplateResult {
  const { type, sequence, delivery, subject, attempts, created_at } = event;
  const failed = attempts.filter(({ status_code }) => status_code === null || status_code >= 300);
  return recordRow({
    name: `${type} ${sequence}`,
    summary: html`<strong>${type}</strong> ${badge(delivery)} ${subjectName(event)}
      ${failed.length === 0 ? nothing : html`<span class="badge bad">${failed.length} failed</span>`}`,
    meta: html`${subjectLink(subject)} <span class="number">number ${sequence}</span> ${time(created_at, context.measure)}`,
    details: eventDetails(event, context),
    isOpen,
  });
}

/** Everything about an event: every attempt to deliver it, where it arrived, and its body. */
export function eventDetails(event: EventView, context: ViewContext): TemplateResult {
  const { id, sequence, attempts, receipt_id, arrivals } = event;
  const resendEvent = () =>
    context.act(`Event ${sequence} was sent once more.`, async () => {
      await requestControl("POST", "/receiver/resend", { event_id: id });
    });
  return html`<p class="row small">${copyable(id, "event id")}</p>
    ${
      attempts.length === 0
        ? nothing
        : html`<ol class="plain attempts" aria-label="Delivery attempts">
          ${attempts.map(
            ({ number, at, ended, status_code, error, duration_ms }) => html`<li class="row small">
              <span class=${`badge ${status_code !== null && status_code < 300 ? "good" : "bad"}`}
                >${number}: ${status_code ?? (ended ? "no response" : "no outcome yet")}</span
              >
              ${time(at, context.measure)}
              ${duration_ms === null ? nothing : html`<span class="quiet">${Math.round(duration_ms)} ms</span>`}
              ${error === null ? nothing : html`<span class="error">${error}</span>`}
            </li>`,
          )}
        </ol>`
    }
    ${
      attempts.length === 0 || arrivals.length > 0 || context.isRecorded
        ? nothing
        : html`<button type="button" class="small" @click=${resendEvent}>Send event ${sequence} again</button>`
    }
    ${receipt_id === null ? nothing : html`<p class="small row">Delivery receipt ${copyable(receipt_id, "delivery receipt id")}</p>`}
    ${arrivals.map(({ number, verified, status }) => {
      const resend = () =>
        context.act(`Delivery ${number} was sent once more.`, async () => {
          await requestControl("POST", "/receiver/resend", { number });
        });
      return html`<p class="row small">
        Arrived as delivery ${number}, ${verified ? "signature verified" : "signature not verified"},
        ${status === null ? "no response" : `response ${status}`}
        ${
          context.isRecorded
            ? nothing
            : html`<button type="button" class="small" @click=${resend}>Send delivery ${number} again</button>`
        }
      </p>`;
    })}
    ${folded("Body", html`<pre tabindex="0" aria-label="Body">${linked(JSON.stringify(event.body, null, 2), context.measure.labels)}</pre>`)}`;
}
