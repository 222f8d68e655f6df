import { type Breach, wronglyRefused } from "../breach.ts";
import type { RecordedCall } from "../calls/call-recorder.ts";
import { findCallBreach } from "../calls/call-sequence.ts";
import type { ContractFixture } from "../fixture/contract-fixture.ts";
import { decodeView, describeLog } from "../fixture/effects.ts";
import { brokenBound, noReason, revertText } from "../fixture/revert-text.ts";
import { plannedStates, type StateCheck } from "./plan.ts";
import type { StateOutcome, StatesRecording } from "./record-states.ts";
import { noCall } from "./table/all.ts";
import type { TableCall } from "./table/table-call.ts";

/** Two recordings of the same calls, and what the actual one needs to be described. */
interface Recordings {
  fixture: ContractFixture;
  actual: StatesRecording;
  expected: StatesRecording;
}

/** The result of a check. */
export interface StateFinding {
  /** The first state in which the call differs, by its place in `plannedStates`; infinite if there is none. */
  place: number;
  /** How it differs; null if it does not. */
  breach: Breach | null;
}

/** Returns the places of the states that the views already show in another way before a call. */
export function findWrongStates(recordings: Recordings): ReadonlySet<number> {
  const places = Array.from(plannedStates.keys());
  return new Set(places.filter((place) => compareOutcomes(noCall, place, recordings) != null));
}

/**
 * Compares the outcomes of a call; undefined when no state of the check was reached.
 *
 * @param wrong - the places of the states whose views already differ before the call: there, they are not compared again.
 */
export function compareInStates(
  { call, places }: StateCheck,
  recordings: Recordings,
  wrong: ReadonlySet<number>,
): StateFinding | undefined {
  let finding: StateFinding | undefined;
  for (const place of places) {
    const isCompared = call === noCall || !wrong.has(place);
    const difference = compareOutcomes(call, place, recordings, isCompared);
    if (difference === undefined) continue;
    if (difference !== null) {
      const failure = `${plannedStates[place]?.description}: ${difference.failure}`;
      return { place, breach: { ...difference, failure } };
    }
    finding = { place: Number.POSITIVE_INFINITY, breach: null };
  }
  return finding;
}

/** Returns the difference between the outcomes of a call in a state; null if there is none, undefined if the state was not reached. */
function compareOutcomes(
  call: TableCall,
  place: number,
  recordings: Recordings,
  withViews = true,
): Breach | null | undefined {
  const { actual, expected } = recordings;
  const [outcome, wanted] = [actual, expected].map((recording) => {
    const found = recording.states[place]?.outcomes.get(call);
    return found === undefined || withViews ? found : { ...found, views: [] };
  });
  if (outcome === undefined || wanted === undefined) return undefined;
  if (isSame(outcome, wanted)) return null;
  const { state } = plannedStates[place] ?? {};
  const errors = state === undefined ? [] : call.broken(state);
  const [actualEffect, expectedEffect] = [outcome, wanted].map((one) => effectOf(one, errors, recordings));
  return findCallBreach(recorded(call, actualEffect), recorded(call, expectedEffect));
}

/** Returns the function that the name of a call begins with. */
function functionNamed({ name }: TableCall): string | undefined {
  return /^\w+/.exec(name)?.[0];
}

function isSame(actual: StateOutcome, expected: StateOutcome): boolean {
  return (
    actual.succeeded === expected.succeeded &&
    actual.returned === expected.returned &&
    JSON.stringify([actual.logs, actual.views]) === JSON.stringify([expected.logs, expected.views])
  );
}

function recorded(call: TableCall, effect: RecordedCall["effect"] = {}): RecordedCall {
  return { rule: call.name, function: functionNamed(call), breaks: call.rule, hash: null, effect };
}

/** @param errors - the errors that the call may revert with: a call that breaks several rules may be refused for any of them, one without an error for any reason. */
function effectOf(
  { succeeded, returned, logs, views }: StateOutcome,
  errors: readonly string[],
  { fixture: { contracts }, actual: { views: read } }: Recordings,
): RecordedCall["effect"] {
  if (!succeeded) {
    const reason = brokenBound(revertText(returned));
    const isAny =
      errors.includes(noReason) || (errors.length > 1 && errors.includes(reason.split("(")[0] ?? ""));
    return { outcome: `reverted with ${isAny ? errors.join(" or ") : reason}` };
  }
  const answers = read
    .slice(0, views.length)
    .map(({ view, name }, index) => [name, decodeView(view, views[index] ?? null)] as const);
  return {
    outcome: "succeeded",
    returned,
    events: logs.map((log) => describeLog(log, contracts)),
    ...Object.fromEntries(answers),
  };
}

/** Returns why the first state that was not reached was not; null when all were. */
export function findUnreached({ states }: StatesRecording): Breach | null {
  for (const [place, { failedStep }] of states.entries())
    if (failedStep !== null) {
      const { step, reason } = failedStep;
      const { function: name } = step.call;
      const why = revertText(reason);
      const failure = `${plannedStates[place]?.description}: a valid ${name} by the ${step.by} reverted with ${why}`;
      return { failure, ...wronglyRefused(name, why.split("(")[0]) };
    }
  return null;
}
