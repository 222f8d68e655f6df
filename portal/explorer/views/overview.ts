import type { BlockView, Overview, PurchaseViews, RefusalView } from "../../../sandbox/explorer/views.ts";
import type { ViewPage } from "../../../sandbox/lib/page.ts";
import { html, nothing, type TemplateResult } from "../../vendor/lit-html/lit-html.js";
import { readExplorer } from "../api.ts";
import { formatWei, nameInWords, percent } from "../format.ts";
import { hrefTo } from "../page-address.ts";
import { legend } from "../templates/payments.ts";
import { copyable, empty } from "../templates/templates.ts";
import { linked } from "../templates/text.ts";
import { defineView, type ViewContext } from "../view.ts";
import { blockList } from "./blocks.ts";
import { describeFault } from "./controls/faults.ts";
import { purchaseList } from "./purchases/purchases.ts";

interface Glance {
  purchases: PurchaseViews;
  blocks: ViewPage<BlockView>;
  refusals: ViewPage<RefusalView>;
}

/** The number of each kind that the first view shows. */
const few = 5;

/** The state of the sandbox at one glance. */
export const overviewView = defineView<Glance>({
  title: () => "Overview",
  topics: ["purchases", "blocks", "operations", "faults", "refusals"],
  async load() {
    const [purchases, blocks, refusals] = await Promise.all([
      readExplorer<PurchaseViews>("/purchases", { limit: String(few + 1) }),
      readExplorer<ViewPage<BlockView>>("/blocks", { limit: String(few) }),
      readExplorer<ViewPage<RefusalView>>("/refusals", { limit: "1" }),
    ]);
    return { purchases, blocks, refusals };
  },
  draw: ({ purchases, blocks, refusals }, context) => {
    const { overview: now, measure } = context;
    return html`
    <h1 tabindex="-1">Overview</h1>
    ${attention(context, refusals.data[0])}
    <div class="columns">
      <section class="stack" aria-labelledby="newest">
        <h2 id="newest">Newest purchases</h2>
        ${
          purchases.data.length === 0
            ? empty(
                "There are no purchases yet.",
                'Create one over the API, or enter "given paid" in the search.',
              )
            : html`${legend()} ${purchaseList(purchases.data.slice(0, few), measure)}`
        }
        ${purchases.data.length > few ? html`<p><a href=${hrefTo("purchases")}>All purchases</a></p>` : nothing}
      </section>
      <div class="stack">
        <section class="panel" aria-labelledby="chain">
          <h2 id="chain">Chain and clock</h2>
          <dl class="facts small">
            <dt>Mode</dt>
            <dd>${now.mode}, seed ${now.seed ?? "in the file of keys"}</dd>
            <dt>Epoch</dt>
            <dd>${copyable(now.chain.epoch, "epoch")}</dd>
            <dt>Chain</dt>
            <dd>${now.chain.chain_id} at ${now.urls.rpc}</dd>
            ${network(now)}
            <dt>API</dt>
            <dd>${now.urls.api}</dd>
            ${restarts(now)}
            <dt>Waiting</dt>
            <dd>${waiting(now)}</dd>
          </dl>
        </section>
        <section class="panel" aria-labelledby="gas">
          <h2 id="gas">Gas budgets</h2>
          ${now.programs.map(budget)}
        </section>
      </div>
    </div>
    <section class="stack" aria-labelledby="latest">
      <h2 id="latest">Latest blocks</h2>
      ${blockList(blocks.data.slice(0, few), measure)}
    </section>
  `;
  },
});

/** The last refusal whose notice was closed, as long as the tab is open. */
const closedKey = "closed refusal";

/** Renders the problems that need attention, if there are any. */
function attention({ overview: now, redraw }: ViewContext, refusal: RefusalView | undefined) {
  const stranded = now.unsettled
    .filter(({ status }) => status === "needs_attention")
    .reduce((sum, { count }) => sum + count, 0);
  const faults = now.faults.filter(({ remaining }) => remaining !== 0);
  return html`${
    stranded === 0
      ? nothing
      : html`<p class="notice bad">
        <a href=${hrefTo("operations", "", { status: "needs_attention" })}
          >${stranded} ${stranded === 1 ? "relay operation needs" : "relay operations need"} attention</a
        >
      </p>`
  }
  ${now.unknown.map((sentence) => html`<p class="notice bad">${sentence}</p>`)}
  ${
    faults.length === 0
      ? nothing
      : html`<div class="notice warn">
        <p><a href=${hrefTo("controls")}>Faults are set</a></p>
        <ul class="plain small">
          ${faults.map((fault) => html`<li>${describeFault(fault)}</li>`)}
        </ul>
      </div>`
  }
  ${refusal === undefined ? nothing : refusalNotice(now, refusal, redraw)}`;
}

/** Renders how many transactions were refused, until it is closed or another one is. */
function refusalNotice({ refusals, labels }: Overview, refusal: RefusalView, redraw: () => void) {
  const { number, at, times, step, cause } = refusal;
  const key = `${number} ${at} ${times}`;
  if (sessionStorage.getItem(closedKey) === key) return nothing;
  const close = () => {
    sessionStorage.setItem(closedKey, key);
    redraw();
    // The button is gone.
    document.querySelector<HTMLElement>("h1")?.focus();
  };
  return html`<div class="notice warn closable">
    <p>
      <a href=${hrefTo("refusals")}>${refusals} ${refusals === 1 ? "transaction was" : "transactions were"} refused</a>
      since the start or the last restore. The last one, as ${step}: ${linked(cause, labels)}
    </p>
    <button type="button" class="small" aria-label="Close this notice" @click=${close}>Close</button>
  </div>`;
}

/** Names the network of the node that the sandbox is connected to, if it is. */
function network({ network: connected }: Overview): TemplateResult | typeof nothing {
  if (connected === null) return nothing;
  const { name, block_explorer, requests } = connected;
  const sent = Object.values(requests).reduce((sum, count) => sum + count, 0);
  return html`<dt>Network</dt>
    <dd>
      ${name ?? "not known by name"}${
        block_explorer === null
          ? nothing
          : html`, <a href=${block_explorer} target="_blank" rel="noreferrer">block explorer</a>`
      }; ${sent} requests to the node since the start
    </dd>`;
}

/** Says that Anvil has ended and was started again, if it has. */
function restarts({ anvil_restarts: count }: Overview): TemplateResult | typeof nothing {
  if (count === 0) return nothing;
  return html`<dt>Anvil</dt>
    <dd>ended ${count === 1 ? "once" : `${count} times`}; the chain was built again from the store's journal</dd>`;
}

function waiting({ unsettled, pending_transactions }: Overview): string {
  const counted = (count: number, name: string) => `${count} ${name}${count === 1 ? "" : "s"}`;
  const parts = unsettled.map(({ kind, status, held, count }) => {
    const name = counted(count, kind === "collect_refund" ? "refund" : nameInWords(kind));
    return `${name} ${held ? "held by a fault" : nameInWords(status)}`;
  });
  if (pending_transactions !== null && pending_transactions > 0)
    parts.push(`${counted(pending_transactions, "transaction")} pending on the chain`);
  return parts.length === 0 ? "nothing" : parts.join("; ");
}

function budget({ id, gas_budget }: Overview["programs"][number]): TemplateResult {
  if (gas_budget === null)
    return html`<p class="small row"><strong>${id}</strong> <span class="quiet">not known</span></p>`;
  const { limit_wei, reserved_wei, spent_wei, available_wei } = gas_budget;
  const used = percent(String(BigInt(spent_wei) + BigInt(reserved_wei)), limit_wei);
  const told = `${formatWei(available_wei)} of ${formatWei(limit_wei)} left`;
  return html`<div class="payments">
    <p class="small row"><strong>${id}</strong> <span class="quiet amount">${told}</span></p>
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${`${id}: ${told}`}>
      <rect class="track" width="100" height="8"></rect>
      <rect class="spent" width=${used} height="8"></rect>
    </svg>
    <p class="small quiet">${formatWei(spent_wei)} spent, ${formatWei(reserved_wei)} reserved</p>
  </div>`;
}
