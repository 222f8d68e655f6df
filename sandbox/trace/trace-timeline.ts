import { performance } from "node:perf_hooks";
import type { FaultLog } from "../activity/fault-log.ts";
import type { CollectedAnswers } from "./collect-answers.ts";
import {
  blockEntries,
  deliveryEntries,
  faultEntry,
  openRequestEntry,
  operationEntry,
  requestEntry,
  type UnplacedEntry,
} from "./trace-entries.ts";
import type { TraceEntry } from "./trace-view.ts";

/** An entry with its place: by sandbox time, then by rank, then in the given order. */
interface PlacedEntry {
  entry: UnplacedEntry;
  at: string;
  rank: number;
}

/** The ranks of what has the same sandbox time, which is that of the newest block: what a request did comes after it. */
const ranks = { block: 0, asked: 1, relayed: 2, delivered: 3 } as const;

/** Orders everything that happened on one timeline, the oldest entry first. */
export function orderEntries(answers: CollectedAnswers, faults: FaultLog): TraceEntry[] {
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
