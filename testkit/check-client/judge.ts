import { redact } from "../../server/http/redact.ts";
import type { CheckCase } from "./check-case.ts";
import { type ClientRequest, isWrite, nameWrite, subjectOf, takesKey } from "./client-requests.ts";
import type { Observation } from "./client-runs.ts";
import { compareEffects, type EffectKind, effectNames } from "./effects.ts";
import { actMs, late } from "./event-cases.ts";

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

/** The runs without a fault, which the others are compared with. */
export interface CleanRuns {
  first: Observation;
  second: Observation;
  /** A run in which the event of the forgery was held and not forged; null as long as there was none. */
  held: Observation | null;
  /** The kinds of effects whose sums differ between two clean runs. */
  unequalSums: readonly EffectKind[];
}

/**
 * Judges the run of a case by its effects, the requests and the figures, compared with a clean run. Returns null if only the run in which the
 * event is held can tell whether the client acted because of a forgery.
 */
export function judge(checked: CheckCase, run: Observation, clean: CleanRuns): Judged | null {
  if (!run.reached) return { verdict: "not_reached", cause: notReached(checked, run) };
  const judged = judgeEffects(checked, run, clean);
  if (judged === null || judged.verdict === "safe" || run.arrival === null) return judged;
  return { verdict: judged.verdict, cause: `${run.arrival}; ${judged.cause}` };
}

function judgeEffects(checked: CheckCase, run: Observation, clean: CleanRuns): Judged | null {
  const { more, fewer } = compareEffects(run.effects, clean.first.effects, clean.unequalSums);
  // A reorg has more events, of effects that are made again.
  const ignored = ["events", ...moreAnyway(clean)];
  const twice = more.filter((kind) => !ignored.includes(kind)).map((kind) => describe(kind, run, clean));
  const again = [
    findNewKey(run, clean.first, cutRequest(checked, run)),
    isOfEvent(checked) ? findFurtherWrite(run, clean) : null,
  ];
  const forgery = forgeriesInWords[checked.fault];
  const early = forgery === undefined ? null : findEarlyAct(run, clean);
  again.push(early);
  const acted = [...twice, ...again.filter((clause) => clause !== null)];
  // Without a response, only what the client does tells whether it believed the event.
  const accepted = run.holds.find(({ status }) => status !== null && (status < 400 || status >= 500));
  if (forgery !== undefined && (accepted !== undefined || acted.length > 0)) {
    if (clean.held === null && (accepted === undefined || early !== null)) return null;
    const status = (accepted ?? run.holds[0])?.status ?? null;
    const response = status === null ? "sent no response" : `responded with ${status}`;
    return {
      verdict: "accepted_forgery",
      cause: sentence(`the receiver ${response} to ${checked.operation} ${forgery}`, ...acted),
    };
  }
  if (acted.length > 0) return { verdict: "acted_twice", cause: sentence(...acted) };
  const missing = fewer.map((kind) => missingOf(kind, run, clean)).join(", ");
  if (run.failure !== null) {
    const clauses = [run.failure, lastFailure(run), missing === "" ? null : `missing: ${missing}`];
    return { verdict: "stopped", cause: sentence(...clauses.filter((clause) => clause !== null)) };
  }
  const wrong = findWrongFigure(run, clean.first);
  // After a reorg an effect is missing because the client did not look again.
  if (wrong !== null && checked.fault === "reorg") return { verdict: "wrong_figures", cause: wrong };
  if (missing !== "")
    return { verdict: "lost", cause: sentence("the client reported success", `missing: ${missing}`) };
  if (wrong !== null) return { verdict: "wrong_figures", cause: wrong };
  return { verdict: "safe", cause: "the effects are those of the clean run." };
}

/** Returns the first figure that the client has wrong, and that it had right without a fault; null if there is none. */
function findWrongFigure(run: Observation, clean: Observation): string | null {
  const stale = run.stale.find(({ field }) => !clean.stale.some((one) => one.field === field));
  if (stale === undefined) return null;
  const { field, read, purchase, actual } = stale;
  return `the client last read ${field} ${read} of ${purchase}, which is ${actual} on the chain.`;
}

/** The mistake of each forgery. */
const forgeriesInWords: { readonly [fault: string]: string | undefined } = {
  "forged-signature": "with a wrong signature",
  "forged-body": "with a changed body",
  "forged-bytes": "with changed bytes of the same JSON",
  "forged-timestamp": `with a timestamp of ${late} ago`,
  "forged-key": "that another key has signed",
};

/** The kinds of which the run with the held event has more effects than the clean run. */
function moreAnyway({ held, first, unequalSums }: CleanRuns): readonly EffectKind[] {
  return held === null ? [] : compareEffects(held.effects, first.effects, unequalSums).more;
}

/**
 * Says what the client did between a forged event and the genuine one, as a clause; null if it did nothing, or does as much before the genuine
 * event without the forgery.
 */
function findEarlyAct(run: Observation, { held, unequalSums }: CleanRuns): string | null {
  // A second one follows the genuine event, on which the client acts.
  const [hold] = run.holds;
  if (hold === undefined) return null;
  const { from, before, after } = hold;
  const until = Math.min(hold.until, from + actMs);
  const earlier = keysUntil(run, from);
  const made = keysUntil(run, until);
  // A client that has ended before the event did everything without it.
  const [heldHold] = held?.holds ?? [];
  const anyway = held === null ? earlier : keysUntil(held, heldHold?.until ?? Number.POSITIVE_INFINITY);
  const write = run.requests.find((request) => {
    const { operation, startedAt, idempotency_key: key } = request;
    const isNew = isWrite(request) && takesKey(request) && !earlier(operation).has(key);
    return isNew && startedAt < until && made(operation).size > anyway(operation).size;
  });
  if (write !== undefined) {
    const name = nameWrite({ operation: write.operation, subject: subjectOf(write) });
    return `${name} was requested ${Math.round(write.startedAt - from)} ms after it, before the genuine event`;
  }
  if (hold.until > until) return null;
  const usual = held === null ? before : (heldHold?.after ?? held.effects);
  const unusual = compareEffects(after, usual, unequalSums).more;
  const kind = compareEffects(after, before).more.find((one) => one !== "events" && unusual.includes(one));
  return kind === undefined ? null : `${effectNames[kind]}s were made after it, before the genuine event`;
}

/** Returns the keys under which the client has requested an operation before a time. */
function keysUntil({ requests }: Observation, until: number) {
  return (operation: string): ReadonlySet<string | null> =>
    new Set(
      requests
        .filter(
          (one) => isWrite(one) && takesKey(one) && one.operation === operation && one.startedAt < until,
        )
        .map(({ idempotency_key: key }) => key),
    );
}

function isOfEvent({ fault }: Pick<CheckCase, "fault">): boolean {
  return fault.startsWith("event-") || fault.startsWith("forged-");
}

function sentence(...clauses: readonly string[]): string {
  return `${clauses.join("; ")}.`;
}

/** Says what a run lacks of a kind of effects. */
function missingOf(kind: EffectKind, run: Observation, clean: CleanRuns): string {
  const count = clean.first.effects[kind].ids.length - run.effects[kind].ids.length;
  if (count === 0) return describe(kind, run, clean);
  return `${count} ${count === 1 ? effectNames[kind] : `${effectNames[kind]}s`}`;
}

/** Names the last request that was not answered with a success, as a clause; null if there is none. */
function lastFailure({ requests }: Observation): string | null {
  const last = requests.findLast(
    ({ status, givenUpAt }) => status === null || givenUpAt !== null || status === 202 || status >= 400,
  );
  if (last === undefined) return null;
  const { operation, status, givenUpAt, code } = last;
  const response = status === null || givenUpAt !== null ? "no response" : `${status} ${code ?? ""}`.trim();
  return `the last failed request, ${nameWrite({ operation, subject: subjectOf(last) })}, got ${response}`;
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
  const ended = isOfEvent({ fault })
    ? "; if the command ended before the event was delivered, have it wait for its events"
    : "";
  const why = failure === null ? ended : `, because ${failure}`;
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
function isUncertain({ status, givenUpAt }: ClientRequest): boolean {
  return status === null || givenUpAt !== null || status === 202 || status === 429 || status >= 500;
}

/** Returns the request whose response the fault `partial` has cut, which the log has with its status; undefined for other faults. */
function cutRequest(
  { fault, operation, n }: CheckCase,
  { requests }: Observation,
): ClientRequest | undefined {
  const request = fault === "partial" ? requests.filter(isWrite)[n - 1] : undefined;
  return request?.operation === operation ? request : undefined;
}

/**
 * Returns the first write that was requested again with another key, with none, or with another body under the same key, after an uncertain
 * response; null if there is none.
 */
function findNewKey(run: Observation, clean: Observation, cut: ClientRequest | undefined): string | null {
  const writes = run.requests.filter((request) => isWrite(request) && takesKey(request));
  const alwaysHasKey = clean.requests.every((one) => !takesKey(one) || one.idempotency_key !== null);
  for (const [index, uncertain] of writes.entries()) {
    if (uncertain !== cut && !isUncertain(uncertain)) continue;
    const identity = identify(uncertain);
    const mayRepeat = keysOf(writes, identity) <= Math.max(1, keysOf(clean.requests, identity));
    const later = writes.slice(index + 1);
    // The response to the identical request tells the outcome: nothing that follows repeats the write.
    const told = later.find(
      (one) =>
        identify(one) === identity &&
        one.idempotency_key === uncertain.idempotency_key &&
        one !== cut &&
        !isUncertain(one),
    );
    const knownAt = told === undefined ? Number.POSITIVE_INFINITY : told.startedAt + told.durationMs;
    const candidates = later.filter(({ operation, path, body, startedAt, idempotency_key: key }) => {
      if (startedAt >= knownAt) return false;
      const isSameWrite = operation === uncertain.operation && path === uncertain.path;
      const isSameKey = key === uncertain.idempotency_key;
      // Without a key, it is refused before its body is read.
      if (key === null && alwaysHasKey) return isSameWrite;
      return isSameWrite && (isSameKey ? body !== uncertain.body : body === uncertain.body && !mayRepeat);
    });
    const { givenUpAt, startedAt, durationMs } = uncertain;
    const unknownAt = givenUpAt ?? startedAt + durationMs;
    const known = writes.filter((one) => one.startedAt < unknownAt).map((one) => one.idempotency_key);
    // Others of the same content may be sent at the same time, each under its own key.
    const again = candidates.find(({ idempotency_key: key }) => !known.includes(key)) ?? candidates[0];
    if (again === undefined) continue;
    const after = Math.max(0, Math.round(again.startedAt - unknownAt));
    const status = uncertain === cut ? "cut" : (uncertain.status ?? "lost");
    const how =
      givenUpAt === null ? `its response was ${status}` : "the client stopped waiting for its response";
    // A creation without a response has no id of its own: the second request created another record.
    const name = nameWrite({ operation: uncertain.operation, subject: subjectOf(uncertain) });
    const [before, then] = [uncertain, again].map((request) => redact(request.idempotency_key ?? "none"));
    const other =
      before === then
        ? `another body under the Idempotency-Key ${before}`
        : `another Idempotency-Key (${before}, then ${then})`;
    return `${name} was requested again with ${other} ${after} ms after ${how}`;
  }
  return null;
}

/** Returns the operation that the client has requested under more keys than in any run without a fault, as a clause; null if there is none. */
function findFurtherWrite(run: Observation, clean: CleanRuns): string | null {
  const keys = ({ requests }: Observation, operation: string) =>
    new Set(
      requests.flatMap((one) =>
        isWrite(one) && takesKey(one) && one.operation === operation ? [one.idempotency_key ?? "none"] : [],
      ),
    );
  const runs = [clean.first, clean.second, ...(clean.held === null ? [] : [clean.held])];
  const before = (operation: string) => Math.max(...runs.map((one) => keys(one, operation).size));
  const last = run.requests.findLast(({ operation }) => keys(run, operation).size > before(operation));
  if (last === undefined) return null;
  const { operation } = last;
  const used = [...keys(run, operation)];
  const name = nameWrite({ operation, subject: subjectOf(last) });
  return `${name} was requested under ${used.length} keys in place of ${before(operation)} (${used.map(redact).join(", ")})`;
}
