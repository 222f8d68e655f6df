import type { TraceData, TraceView } from "../../../sandbox/hosts/trace/trace-view.ts";

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
  return snapshot === null ? "" : ` Continue from its snapshot: routing-sandbox start --from ${snapshot}`;
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
    if (name === "q" || name === "purchase") return JSON.stringify(item).includes(wanted);
    if (name !== "status") return item[name] === wanted;
    const status = String(item["delivery"] ?? item["status"] ?? "lost");
    return status === wanted || `${status.charAt(0)}xx` === wanted;
  });
}

/** Finds what an id, a hash or a block number belongs to. */
function find(answers: TraceData["answers"], text: string): unknown[] {
  const wanted = text.trim().toLowerCase();
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
  return places.flatMap(([path, type, title]) => {
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
}
