import type { Fault } from "../../service/faults/fault.ts";
import type { Explanation, Frame } from "../explain/explanation.ts";
import type {
  BlockView,
  EventView,
  OpenRequestView,
  RelayOperationView,
  RequestView,
  TransactionView,
} from "../explorer/views.ts";
import type { KeptFault } from "./fault-log.ts";
import type { TraceEntry } from "./trace-view.ts";

/** An entry before it has its place and number. */
export type UnplacedEntry = Omit<TraceEntry, "number">;

/** The fields that most entries leave empty. */
const plain = { outcome: "ok", detail: null, checks: [], purchases: [], about: null } as const;

/** Returns the entry of an answered request. */
export function requestEntry(request: RequestView): UnplacedEntry {
  const { method, path, operation, status, code, refusal, replayed, duration_ms } = request;
  const answered = status === null ? "answer lost" : `${status}${code === null ? "" : ` ${code}`}`;
  const isRefused = status !== null && status >= 400 && status < 500;
  return {
    layer: "api",
    outcome: status === null || status >= 500 ? "failed" : isRefused ? "refused" : "ok",
    at: request.at,
    title: `${operation ?? `${method} ${path}`}: ${answered}${replayed ? ", replayed" : ""} (${duration_ms} ms)`,
    detail: status === null ? "A fault dropped the answer." : (refusal?.detail ?? null),
    checks: refusal?.checks ?? [],
    purchases: purchasesIn(request.objects),
    about: { type: "request", number: request.number },
  };
}

/** Returns the entry of a request that has no answer yet. */
export function openRequestEntry({ method, path }: OpenRequestView, index: number): UnplacedEntry {
  return {
    ...plain,
    layer: "api",
    outcome: "failed",
    at: null,
    title: `${method} ${path}: no answer yet`,
    detail: "The request was in progress when the trace was written.",
    checks: [],
    purchases: purchasesIn(path.match(/\bpur_[a-z2-7]{20}\b/g) ?? []),
    about: { type: "open_request", index },
  };
}

/** Returns the entries of a block: its transactions, decoded, and the jump of time before it. */
export function blockEntries(
  block: BlockView,
  before: BlockView | undefined,
  explanations: ReadonlyMap<string, Explanation>,
  isLive: boolean,
): UnplacedEntry[] {
  const { number, at, transactions } = block;
  const sent = transactions.map((transaction) =>
    transactionEntry(transaction, block, explanations.get(transaction.hash)),
  );
  const seconds = before === undefined ? 0 : (Date.parse(at) - Date.parse(before.at)) / 1_000;
  // In mode live the wall clock moves on by itself.
  const jump: UnplacedEntry[] =
    seconds <= (isLive ? 60 : 1)
      ? []
      : [
          {
            ...plain,
            layer: "clock",
            at,
            title: `Time moved ${inWords(seconds)} ahead.`,
            checks: [],
            purchases: [],
          },
        ];
  if (sent.length > 0 || jump.length > 0) return [...jump, ...sent];
  return [
    { ...plain, layer: "clock", at, title: `Block ${number} was mined, empty.`, checks: [], purchases: [] },
  ];
}

function transactionEntry(
  { hash, from, to, function: called, about, succeeded }: TransactionView,
  { number, at }: BlockView,
  explanation: Explanation | undefined,
): UnplacedEntry {
  const what = explanation?.trace?.call ?? called ?? "a transaction";
  const sender = from.name ?? from.address;
  const recipient = to === null ? "a new contract" : (to.name ?? to.address);
  const failure = explanation?.trace == null ? null : deepestFailure(explanation.trace);
  return {
    layer: "chain",
    outcome: succeeded ? "ok" : "failed",
    at,
    title: `${sender} called ${what} of ${recipient} in block ${number}: ${succeeded ? "succeeded" : "reverted"}`,
    detail: succeeded ? null : `It reverted: ${failure ?? "without a reason"}.`,
    checks: [],
    purchases: about,
    about: { type: "transaction", hash, block: number },
  };
}

/** The failure of the innermost call that failed, which is the cause of those around it. */
function deepestFailure({ failure, calls }: Frame): string | null {
  if (failure === null) return null;
  return calls.map(deepestFailure).findLast((inner) => inner !== null) ?? failure;
}

/** Returns the entry of a relay operation. */
export function operationEntry(operation: RelayOperationView): UnplacedEntry {
  const { id, kind, status, status_reason, error, created_at, purchase_id, attempt } = operation;
  const words = (text: string) => text.replaceAll("_", " ");
  const isFailed = ["reverted", "failed", "needs_attention", "abandoned"].includes(status);
  const again = attempt === 1 ? "" : `, attempt ${attempt}`;
  const reason = status_reason === null ? null : `${words(status_reason)}.`;
  return {
    layer: "relayer",
    outcome: isFailed ? "failed" : "ok",
    at: created_at,
    title: `The relayer's ${words(kind)}: ${words(status)}${again}`,
    detail: [error, reason].filter((part) => part !== null).join(" ") || null,
    checks: [],
    purchases: purchase_id === null ? [] : [purchase_id],
    about: { type: "operation", id },
  };
}

/** Returns the entries of an event: every attempt to deliver it. */
export function deliveryEntries({
  id,
  type,
  subject,
  delivery,
  attempts,
  arrivals,
}: EventView): UnplacedEntry[] {
  return attempts.map(({ number, at, ended, status_code, error }) => {
    const isDelivered = status_code !== null && status_code < 300;
    const isForged = arrivals.some(({ verified }) => !verified);
    const answer =
      status_code === null ? (error ?? (ended ? "no answer" : "no outcome yet")) : `${status_code}`;
    const given = delivery === "exhausted" && number === attempts.length ? " It has no attempts left." : "";
    return {
      layer: "delivery",
      outcome: isDelivered && !isForged ? "ok" : "failed",
      at,
      title: `Delivery attempt ${number} of ${type}: ${answer}`,
      detail: isForged
        ? "The receiver could not verify the signature."
        : isDelivered
          ? null
          : `The receiver did not accept the event: ${error ?? answer}.${given}`,
      checks: [],
      purchases: purchasesIn([subject]),
      about: { type: "event", id },
    };
  });
}

/** Returns the entry of a change of the faults. */
export function faultEntry({ change, fault }: KeptFault, now: readonly Fault[]): UnplacedEntry {
  const { layer, point, action, match } = fault;
  const who = Object.entries(match)
    .map(([name, text]) => `${name.replaceAll("_", " ")} ${text}`)
    .join(", ");
  const current = now.find((one) => one.point === point && one.action === action && one.layer === layer);
  const hits = current === undefined ? "" : ` It has acted ${current.hits} times.`;
  return {
    ...plain,
    layer: "fault",
    outcome: change === "set" ? "failed" : "ok",
    at: null,
    title: `Fault ${change}: ${layer} ${action.replaceAll("_", " ")} at ${point.replaceAll("_", " ")}${who && `, for ${who}`}`,
    detail: change === "set" ? `The sandbox misbehaves on purpose.${hits}` : null,
    checks: [],
    purchases: [],
  };
}

function purchasesIn(ids: readonly string[]): string[] {
  return ids.filter((id) => id.startsWith("pur_"));
}

function inWords(seconds: number): string {
  const units = [
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
    [1, "second"],
  ] as const;
  let rest = seconds;
  const parts: string[] = [];
  for (const [size, name] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? "" : "s"}`);
  }
  return parts.slice(0, 2).join(" ");
}
