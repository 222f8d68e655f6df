import type { SearchResult } from "../../../sandbox/explorer/views.ts";
import { html } from "../../vendor/lit-html/lit-html.js";
import { readExplorer } from "../api.ts";
import { shortenId } from "../format.ts";
import { hrefTo } from "../page-address.ts";
import { badge, empty } from "../templates/templates.ts";
import { defineView } from "../view.ts";

/** The view of the results for an id, a hash, an address or a block number. */
export const searchView = defineView<{ data: SearchResult[] }>({
  title: ({ query }) => `Search ${query.get("q") ?? ""}`,
  heading: "Search results",
  topics: [],
  load: ({ query }) => readExplorer("/search", { q: query.get("q") }),
  draw: ({ data }, { pageAddress }) => html`
    <h1 tabindex="-1">Search results</h1>
    ${
      data.length === 0
        ? empty(
            `Found nothing for ${shortenId(pageAddress.query.get("q") ?? "")}.`,
            "Enter a complete id, hash, address or block number.",
          )
        : html`<ul class="rows panel">
          ${data.map(
            (finding) => html`<li class="row">
              ${badge(finding.type)} <a href=${hrefOf(finding)}>${finding.title}</a>
              <code title=${finding.id}>${shortenId(finding.id)}</code>
            </li>`,
          )}
        </ul>`
    }
  `,
});

/** Returns the address of a result's page. */
function hrefOf({ type, id }: SearchResult): string {
  switch (type) {
    case "purchase":
      return hrefTo("purchases", id);
    case "merchant":
      return hrefTo("merchants");
    case "operation":
      return hrefTo("operations", "", { q: id });
    case "event":
      return hrefTo("events", "", { q: id });
    case "block":
      return hrefTo("blocks", "", { cursor: id });
    case "request":
      return hrefTo("requests", "", { purchase: id });
    case "transaction":
      return hrefTo("transactions", id);
    default:
      return hrefTo("purchases", "", { q: id });
  }
}
