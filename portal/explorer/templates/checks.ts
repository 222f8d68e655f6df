import type { CheckView } from "../../../sandbox/activity/views.ts";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import type { Measure } from "../format.ts";
import { folded } from "./templates.ts";
import { formatUnix, linked } from "./text.ts";

/** Names of fields that hold a time in Unix seconds. */
const times = /deadline|until|timestamp|^timely$/i;

/** Checks whose sides are long: bytes in hexadecimal, and whole logs. */
const long: ReadonlySet<string> = new Set(["calldata", "log"]);

/** A JSON value as a person reads it: with labels and links at addresses and ids, and a date behind Unix seconds. */
export function value(data: unknown, { labels }: Measure, name = ""): TemplateResult {
  if (data === null) return html`<span class="quiet">none</span>`;
  const text = typeof data === "string" ? data : (JSON.stringify(data, null, 1) ?? "nothing");
  const isTime = times.test(name);
  const seconds = isTime ? [...text.matchAll(/\b\d{10}\b/g)].map(([found]) => Number(found)) : [];
  return html`<code class="value">${linked(text, labels)}</code>${seconds.map(
    (second) => html` <span class="small quiet">${formatUnix(second)}</span>`,
  )}`;
}

/** The checks of a binding: those that failed with both sides, the others by name. */
export function checks(list: readonly CheckView[], measure: Measure): TemplateResult {
  const failed = list.filter(({ ok }) => !ok);
  const passed = list.filter(({ ok }) => ok);
  return html`<div class="checks">
    ${failed.map(({ name, expected, actual }) => {
      const title = html`<span class="badge bad">✗ ${name}</span>`;
      const sides = html`<dl class="sides">
        <div><dt>expected</dt><dd>${value(expected, measure, name)}</dd></div>
        <div><dt>found</dt><dd>${value(actual, measure, name)}</dd></div>
      </dl>`;
      return long.has(name) ? folded(title, sides) : html`<div class="check"><p>${title}</p>${sides}</div>`;
    })}
    ${
      passed.length === 0
        ? nothing
        : html`<p class="small quiet">✓ ${passed.map(({ name }) => name).join(", ")}</p>`
    }
  </div>`;
}
