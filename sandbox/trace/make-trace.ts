import { performance } from "node:perf_hooks";
import { Mutex } from "async-mutex";
import type { FaultLog } from "../activity/fault-log.ts";
import type { HeadLog } from "../activity/head-log.ts";
import type { RequestView } from "../activity/views.ts";
import type { Sources } from "../explorer/sources.ts";
import type { BlockView } from "../explorer/views.ts";
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

/** The logs that say when something happened which the explorer shows without a time of the machine. */
interface ActivityLogs {
  faults: FaultLog;
  heads: HeadLog;
}

/** The description of a trace that no test has written. */
export const noSubject: TraceSubject = { test: null, failures: [], snapshot: null, snapshot_problem: null };

/** Makes a trace of what has happened in a sandbox since its start or its last restore, as one HTML file. */
export type MakeTrace = (subject: TraceSubject) => Promise<string>;

/** Returns what makes the traces of a sandbox, one at a time: each has Anvil execute up to hundreds of transactions again. */
export function openTraces(
  sources: Sources,
  logs: ActivityLogs & { explain: ExplainTransaction },
): MakeTrace {
  const turns = new Mutex();
  return async (subject) => await turns.runExclusive(async () => await makeTrace(subject, sources, logs));
}

async function makeTrace(
  subject: TraceSubject,
  sources: Sources,
  { explain, ...logs }: ActivityLogs & { explain: ExplainTransaction },
): Promise<string> {
  const answers = await collectAnswers(sources, explain);
  const entries = orderEntries(answers, logs);
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

/** An entry with its place: by time, then by rank, then in the given order. */
interface PlacedEntry {
  entry: UnplacedEntry;
  at: string;
  rank: number;
}

/** The ranks of what has the same time: what a request did comes after it, and a relay operation, told as it ended, after its transaction. */
const ranks = { block: 0, mined: 1, asked: 2, relayed: 3, delivered: 4 } as const;

/**
 * Orders everything that happened on one timeline, the oldest entry first. In deterministic mode that is by sandbox time, which each block moves
 * ahead; in live mode, where much happens within a second of it, by the clock of the machine.
 */
function orderEntries(answers: CollectedAnswers, { faults, heads }: ActivityLogs): TraceEntry[] {
  const { operations, events, explanations, overview } = answers;
  const blocks = answers.blocks.toReversed();
  const isLive = overview.mode === "live";
  const times = isLive ? timesSeen(blocks, answers.requests.data, heads) : blocks.map(({ at }) => at);
  const timeOfBlock = (index: number) => times[index] ?? "";
  const mined = blocks.flatMap((block, index) =>
    blockEntries(block, blocks[index - 1], explanations, isLive).map((entry) => ({
      entry,
      at: timeOfBlock(index),
      rank: ranks.block,
    })),
  );
  const minedAt = new Map(
    blocks.flatMap(({ transactions }, index) => transactions.map(({ hash }) => [hash, timeOfBlock(index)])),
  );
  const seen = [...mined, ...asked(answers, faults)];
  const timeOf = (at: string) => (isLive ? lastUntil(at, seen) : at);
  const relayed = operations.toReversed().map((operation) => {
    const at = operation.transactions
      .map(({ hash }) => minedAt.get(hash))
      .findLast((time) => time !== undefined);
    const entry = operationEntry(operation);
    return at === undefined
      ? { entry, at: timeOf(operation.created_at), rank: ranks.relayed }
      : { entry, at, rank: ranks.mined };
  });
  const delivered = events
    .toReversed()
    .flatMap(deliveryEntries)
    .map((entry) => ({ entry, at: timeOf(entry.at ?? ""), rank: ranks.delivered }));
  return [...seen, ...relayed, ...delivered]
    .toSorted((a, b) => a.at.localeCompare(b.at) || a.rank - b.rank)
    .map(({ entry }, index) => ({ number: index + 1, ...entry }));
}

/**
 * Returns when blocks, the oldest first, came by the clock of the machine: when the node announced them, but before a request that names one of their
 * transactions. One that is not known has the time of the next one.
 */
function timesSeen(blocks: readonly BlockView[], requests: readonly RequestView[], heads: HeadLog): string[] {
  const named = new Map<string, number>();
  // The newest request comes first.
  for (const { body, received } of requests)
    for (const hash of JSON.stringify(body).match(transactionHash) ?? [])
      named.set(hash, Date.parse(received));
  let next = performance.timeOrigin + performance.now();
  return blocks
    .toReversed()
    .map(({ number, transactions }) => {
      next = Math.min(
        next,
        heads.seenAt(number) ?? next,
        ...transactions.map(({ hash }) => named.get(hash) ?? next),
      );
      return new Date(next).toISOString();
    })
    .toReversed();
}

const transactionHash = /0x[0-9a-f]{64}/g;

/** The place of the last of some entries that is not after a sandbox time. */
function lastUntil(at: string, entries: readonly PlacedEntry[]): string {
  const before = entries
    .filter(({ entry }) => entry.at !== null && entry.at <= at)
    .map((placed) => placed.at);
  return before.toSorted().at(-1) ?? "";
}

/** Requests and faults by the clock of the machine; in deterministic mode, one whose sandbox time is not known has that of the request before it. */
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
  return byWallClock.map(({ entry, wall }) => {
    if (entry.at !== null && entry.at > at) at = entry.at;
    return { entry, at: overview.mode === "live" ? new Date(wall).toISOString() : at, rank: ranks.asked };
  });
}
