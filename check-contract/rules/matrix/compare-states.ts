import type { Json } from "../../../protocol/values/json.ts";
import { describeDifference } from "../../calls/call-sequence.ts";
import type { ContractFixture } from "../../fixture/contract-fixture.ts";
import { decodeView, describeLog } from "../../fixture/effects.ts";
import { revertText } from "../../fixture/revert-text.ts";
import { plannedStates, type StateCheck } from "./plan.ts";
import type { MatrixRecording, StateOutcome } from "./record-states.ts";
import { noCall } from "./table/all.ts";
import type { TableCall } from "./table/table-call.ts";

/** Two recordings of the same calls, and what the actual one needs to be described. */
interface Recordings {
  fixture: ContractFixture;
  actual: MatrixRecording;
  expected: MatrixRecording;
}

/** The result of a check. */
export interface StateFinding {
  /** The first state in which the call differs, by its place in `plannedStates`; infinite if there is none. */
  place: number;
  /** How it differs; null if it does not. */
  failure: string | null;
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
    if (difference !== null) return { place, failure: `${plannedStates[place]?.description}: ${difference}` };
    finding = { place: Number.POSITIVE_INFINITY, failure: null };
  }
  return finding;
}

/** Returns the difference between the outcomes of a call in a state; null if there is none, undefined if the state was not reached. */
function compareOutcomes(
  call: TableCall,
  place: number,
  recordings: Recordings,
  withViews = true,
): string | null | undefined {
  const { actual, expected } = recordings;
  const [outcome, wanted] = [actual, expected].map((recording) => {
    const found = recording.states[place]?.outcomes.get(call);
    return found === undefined || withViews ? found : { ...found, views: [] };
  });
  if (outcome === undefined || wanted === undefined) return undefined;
  return describeOutcome(outcome, wanted, recordings);
}

function describeOutcome(
  actual: StateOutcome,
  expected: StateOutcome,
  { fixture, actual: { views } }: Recordings,
): string | null {
  if (isSame(actual, expected)) return null;
  return describeDifference(
    recorded(effectOf(actual, views, fixture)),
    recorded(effectOf(expected, views, fixture)),
  );
}

function isSame(actual: StateOutcome, expected: StateOutcome): boolean {
  return (
    actual.succeeded === expected.succeeded &&
    actual.returned === expected.returned &&
    JSON.stringify([actual.logs, actual.views]) === JSON.stringify([expected.logs, expected.views])
  );
}

function recorded(effect: { [name: string]: Json }) {
  return { rule: "", hash: null, effect };
}

function effectOf(
  { succeeded, returned, logs, views }: StateOutcome,
  read: MatrixRecording["views"],
  { contracts }: ContractFixture,
): { [name: string]: Json } {
  if (!succeeded) return { outcome: `reverted with ${revertText(returned)}` };
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
export function findUnreached({ states }: MatrixRecording): string | null {
  for (const [place, { failedStep }] of states.entries())
    if (failedStep !== null) {
      const { step, reason } = failedStep;
      return `${plannedStates[place]?.description}: a valid ${step.call.function} by the ${step.by} reverted with ${revertText(reason)}`;
    }
  return null;
}
