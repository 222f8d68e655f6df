import type { ExplorerChange } from "../../sandbox/activity/views.ts";
import type { Overview } from "../../sandbox/explorer/views.ts";
import { html, nothing, render, type TemplateResult } from "../vendor/lit-html/lit-html.js";
import { readExplorer, Unreachable } from "./api.ts";
import { followChanges, type StreamState } from "./data/changes.ts";
import { recorded } from "./data/recorded.ts";
import { frame } from "./frame.ts";
import { hrefTo, type PageAddress, parsePageAddress } from "./page-address.ts";
import type { View, ViewContext } from "./view.ts";
import { requestsView } from "./views/activity/requests.ts";
import { traceView } from "./views/activity/trace.ts";
import { blocksView } from "./views/blocks.ts";
import { controlsView } from "./views/controls/controls.ts";
import { eventsView } from "./views/events.ts";
import { merchantsView } from "./views/merchants.ts";
import { overviewView } from "./views/overview.ts";
import { purchaseView } from "./views/purchases/purchase.ts";
import { purchasesView } from "./views/purchases/purchases.ts";
import { refusalsView } from "./views/refused-transactions.ts";
import { operationsView } from "./views/relay-operations.ts";
import { searchView } from "./views/search.ts";
import { transactionView } from "./views/transaction.ts";

const views: { readonly [name: string]: View } = {
  "": recorded === null ? overviewView : traceView,
  ...(recorded === null ? { controls: controlsView } : { overview: overviewView, timeline: traceView }),
  purchases: purchasesView,
  operations: operationsView,
  events: eventsView,
  refusals: refusalsView,
  requests: requestsView,
  blocks: blocksView,
  merchants: merchantsView,
  search: searchView,
  transactions: transactionView,
};

/** The pause of the page between two reads while a lot changes, in milliseconds. */
const restMs = 200;

/** The page as it is: where, what was read, and what is known of the connection. */
const page: {
  pageAddress: PageAddress;
  overview: Overview | null;
  /** The time at which the overview was read, by this machine's clock: a live sandbox's time continues from there. */
  readAt: number;
  /** The result of the view's own load; undefined until it was read. */
  data: unknown;
  /** Whether the data is of another query of the same view, until it was read again. */
  isStale: boolean;
  problem: string | null;
  connection: StreamState;
  /** The result of the last action. */
  notice: { good: boolean; text: string } | null;
} = {
  pageAddress: parsePageAddress(location.hash),
  overview: null,
  readAt: 0,
  data: undefined,
  isStale: false,
  problem: null,
  connection: recorded === null ? "connecting" : "recorded",
  notice: null,
};

function viewOf({ view, id }: PageAddress): View | undefined {
  if (view === "purchases" && id !== "") return purchaseView;
  return Object.hasOwn(views, view) ? views[view] : undefined;
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element ${id}.`);
  return found;
}

function draw(): void {
  const { pageAddress, overview, connection } = page;
  const view = viewOf(pageAddress);
  document.title = `${view?.title(pageAddress) ?? "Not found"} · Routing sandbox`;
  render(frame(pageAddress, overview, connection), element("top"));
  const main = element("main");
  main.setAttribute("aria-busy", String(page.problem === null && (page.data === undefined || page.isStale)));
  const wasOnHeading = document.activeElement?.matches("h1") === true;
  render(html`${banner()} ${content(view)}`, main);
  if (wasOnHeading) keepFocus();
}

function banner(): TemplateResult | typeof nothing {
  const { connection, notice } = page;
  if (connection === "gone")
    return html`<p class="notice warn disconnected">
      The sandbox does not respond.
      ${page.data === undefined ? "The page continues" : "The page shows earlier data, and reads it again"} as soon as
      the sandbox is back.
    </p>`;
  if (notice === null) return nothing;
  return html`<p class=${`notice ${notice.good ? "good" : "bad"}`}>${notice.text}</p>`;
}

function content(view: View | undefined): TemplateResult {
  const { overview, data, problem, pageAddress } = page;
  if (view === undefined)
    return html`<h1 tabindex="-1">Nothing here</h1>
      <p>The explorer has no page ${pageAddress.view}. Choose one in the menu, or find an id, a hash or an address.</p>`;
  if (problem !== null && page.connection !== "gone")
    return html`<h1 tabindex="-1">${headingOf(view)}</h1>
      <div class="notice bad">
        <p>${problem}</p>
        <p class="row">
          <button type="button" @click=${() => refresh()}>Try again</button>
          ${pageAddress.id === "" || pageAddress.view === "transactions" ? nothing : html`<a href=${hrefTo(pageAddress.view)}>Show all ${pageAddress.view}</a>`}
        </p>
      </div>`;
  if (data === undefined || overview === null)
    return html`<h1 tabindex="-1">${headingOf(view)}</h1><p class="quiet">Reading …</p>`;
  return view.draw(data, sceneOf(overview));
}

function headingOf(view: View): string {
  return view.heading ?? view.title(page.pageAddress);
}

function sceneOf(overview: Overview): ViewContext {
  const { pageAddress } = page;
  const passed = overview.mode === "live" && recorded === null ? Date.now() - page.readAt : 0;
  const measure = { ...overview.token, labels: overview.labels, now: Date.parse(overview.now) + passed };
  return { pageAddress, overview, measure, isRecorded: recorded !== null, redraw: draw, act };
}

async function act(said: string, action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
    page.notice = { good: true, text: said };
  } catch (error) {
    page.notice = { good: false, text: error instanceof Error ? error.message : "It failed." };
  }
  say(page.notice.text);
  await refresh();
  keepFocus();
}

/** Continues at the heading for screen readers and the keyboard, when what had the focus is gone. */
function keepFocus(): void {
  if (document.activeElement === document.body) focusHeading();
}

function focusHeading(): void {
  document.querySelector<HTMLElement>("h1")?.focus();
}

/** Says something to screen readers. */
function say(text: string): void {
  element("said").textContent = text;
}

let reading: Promise<void> | null = null;
let again = false;

/** Reads the view again; what changes meanwhile makes one more reading together, a little later. */
function refresh(): Promise<void> {
  again = true;
  reading ??= readUntilCurrent().finally(() => {
    reading = null;
  });
  return reading;
}

async function readUntilCurrent(): Promise<void> {
  while (again) {
    again = false;
    const { pageAddress } = page;
    await readOnce();
    // Going to another view does not wait.
    if (again && pageAddress === page.pageAddress)
      await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}

async function readOnce(): Promise<void> {
  const { pageAddress } = page;
  const view = viewOf(pageAddress);
  const overview = readOverview();
  try {
    const [data] = await Promise.all([view?.load(pageAddress) ?? null, overview]);
    if (pageAddress === page.pageAddress) Object.assign(page, { data, isStale: false, problem: null });
  } catch (error) {
    // The top is drawn with the problem.
    await overview.catch(() => undefined);
    if (error instanceof Unreachable) page.connection = "gone";
    if (pageAddress === page.pageAddress)
      page.problem = error instanceof Error ? error.message : "It failed.";
  }
  draw();
}

/** Reads what every view has at its top, also when the view itself cannot be read. */
async function readOverview(): Promise<void> {
  const overview = await readExplorer<Overview>("/overview");
  Object.assign(page, { overview, readAt: Date.now() });
}

/** Returns whether a change concerns the current view. */
function concerns({ topics, purchases: changed }: ExplorerChange): boolean {
  if (topics.includes("everything")) return true;
  const view = viewOf(page.pageAddress);
  if (view === purchaseView && changed?.includes(page.pageAddress.id)) return true;
  const shown = new Set(["blocks", "faults", ...(view?.topics ?? [])]);
  return topics.some((topic) => shown.has(topic));
}

addEventListener("hashchange", async () => {
  const before = page.pageAddress;
  const pageAddress = parsePageAddress(location.hash);
  // Another filter of the same list: what is there stays until the new list was read, and the focus stays in the filter.
  const isSame = before.view === pageAddress.view && before.id === pageAddress.id;
  const data = isSame ? page.data : undefined;
  Object.assign(page, { pageAddress, data, isStale: isSame, problem: null, notice: null });
  draw();
  // Screen readers and the keyboard continue at the new view, also at another page of a list. If the user moves the
  // focus while the view is read, it stays there.
  if (!isSame || before.query.get("cursor") !== pageAddress.query.get("cursor")) focusHeading();
  await refresh();
  keepFocus();
});

document.addEventListener("click", async (event) => {
  const { target } = event;
  if (target instanceof Element && target.matches(".skip")) {
    // The part behind the # is the view's.
    event.preventDefault();
    element("main").focus();
    return;
  }
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-copy]") : null;
  if (button === null) return;
  if (!isSecureContext)
    return say("Over http, a browser copies at localhost and 127.0.0.1 only. Select the text instead.");
  await navigator.clipboard.writeText(button.dataset["copy"] ?? "");
  say("Copied.");
  button.classList.add("done");
  setTimeout(() => button.classList.remove("done"), 1_200);
});

// A live sandbox's time continues although nothing happens.
setInterval(() => {
  if (recorded === null && page.overview?.mode === "live" && document.visibilityState === "visible") draw();
}, 5_000);

element("main").replaceChildren();
draw();
void refresh();
if (recorded === null)
  followChanges({
    changed: (change) => {
      if (concerns(change)) void refresh();
    },
    connected: (connection) => {
      if (connection === page.connection) return;
      if (connection === "gone") say("The sandbox does not respond.");
      else if (page.connection === "gone") say("The sandbox is back.");
      page.connection = connection;
      draw();
    },
  });
