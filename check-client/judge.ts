import { redact } from "../server/http/redact.ts";
import type { CheckCase } from "./check-case.ts";
import {
  type ClientRequest,
  hasSucceeded,
  isWrite,
  nameWrite,
  subjectOf,
  takesKey,
} from "./client-requests.ts";
import type { Observation } from "./client-runs.ts";
import { compareEffects, type EffectKind, effectNames } from "./effects.ts";

/** The verdicts of a case, the best first. */
export const verdicts = [
  "safe",
  "stopped",
  "not_reached",
  "wrong_figures",
  "lost",
  "accepted_forgery",
  "acted_twice",
] as const;

/** The verdict of a case. */
export type CaseVerdict = (typeof verdicts)[number];

/** A verdict and its reason. */
export interface Judged {
  verdict: CaseVerdict;
  /** One sentence. */
  cause: string;
}

/** What the runs without a fault did, which the others are compared with. */
export interface CleanRuns {
  first: Observation;
  /** The kinds of effects whose sums differ between two clean runs. */
  unequalSums: readonly EffectKind[];
}

/** Judges the run of a case by its effects, the requests and the figures, compared with a clean run. */
export function judge(checked: CheckCase, run: Observation, clean: CleanRuns): Judged {
  const { more, fewer } = compareEffects(run.effects, clean.first.effects, clean.unequalSums);
  // A reorg has more events, of effects that are made again.
  const twice = more.filter((kind) => kind !== "events");
  const missing = fewer.map((kind) => describe(kind, run, clean)).join(", ");
  if (!run.reached) return { verdict: "not_reached", cause: notReached(checked, run) };
  const again =
    findNewKey(run, clean.first) ?? (isOfEvent(checked) ? findFurtherWrite(run, clean.first) : null);
  if (twice.length > 0)
    return {
      verdict: "acted_twice",
      cause: sentence(`${twice.map((kind) => describe(kind, run, clean)).join(", ")}`, again),
    };
  const accepted = run.forged.find((status) => status !== null && status < 300);
  if (accepted !== undefined)
    return {
      verdict: "accepted_forgery",
      cause: sentence(
        `the receiver responded with ${accepted} to ${describeForgery[checked.fault] ?? "a forged event"}, ${checked.operation}`,
        again,
      ),
    };
  if (again !== null) return { verdict: "acted_twice", cause: `${again}.` };
  if (run.failure !== null)
    return { verdict: "stopped", cause: sentence(run.failure, missing === "" ? null : missing) };
  const [stale] = run.stale.filter(({ field }) => !clean.first.stale.some((one) => one.field === field));
  const wrong: Judged | null =
    stale === undefined
      ? null
      : {
          verdict: "wrong_figures",
          cause: `the client last read ${stale.field} ${stale.read} of ${stale.purchase}, and it is ${stale.actual}.`,
        };
  // After a reorg an effect is missing because the client did not look again.
  if (wrong !== null && checked.fault === "reorg") return wrong;
  if (missing !== "") return { verdict: "lost", cause: `the client reported success, and ${missing}.` };
  return wrong ?? { verdict: "safe", cause: "the effects are those of the clean run." };
}

const describeForgery: { readonly [fault: string]: string | undefined } = {
  "forged-signature": "an event with a wrong signature",
  "forged-body": "an event whose body was changed",
  "forged-bytes": "an event whose bytes were changed, with the same JSON",
  "forged-timestamp": "an event with a timestamp of 20 minutes ago",
  "forged-key": "an event that another key has signed",
};

function isOfEvent({ fault }: CheckCase): boolean {
  return fault.startsWith("event-") || fault.startsWith("forged-");
}

function sentence(clause: string, further: string | null): string {
  return `${clause}${further === null ? "" : `; ${further}`}.`;
}

/** Says how many effects of a kind a run had, and their ids if they are more than in the clean run. */
function describe(kind: EffectKind, run: Observation, clean: CleanRuns): string {
  const [made, before] = [run.effects[kind], clean.first.effects[kind]];
  const name = effectNames[kind];
  if (made.ids.length === before.ids.length)
    return `${name}s of ${made.sum} in place of ${before.sum} base units`;
  const many = `${made.ids.length} ${made.ids.length === 1 ? name : `${name}s`}`;
  const others = made.ids.length > before.ids.length ? ` (${made.ids.join(", ")})` : "";
  return `${many} in place of ${before.ids.length}${others}`;
}

function notReached({ fault, operation, subject, n }: CheckCase, { failure }: Observation): string {
  const why = failure === null ? "" : `, because ${failure}`;
  return `the run did not get to ${nameWrite({ operation, subject })} (${n}) with ${fault}${why}.`;
}

/** The same write, whatever its key. */
function identify({ operation, path, body }: ClientRequest): string {
  return JSON.stringify([operation, path, body]);
}

function keysOf(requests: readonly ClientRequest[], identity: string): number {
  const same = requests.filter((request) => identify(request) === identity);
  return new Set(same.map(({ idempotency_key }) => idempotency_key)).size;
}

/** Whether a client cannot know if a request has taken effect. */
function isUncertain({ status }: ClientRequest): boolean {
  return status === null || status === 429 || status >= 500;
}

/**
 * Returns the first write that was requested again with another key, or with another body under the same key, after an uncertain response; null
 * if there is none.
 */
function findNewKey(run: Observation, clean: Observation): string | null {
  const writes = run.requests.filter((request) => isWrite(request) && takesKey(request));
  for (const [index, uncertain] of writes.entries()) {
    if (!isUncertain(uncertain)) continue;
    const identity = identify(uncertain);
    const mayRepeat = keysOf(writes, identity) <= Math.max(1, keysOf(clean.requests, identity));
    const again = writes.slice(index + 1).find(({ operation, path, body, idempotency_key: key }) => {
      const isSameWrite = operation === uncertain.operation && path === uncertain.path;
      const isSameKey = key === uncertain.idempotency_key;
      return isSameWrite && (isSameKey ? body !== uncertain.body : body === uncertain.body && !mayRepeat);
    });
    if (again === undefined) continue;
    const after = Math.max(0, Math.round(again.startedAt - uncertain.startedAt - uncertain.durationMs));
    const how = uncertain.status === null ? "its response was lost" : `its response was ${uncertain.status}`;
    const name = nameWrite({
      operation: uncertain.operation,
      subject: subjectOf(uncertain) ?? subjectOf(again),
    });
    const [before, then] = [uncertain, again].map((request) => redact(request.idempotency_key ?? "none"));
    const other =
      before === then
        ? `another body under the Idempotency-Key ${before}`
        : `another Idempotency-Key (${before}, then ${then})`;
    return `${name} was requested again with ${other} ${after} ms after ${how}`;
  }
  return null;
}

/** Returns the write that the client has done more often than in the clean run, as a clause; null if there is none. */
function findFurtherWrite(run: Observation, clean: Observation): string | null {
  const done = (observed: Observation) =>
    observed.requests.filter((one) => isWrite(one) && takesKey(one) && hasSucceeded(one));
  const before = Map.groupBy(done(clean), ({ operation }) => operation);
  for (const [operation, requests] of Map.groupBy(done(run), (request) => request.operation)) {
    const further = requests[before.get(operation)?.length ?? 0];
    if (further !== undefined)
      return `${nameWrite({ operation, subject: subjectOf(further) })} was done ${requests.length} times in place of ${before.get(operation)?.length ?? 0}`;
  }
  return null;
}
