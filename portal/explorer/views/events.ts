import type { EventView, ViewPage } from "../../../sandbox/hosts/explorer/views.ts";
import { repeat } from "../../vendor/lit-html/directives/repeat.js";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { ask, read } from "../api.ts";
import { badge, copyable, empty, pager, subjectLink, time } from "../templates/templates.ts";
import { defineView, type Scene } from "../view.ts";
import { control } from "./controls/control.ts";

/** The outbox, the newest event first, with every attempt to deliver it. */
export const events = defineView<ViewPage<EventView>>({
  title: () => "Events",
  topics: ["events"],
  load: ({ query }) => read("/events", Object.fromEntries(query)),
  draw: ({ data, next_cursor }, scene) => html`
    <h1 tabindex="-1">Events</h1>
    ${deliverAll(data, scene)}
    ${
      data.length === 0
        ? empty("No event was written yet.", "Every write of the API adds an event.")
        : html`<ul class="rows panel">
          ${repeat(
            data,
            ({ id }) => id,
            (event) => html`<li>${eventCard(event, scene)}</li>`,
          )}
        </ul>`
    }
    ${pager("events", scene.pageAddress.query, next_cursor)}
  `,
});

/** A button that delivers what is not delivered yet, while there is any on this page. */
function deliverAll(events: readonly EventView[], scene: Scene): TemplateResult | typeof nothing {
  if (scene.isRecorded || !events.some(({ delivery }) => delivery === "undelivered")) return nothing;
  return control(scene, {
    label: "Deliver all events",
    done: "Every undelivered event was delivered, or has no attempts left.",
    act: async () => await ask("POST", "/deliver"),
  });
}

/** One event with every attempt to deliver it, and where it arrived. */
export function eventCard(event: EventView, scene: Scene): TemplateResult {
  const { id, type, sequence, delivery, subject, attempts, receipt_id, arrivals } = event;
  const resendEvent = () =>
    scene.act(`Event ${sequence} was sent once more.`, async () => {
      await ask("POST", "/receiver/resend", { event_id: id });
    });
  return html`<article class="entry" aria-label=${`${type} ${sequence}`}>
    <p class="row">
      <strong>${type}</strong> ${badge(delivery)}
      <span class="small quiet">number ${sequence}, ${time(event.created_at, scene.measure)}</span>
    </p>
    <p class="row small">${subjectLink(subject)} ${copyable(id, "event id")}</p>
    ${
      attempts.length === 0
        ? nothing
        : html`<ol class="plain attempts" aria-label="Delivery attempts">
          ${attempts.map(
            ({ number, at, ended, status_code, error, duration_ms }) => html`<li class="row small">
              <span class=${`badge ${status_code !== null && status_code < 300 ? "good" : "bad"}`}
                >${number}: ${status_code ?? (ended ? "no answer" : "no outcome yet")}</span
              >
              ${time(at, scene.measure)}
              ${duration_ms === null ? nothing : html`<span class="quiet">${Math.round(duration_ms)} ms</span>`}
              ${error === null ? nothing : html`<span class="error">${error}</span>`}
            </li>`,
          )}
        </ol>`
    }
    ${
      attempts.length === 0 || arrivals.length > 0
        ? nothing
        : html`<button type="button" class="small" @click=${resendEvent}>Send event ${sequence} again</button>`
    }
    ${receipt_id === null ? nothing : html`<p class="small row">Delivery receipt ${copyable(receipt_id, "delivery receipt id")}</p>`}
    ${arrivals.map(({ number, verified, status }) => {
      const resend = () =>
        scene.act(`Delivery ${number} was sent once more.`, async () => {
          await ask("POST", "/receiver/resend", { number });
        });
      return html`<p class="row small">
        Arrived as delivery ${number}, ${verified ? "signature verified" : "signature not verified"}, answered
        ${status ?? "nothing"}
        ${
          scene.isRecorded
            ? nothing
            : html`<button type="button" class="small" @click=${resend}>Send delivery ${number} again</button>`
        }
      </p>`;
    })}
    <details>
      <summary>Body</summary>
      <pre tabindex="0">${JSON.stringify(event.body, null, 2)}</pre>
    </details>
  </article>`;
}
