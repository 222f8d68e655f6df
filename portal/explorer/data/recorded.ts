import type { Overview } from "../../../sandbox/explorer/views.ts";
import type { TraceData, TraceView } from "../../../sandbox/trace/trace-view.ts";

/** The data of a trace's page; null in the explorer of a running sandbox. */
export const recorded: TraceData | null = readData();

function readData(): TraceData | null {
  const text = document.getElementById("trace")?.textContent;
  return text === undefined || text === null ? null : JSON.parse(text);
}

/** The trace of a trace's page. */
export function recordedTrace(): TraceView {
  if (recorded === null) throw new Error("This page is no trace.");
  return recorded.trace;
}

/**
 * Answers what the explorer asks from a trace, which has whole lists: it filters them as the control API does.
 *
 * @throws Error for what the trace does not have, and for every change.
 */
export function answerRecorded(
  { answers, trace }: TraceData,
  method: "GET" | "POST" | "DELETE",
  address: string,
): unknown {
  const [path = "", search = ""] = address.split("?");
  const query = new URLSearchParams(search);
  if (method !== "GET") throw new Error(`A trace cannot be changed.${continued(trace)}`);
  if (path === "/explorer/search") return { data: find(answers, query.get("q") ?? "") };
  const answer = answers[path];
  if (answer === undefined) throw new Error("The trace does not have this.");
  if (!isList(answer)) return answer;
  return {
    ...answer,
    data: inOrder(
      answer.data.filter((item) => isAsked(item, query)),
      query.get("order"),
    ),
  };
}

function continued({ snapshot }: TraceView): string {
  return snapshot === null
    ? ""
    : ` Continue from its snapshot: routing-sandbox start --from ${snapshot} --data-dir ${snapshot}.data`;
}

interface List {
  data: { [field: string]: unknown }[];
}

function isList(answer: unknown): answer is List {
  return typeof answer === "object" && answer !== null && "data" in answer && Array.isArray(answer.data);
}

function inOrder(data: List["data"], order: string | null): List["data"] {
  if (order === "oldest") return data.toReversed();
  if (order !== "slowest") return data;
  return data.toSorted((left, right) => Number(right["duration_ms"]) - Number(left["duration_ms"]));
}

/** Returns whether an item of a list matches each part of a query. */
function isAsked(item: List["data"][number], query: URLSearchParams): boolean {
  return [...query].every(([name, wanted]) => {
    if (wanted === "" || name === "order" || name === "limit") return true;
    if (name === "cursor") return Number(item["number"]) <= Number(wanted);
    if (name === "has") return isFilled(item[wanted]);
    if (name === "q" && /^\d+$/.test(wanted) && "number" in item) return String(item["number"]) === wanted;
    if (name === "q" || name === "purchase")
      return JSON.stringify(item).toLowerCase().includes(wanted.toLowerCase());
    if (name !== "status") return item[name] === wanted;
    const status = String(item["delivery"] ?? item["status"] ?? "lost");
    return status === wanted || `${status.charAt(0)}xx` === wanted;
  });
}

function isFilled(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}

/** Finds what an id, a hash, an address or a block number belongs to, also after `explain`. A trace creates no states: `given` finds nothing. */
function find(answers: TraceData["answers"], text: string): unknown[] {
  const wanted = text
    .trim()
    .toLowerCase()
    .replace(/^explain\s+/, "");
  const label = labelsOf(answers)[wanted];
  if (label !== undefined) return [{ type: "account", id: wanted, title: label, purchase_id: null }];
  if (answers[`/explain/${wanted}`] !== undefined)
    return [{ type: "transaction", id: wanted, title: "A transaction", purchase_id: null }];
  const places = [
    ["/explorer/purchases", "purchase", "A purchase"],
    ["/explorer/merchants", "merchant", "A merchant"],
    ["/explorer/operations", "operation", "A relay operation"],
    ["/explorer/events", "event", "An event"],
    ["/explorer/blocks", "block", "A block"],
    ["/requests", "request", "A request"],
  ] as const;
  const listed = places.flatMap(([path, type, title]) => {
    const list = answers[path];
    const names = ["id", "number", "hash", "commitment_hash"];
    const found = isList(list)
      ? list.data.filter((item) => names.some((name) => String(item[name]) === wanted))
      : [];
    return found.map((item) => ({
      type,
      id: String(type === "block" ? item["number"] : item["id"]),
      title,
      purchase_id: type === "purchase" ? item["id"] : (item["purchase_id"] ?? null),
    }));
  });
  return listed.length > 0 ? listed : findInTimelines(answers, wanted);
}

function labelsOf(answers: TraceData["answers"]): { [address: string]: string } {
  const { labels } = answers["/explorer/overview"] as Overview;
  return labels;
}

/** The names of the records that only timelines have, by the start of their ids. */
const ofPurchase: { readonly [start: string]: string } = { clm: "claim", dec: "decision", ref: "refund" };

/** Finds the purchases whose timeline has an id or a hash, as that of a claim or of a decision. */
function findInTimelines(answers: TraceData["answers"], wanted: string): unknown[] {
  const what = ofPurchase[wanted.split("_")[0] ?? ""];
  return Object.entries(answers).flatMap(([path, answer]) => {
    const [, id] = /^\/explorer\/purchases\/(.+)$/.exec(path) ?? [];
    if (id === undefined || !JSON.stringify(answer).toLowerCase().includes(`"${wanted}"`)) return [];
    const title =
      what === undefined ? "A purchase that has it in its timeline" : `The purchase of this ${what}`;
    return [{ type: "purchase", id, title, purchase_id: id }];
  });
}
