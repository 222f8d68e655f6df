import { repeat } from "../../vendor/lit-html/directives/repeat.js";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { hrefTo } from "../page-address.ts";
import { pager, type Template } from "./templates.ts";

/** A field that narrows or sorts a list. */
export interface ListField {
  /** The name in the query. */
  name: string;
  label: string;
  /** The values that can be chosen, each with its text, the first of them empty; a search without. */
  choices?: readonly (readonly [string, string])[];
}

/** The choices of a field with any value or one of a type: a value of the type that has no text here does not compile. */
export function choicesOf<V extends string>(
  texts: { readonly [N in V]: string },
): NonNullable<ListField["choices"]> {
  return [["", "any"], ...Object.entries<string>(texts)];
}

/** The order of a list whose newest entry comes first by default. */
export const orderField: ListField = {
  name: "order",
  label: "Order",
  choices: [
    ["", "newest first"],
    ["oldest", "oldest first"],
  ],
};

/** Renders the fields of a list. Their values are in the address, so that they survive a reload and can be sent to others. */
export function listFilter(
  view: string,
  label: string,
  query: URLSearchParams,
  fields: readonly ListField[],
): TemplateResult {
  const narrow = (event: Event) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const form = new FormData(event.currentTarget);
    const wanted = fields.map(({ name }) => [name, String(form.get(name)).trim()]);
    location.hash = hrefTo(view, "", Object.fromEntries(wanted));
  };
  const choose = (event: Event) => {
    if (event.target instanceof HTMLSelectElement) narrow(event);
  };
  const asked = fields.filter(({ name }) => query.get(name));
  return html`<details class="filters" ?open=${wide.matches}>
    <summary>Filter${asked.length === 0 ? "" : `: ${asked.map(({ name }) => query.get(name)).join(", ")}`}</summary>
    <form class="filter" role="search" aria-label=${label} @submit=${narrow} @change=${choose}>
    ${fields.map((field) => html`<div class="field">${input(field, query.get(field.name) ?? "")}</div>`)}
    <button type="submit">Filter</button>
  </form></details>`;
}

/** On a phone the fields are folded, so that the first entry is on the first screen. */
export const wide = matchMedia("(min-width: 40rem)");

function input({ name, label, choices }: ListField, current: string): TemplateResult {
  const id = `by-${name}`;
  return html`<label for=${id}>${label}</label>
    ${
      choices === undefined
        ? html`<input id=${id} name=${name} type="search" autocomplete="off" .value=${current} />`
        : html`<select id=${id} name=${name}>
          ${choices.map(
            ([value, text]) => html`<option value=${value} .selected=${value === current}>${text}</option>`,
          )}
        </select>`
    }`;
}

/** The text of a list without entries. */
interface EmptyList {
  sentence: string;
  /** The remedy. */
  more?: string;
  /** The text when a filter matches nothing. */
  unmatched: string;
}

/** Renders a list without entries: what to do, or the way out of a filter that nothing matches. */
export function emptyList(
  view: string,
  query: URLSearchParams,
  { sentence, more, unmatched }: EmptyList,
): TemplateResult {
  const isFiltered = [...query.keys()].some((name) => name !== "order");
  return html`<div class="panel empty">
    <p>${isFiltered ? unmatched : sentence}</p>
    ${isFiltered ? html`<p><a href=${hrefTo(view)}>Show all</a></p>` : more ? html`<p class="quiet">${more}</p>` : nothing}
  </div>`;
}

/** The entries of a list, and how each is rendered. */
export interface RecordList<T> {
  /** One page of the list. */
  page: { data: readonly T[]; next_cursor: string | null };
  /** The value by which an entry is known when the list is rendered again. */
  key: (entry: T) => string | number;
  row: (entry: T) => TemplateResult;
  /** The text of a list without entries. */
  empty: EmptyList;
}

/** Renders the entries of a list, or its text without entries, and the link to the next page. */
export function recordList<T>(
  view: string,
  query: URLSearchParams,
  { page, key, row, empty }: RecordList<T>,
): TemplateResult {
  const { data, next_cursor } = page;
  return html`${
    data.length === 0
      ? emptyList(view, query, empty)
      : html`<ul class="rows panel">
        ${repeat(data, key, (entry) => html`<li>${row(entry)}</li>`)}
      </ul>`
  }
  ${pager(view, query, next_cursor)}`;
}

/** The parts of a row. */
export interface RecordRow {
  /** The accessible name. */
  name: string;
  /** The content of the row, which opens it. */
  summary: TemplateResult;
  /** The end of the row, with the links. */
  meta: TemplateResult;
  /** The part that is always below the row. */
  below?: Template;
  details: TemplateResult;
  isOpen?: boolean;
}

/** Renders an entry of a list on one line, with its details on demand. */
export function recordRow({
  name,
  summary,
  meta,
  below,
  details,
  isOpen = false,
}: RecordRow): TemplateResult {
  return html`<article class="record" aria-label=${name}>
    <details ?open=${isOpen}>
      <summary><span class="row">${summary}</span></summary>
      <div class="stack">${details}</div>
    </details>
    <p class="row small quiet">${meta}</p>
    ${below ?? nothing}
  </article>`;
}
