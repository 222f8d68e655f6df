import type { Overview } from "../../sandbox/explorer/views.ts";
import { html, nothing, type TemplateResult } from "../vendor/lit-html/lit-html.js";
import type { StreamState } from "./data/changes.ts";
import { recorded } from "./data/recorded.ts";
import { formatTime } from "./format.ts";
import { hrefTo, type PageAddress } from "./page-address.ts";

const links: readonly (readonly [string, string])[] = [
  ...(recorded === null
    ? [["", "Overview"] as const]
    : [["", "Trace"] as const, ["overview", "Overview"] as const]),
  ["purchases", "Purchases"],
  ["operations", "Relayer"],
  ["events", "Events"],
  ["refusals", "Refused"],
  ["requests", "Requests"],
  ["blocks", "Blocks"],
  ["merchants", "Merchants"],
  ...(recorded === null ? [["controls", "Controls"] as const] : []),
];

/** The top of every view: where one is, what time it is in the sandbox, and whether the page hears of changes. */
export function frame(
  pageAddress: PageAddress,
  overview: Overview | null,
  connection: StreamState,
): TemplateResult {
  return html`<div class="bar">
      <p class="brand row">
        <a href=${hrefTo("")}>Routing sandbox</a> <span class="badge">test money only</span>
      </p>
      <div class="row small">
        ${
          overview === null
            ? html`<span class="quiet">reading block and time …</span>`
            : html`<span class="number" title="Newest block">block ${overview.block.number}</span>
              <time datetime=${overview.now} title="Sandbox time, UTC">${formatTime(overview.now)}</time>`
        }
        ${state(connection)}
      </div>
    </div>
    <div class="bar menu">
      <nav aria-label="Explorer">
        <ul>
          ${links.map(
            ([view, name]) =>
              html`<li>
                <a href=${hrefTo(view)} aria-current=${view === shownAs(pageAddress.view) ? "page" : nothing}>${name}</a>
              </li>`,
          )}
        </ul>
      </nav>
      <form role="search" aria-label="Everything" class="row" @submit=${go}>
        <input
          type="search"
          name="q"
          aria-label="Find an id, hash, address or block"
          placeholder=${recorded === null ? "Id, hash, command" : "Id, hash, address"}
          autocomplete="off"
        />
        <button type="submit" class="small">Find</button>
      </form>
    </div>`;
}

/** Transactions and findings are not entries of the menu. */
function shownAs(view: string): string {
  if (view === "timeline") return "";
  return view === "transactions" ? "blocks" : view;
}

function state(connection: StreamState) {
  switch (connection) {
    case "live":
      return html`<span class="badge good">live</span>`;
    case "recorded":
      return html`<span class="badge">trace</span>`;
    case "gone":
      return html`<span class="badge bad">disconnected</span>`;
    default:
      return html`<span class="badge">connecting</span>`;
  }
}

function go(event: SubmitEvent): void {
  event.preventDefault();
  if (!(event.currentTarget instanceof HTMLFormElement)) return;
  const wanted = String(new FormData(event.currentTarget).get("q")).trim();
  if (wanted === "") event.currentTarget.querySelector("input")?.focus();
  else location.hash = hrefTo("search", "", { q: wanted });
}
