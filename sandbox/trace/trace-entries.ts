import type { KeptFault } from "../activity/fault-log.ts";
import type { OpenRequestView, RequestView } from "../activity/views.ts";
import type { Explanation, Frame } from "../explain/explanation.ts";
import type { BlockView, EventView, RelayOperationView, TransactionView } from "../explorer/views.ts";
import type { Fault } from "../faults/fault.ts";
import type { TraceEntry } from "./trace-view.ts";

/** An entry before it has its place and number. */
export type UnplacedEntry = Omit<TraceEntry, "number">;

/** The fields that most entries leave empty. */
const plain = { outcome: "ok", detail: null, about: null } as const;

/** The lists that most entries leave empty. */
function none(): Pick<TraceEntry, "causes" | "checks" | "purchases"> {
  return { causes: [], checks: [], purchases: [] };
}

/** Returns the entry of an answered request. */
export function requestEntry(request: RequestView): UnplacedEntry {
  const { method, path, operation, status, code, refusal, replayed, duration_ms } = request;
  const answered = status === null ? "response lost" : `${status}${code === null ? "" : ` ${code}`}`;
  const isRefused = status !== null && status >= 400 && status < 500;
  return {
    ...none(),
    layer: "api",
    outcome: status === null || status >= 500 ? "failed" : isRefused ? "refused" : "ok",
    at: request.at,
    title: `${operation ?? `${method} ${path}`}: ${answered}${replayed ? ", replayed" : ""} (${duration_ms} ms)`,
    detail: status === null ? "A fault dropped the response." : (refusal?.detail ?? null),
    causes: refusal?.causes ?? [],
    checks: refusal?.checks ?? [],
    purchases: purchasesIn(request.objects),
    about: { type: "request", number: request.number },
  };
}

/** Returns the entry of a request that has no answer yet. */
export function openRequestEntry(
  { method, path, received }: OpenRequestView,
  index: number,
  now: number,
): UnplacedEntry {
  return {
    ...none(),
    layer: "api",
    outcome: "open",
    at: null,
    title: `${method} ${path}: no response for ${Math.round(now - Date.parse(received))} ms`,
    detail: "The request was in progress when the trace was written.",
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
            ...none(),
            layer: "clock",
            at,
            title: `Time moved ${inWords(seconds)} ahead.`,
          },
        ];
  if (sent.length > 0 || jump.length > 0) return [...jump, ...sent];
  return [{ ...plain, ...none(), layer: "clock", at, title: `Block ${number} was mined, empty.` }];
}

function transactionEntry(
  { hash, from, to, function: called, about, succeeded }: TransactionView,
  { number, at }: BlockView,
  explanation: Explanation | undefined,
): UnplacedEntry {
  const what = explanation?.trace?.call ?? called ?? "a transaction";
  const sender = from.name ?? from.address;
  const recipient = to === null ? "a new contract" : (to.name ?? to.address);
  return {
    ...none(),
    layer: "chain",
    outcome: succeeded ? "ok" : "failed",
    at,
    title: `${sender} called ${what} of ${recipient} in block ${number}: ${succeeded ? "succeeded" : "reverted"}`,
    detail: succeeded ? null : describeFailure(explanation),
    causes: succeeded ? [] : causesOf(explanation),
    purchases: about,
    about: { type: "transaction", hash, block: number },
  };
}

/** Says why a transaction reverted: with the error of the contract, and in words. */
function describeFailure(explanation: Explanation | undefined): string {
  const failure = explanation?.trace == null ? null : deepestFailure(explanation.trace);
  const meaning = explanation?.revert?.meaning ?? null;
  const reverted = `It reverted: ${failure ?? "without a reason"}.`;
  return meaning === null ? reverted : `${meaning} ${reverted}`;
}

/** The failed checks of a reverted transaction in words, apart from the one that says that it reverted. */
function causesOf(explanation: Explanation | undefined): string[] {
  return (explanation?.causes ?? []).filter((sentence) => !sentence.startsWith("It reverted"));
}

/** The failure of the innermost call that failed, which is the cause of those around it. */
function deepestFailure({ failure, calls }: Frame): string | null {
  if (failure === null) return null;
  return calls.map(deepestFailure).findLast((inner) => inner !== null) ?? failure;
}

/** Returns the entry of a relay operation. */
export function operationEntry(operation: RelayOperationView): UnplacedEntry {
  const { id, kind, status, status_reason, error, created_at, mined_at, purchase_id, attempt } = operation;
  const words = (text: string) => text.replaceAll("_", " ");
  const isFailed = ["reverted", "failed", "needs_attention", "abandoned"].includes(status);
  const again = attempt === 1 ? "" : `, attempt ${attempt}`;
  const reason = status_reason === null ? null : `${words(status_reason)}.`;
  return {
    ...none(),
    layer: "relayer",
    outcome: isFailed ? "failed" : "ok",
    at: mined_at ?? created_at,
    title: `The relayer's ${words(kind)}: ${words(status)}${again}`,
    detail: [error, reason].filter((part) => part !== null).join(" ") || null,
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
      status_code === null ? (error ?? (ended ? "no response" : "no outcome yet")) : `${status_code}`;
    const given = delivery === "exhausted" && number === attempts.length ? " It has no attempts left." : "";
    return {
      ...none(),
      layer: "delivery",
      outcome: isDelivered && !isForged ? "ok" : "failed",
      at,
      title: `Delivery attempt ${number} of ${type}: ${answer}`,
      detail: isForged
        ? "The receiver could not verify the signature."
        : isDelivered
          ? null
          : `The receiver did not accept the event: ${error ?? answer}.${given}`,
      purchases: purchasesIn([subject]),
      about: { type: "event", id },
    };
  });
}

/** Returns the entry of a change of the faults. */
export function faultEntry({ change, fault }: KeptFault, now: readonly Fault[]): UnplacedEntry {
  const { layer, point, action, match } = fault;
  const where = point === "now" ? "" : ` ${atPoint(point)}`;
  const who = Object.entries(match)
    .map(([name, text]) => `${name.replaceAll("_", " ")} ${text}`)
    .join(", ");
  const current = now.find((one) => one.point === point && one.action === action && one.layer === layer);
  const hits = change === "set" ? (current?.hits ?? 0) : 0;
  const acted = hits === 0 ? "It has not acted." : `It has acted ${hits === 1 ? "once" : `${hits} times`}.`;
  return {
    ...plain,
    ...none(),
    layer: "fault",
    at: null,
    title: `Fault ${change}: ${layer} ${action.replaceAll("_", " ")}${sizeOf(fault)}${where}${who && `, for ${who}`}`,
    detail: change === "set" ? acted : null,
    about: { type: "fault", hits },
  };
}

/** Says how far a fault goes, as in ` of 2 blocks`. */
function sizeOf({ depth, delay_ms, status }: Fault): string {
  if (depth !== undefined) return ` of ${depth} ${depth === 1 ? "block" : "blocks"}`;
  if (delay_ms !== undefined) return ` of ${delay_ms} ms`;
  return status === undefined ? "" : ` with status ${status}`;
}

/** Says where a fault acts, as in `at broadcast` or `after commit`. */
function atPoint(point: string): string {
  return `${/^(?:after|before|at)_/.test(point) ? "" : "at "}${point.replaceAll("_", " ")}`;
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
