/** The content of a trace, besides the explorer's answers. It is plain JSON: `…_at` and `at` are sandbox time. */

import type { CheckView } from "../activity/views.ts";

/** The layers of a trace's timeline. */
export type TraceLayer = "api" | "chain" | "relayer" | "delivery" | "fault" | "clock";

/** The outcome of an entry: `refused` is the service's answer no, `open` has no answer yet, `failed` is everything else that went wrong. */
export type TraceOutcome = "ok" | "refused" | "open" | "failed";

/** One entry of the timeline. */
export interface TraceEntry {
  /** Counts entries from 1; part of the entry's address. */
  number: number;
  layer: TraceLayer;
  outcome: TraceOutcome;
  /** RFC 3339 in sandbox time; null when it is not known. */
  at: string | null;
  /** One sentence. */
  title: string;
  /** The reason, for an entry that is refused or failed. */
  detail: string | null;
  /** A sentence for each check that failed: the cause first, then what follows from it. */
  causes: string[];
  /** The checks of a refusal, the failed ones first. */
  checks: CheckView[];
  purchases: string[];
  /** The object that it is about, by which the explorer's answers have the rest. */
  about:
    | { type: "request"; number: number }
    | { type: "open_request"; index: number }
    | { type: "transaction"; hash: string; block: number }
    | { type: "operation"; id: string }
    | { type: "event"; id: string }
    | { type: "fault"; hits: number }
    | null;
}

/** An error that ended a test. */
export interface TraceFailure {
  message: string;
  /** The expected and the actual value, line by line, as the test runner shows them. */
  diff: string | null;
  /** The line in the test, or the line that its title is on; line and column are null when neither is known. */
  at: { file: string; line: number | null; column: number | null } | null;
  /** The code of the test around that line. */
  code: { line: number; text: string }[];
}

/** The description of what a trace is about, which its writer gives. */
export interface TraceSubject {
  /** The full name of the test; null for a trace that no test has written. */
  test: string | null;
  failures: TraceFailure[];
  /** The name of the snapshot file next to the trace; null when there is none. */
  snapshot: string | null;
  /** The reason why there is no snapshot file. */
  snapshot_problem: string | null;
}

/** A trace. */
export interface TraceView extends TraceSubject {
  format: "routing-sandbox-trace";
  version: 1;
  /** The wall clock, RFC 3339 in UTC. */
  written: string;
  entries: TraceEntry[];
  /** A sentence for each part that the limits of a trace leave out. */
  left_out: string[];
  /** The number of the first entries that only prepared the test: those of given states and of a restored snapshot; 0 without a test. */
  preparation: number;
  /** The number of the last entry that was refused, failed or has no answer; null when there is none. */
  decisive: number | null;
  /** The number of the entry of the last fault that has acted; null when none has. */
  fault: number | null;
}

/** All data of a trace's page: the trace, and the answers of the control API that the explorer draws, by path. */
export interface TraceData {
  trace: TraceView;
  answers: { [path: string]: unknown };
}
