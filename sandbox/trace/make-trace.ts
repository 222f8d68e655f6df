import type { FaultLog } from "../activity/fault-log.ts";
import type { Sources } from "../explorer/sources.ts";
import { machineClock } from "../lib/time/timers.ts";
import { collectAnswers, type ExplainTransaction } from "./collect-answers.ts";
import { findDecisive } from "./find-decisive.ts";
import { renderTrace } from "./render-trace.ts";
import { orderEntries } from "./trace-timeline.ts";
import type { TraceSubject } from "./trace-view.ts";

/** The description of a trace that no test has written. */
export const noSubject: TraceSubject = { test: null, failures: [], snapshot: null, snapshot_problem: null };

/**
 * Makes a trace of what has happened in a sandbox since its start or its last restore, as one HTML file.
 *
 * @example await makeTrace(noSubject, sources, { faults, explain })
 */
export async function makeTrace(
  subject: TraceSubject,
  sources: Sources,
  { faults, explain }: { faults: FaultLog; explain: ExplainTransaction },
): Promise<string> {
  const answers = await collectAnswers(sources, explain);
  const entries = orderEntries(answers, faults);
  const trace = {
    format: "routing-sandbox-trace" as const,
    version: 1 as const,
    written: new Date(machineClock.now()).toISOString(),
    ...subject,
    entries,
    left_out: answers.leftOut,
    ...findDecisive(entries, answers, sources.requests.restoredTo),
  };
  return renderTrace({ trace, answers: answers.byPath }, answers.overview.labels);
}
