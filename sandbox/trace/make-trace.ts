import { performance } from "node:perf_hooks";
import type { FaultLog } from "../activity/fault-log.ts";
import type { Sources } from "../explorer/sources.ts";
import { machineClock } from "../lib/time/timers.ts";
import { type CollectedAnswers, collectAnswers, type ExplainTransaction } from "./collect-answers.ts";
import { renderTrace } from "./render-trace.ts";
import {
  blockEntries,
  deliveryEntries,
  faultEntry,
  openRequestEntry,
  operationEntry,
  requestEntry,
  type UnplacedEntry,
} from "./trace-entries.ts";
import type { TraceEntry, TraceSubject, TraceView } from "./trace-view.ts";

/** The description of a trace that no test has written. */
export const noSubject: TraceSubject = { test: null, failures: [], snapshot: null, snapshot_problem: null };

/** Makes a trace of what has happened in a sandbox since its start or its last restore, as one HTML file. */
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
    ...findDecisive(entries),
    preparation: subject.test === null ? 0 : countPreparation(entries, answers, sources.requests.restoredTo),
  };
  return renderTrace({ trace, answers: answers.byPath }, answers.overview.labels);
}

/** Layers whose refused or failed entries end a test; what the relayer and deliveries do comes after them. */
const deciding: readonly TraceEntry["layer"][] = ["api", "chain"];

/** Returns which entries of a timeline decided a test. */
function findDecisive(entries: readonly TraceEntry[]): Pick<TraceView, "decisive" | "fault"> {
  const bad = entries.filter(({ outcome }) => outcome !== "ok");
  const decisive = bad.findLast(({ layer }) => deciding.includes(layer)) ?? bad.at(-1);
  const acted = entries.findLast(({ about }) => about?.type === "fault" && about.hits > 0);
  return { decisive: decisive?.number ?? null, fault: acted?.number ?? null };
}

/**
 * Counts the entries before the first own step of a test: those of given states, and those from before a restore.
 *
 * @param restoredTo - the block that the last restore went back to; null without a restore.
 */
function countPreparation(
  entries: readonly TraceEntry[],
  { requests, blocks, operations }: Pick<CollectedAnswers, "requests" | "blocks" | "operations">,
  restoredTo: number | null,
): number {
  const given = new Set(requests.data.filter(({ from }) => from === "given").map(({ number }) => number));
  const relayed = new Set(operations.flatMap(({ transactions }) => transactions.map(({ hash }) => hash)));
  const restoredAt = blocks.find(({ number }) => number === restoredTo)?.at ?? "";
  let prepared = 0;
  for (const [index, { layer, about, outcome, at }] of entries.entries()) {
    if (outcome !== "ok") break;
    const isAsked = layer === "api" || layer === "fault";
    const isGiven = about?.type === "request" && given.has(about.number);
    if (isAsked && !isGiven) break;
    // The relayer does what given states have asked for.
    const isRelayed =
      prepared === index &&
      index > 0 &&
      (layer === "relayer" || (about?.type === "transaction" && relayed.has(about.hash)));
    if (isGiven || isRelayed || (at !== null && at <= restoredAt)) prepared = index + 1;
  }
  return prepared;
}

/** An entry with its place: by sandbox time, then by rank, then in the given order. */
interface PlacedEntry {
  entry: UnplacedEntry;
  at: string;
  rank: number;
}

/** The ranks of what has the same sandbox time, which is that of the newest block: what a request did comes after it. */
const ranks = { block: 0, asked: 1, relayed: 2, delivered: 3 } as const;

/** Orders everything that happened on one timeline, the oldest entry first. */
function orderEntries(answers: CollectedAnswers, faults: FaultLog): TraceEntry[] {
  const { blocks, operations, events, explanations, overview } = answers;
  const oldestFirst = blocks.toReversed();
  const mined = oldestFirst.flatMap((block, index) =>
    blockEntries(block, oldestFirst[index - 1], explanations, overview.mode === "live"),
  );
  const placed = [
    ...place(mined, ranks.block),
    ...asked(answers, faults),
    ...place(operations.toReversed().map(operationEntry), ranks.relayed),
    ...place(events.toReversed().flatMap(deliveryEntries), ranks.delivered),
  ];
  return placed
    .toSorted((a, b) => a.at.localeCompare(b.at) || a.rank - b.rank)
    .map(({ entry }, index) => ({ number: index + 1, ...entry }));
}

function place(entries: readonly UnplacedEntry[], rank: number): PlacedEntry[] {
  return entries.map((entry) => ({ entry, at: entry.at ?? "", rank }));
}

/** Requests and faults by the wall clock; one whose sandbox time is not known has that of the request before it. */
function asked({ requests, overview }: CollectedAnswers, faults: FaultLog): PlacedEntry[] {
  const now = performance.timeOrigin + performance.now();
  const byWallClock = [
    ...requests.data.map((request) => ({ entry: requestEntry(request), wall: Date.parse(request.received) })),
    ...requests.in_progress.map((open, index) => ({
      entry: openRequestEntry(open, index, now),
      wall: Date.parse(open.received),
    })),
    ...faults.changes().map((change) => ({
      entry: faultEntry(change, overview.faults),
      wall: performance.timeOrigin + change.changedAt,
    })),
  ].sort((a, b) => a.wall - b.wall);
  let at = byWallClock.find(({ entry }) => entry.at !== null)?.entry.at ?? overview.now;
  return byWallClock.map(({ entry }) => {
    if (entry.at !== null && entry.at > at) at = entry.at;
    return { entry, at, rank: ranks.asked };
  });
}
