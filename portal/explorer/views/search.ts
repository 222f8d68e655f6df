import type { SearchResult } from "../../../sandbox/explorer/views.ts";
import { html } from "../../vendor/lit-html/lit-html.js";
import { readExplorer, requestControl } from "../api.ts";
import { shortenId } from "../format.ts";
import { hrefTo } from "../page-address.ts";
import { badge, empty } from "../templates/templates.ts";
import { defineView, type ViewContext } from "../view.ts";
import { control } from "./controls/control.ts";

/** The view of the results for an id, a hash, an address or a block number. */
export const searchView = defineView<{ data: SearchResult[] }>({
  title: ({ query }) => `Search ${query.get("q") ?? ""}`,
  heading: "Search results",
  topics: [],
  load: ({ query }) => readExplorer("/search", { q: query.get("q") }),
  draw: ({ data }, context) => html`
    <h1 tabindex="-1">Search results</h1>
    ${
      data.length === 0
        ? empty(
            `Found nothing for ${shortenId(context.pageAddress.query.get("q") ?? "")}.`,
            context.isRecorded
              ? "Enter a complete id, hash, address or block number, or explain and a transaction hash. A trace creates no states."
              : "Enter a complete id, hash, address or block number, or a command: given paid, or explain and a transaction hash.",
          )
        : html`<ul class="rows panel">
          ${data.map(
            (finding) => html`<li class="row">
              ${badge(finding.type)}
              ${
                finding.type === "given"
                  ? giving(finding, context)
                  : html`<a href=${hrefOf(finding)}>${finding.title}</a>
                      <code title=${finding.id}>${shortenId(finding.id)}</code>`
              }
            </li>`,
          )}
        </ul>`
    }
  `,
});

/** The parts of the created objects that lead to their pages. */
interface CreatedState {
  merchant: { id: string };
  purchase?: { id: string };
}

/** Renders a button that creates a state, and then leads to the purchase or the merchants. */
function giving({ id, title }: SearchResult, context: ViewContext) {
  const [kind = "", state = ""] = id.split(" ");
  return control(context, {
    label: title,
    done: "It was created.",
    async act() {
      const { purchase } = await requestControl<CreatedState>("POST", "/given", { [kind]: { state } });
      location.hash = purchase === undefined ? hrefTo("merchants") : hrefTo("purchases", purchase.id);
    },
  });
}

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
