import type { CollectedAnswers } from "./collect-answers.ts";
import type { TraceEntry, TraceView } from "./trace-view.ts";

/** Layers whose refused or failed entries end a test; what the relayer and deliveries do comes after them. */
const deciding: readonly TraceEntry["layer"][] = ["api", "chain"];

/**
 * Returns how far the entries of a timeline prepared the test, and which of them decided it.
 *
 * @param restoredTo - the block that the last restore went back to; null without a restore.
 */
export function findDecisive(
  entries: readonly TraceEntry[],
  answers: Pick<CollectedAnswers, "requests" | "blocks" | "operations">,
  restoredTo: number | null,
): Pick<TraceView, "preparation" | "decisive" | "fault"> {
  const bad = entries.filter(({ outcome }) => outcome !== "ok");
  const decisive = bad.findLast(({ layer }) => deciding.includes(layer)) ?? bad.at(-1);
  const acted = entries.findLast(({ about }) => about?.type === "fault" && about.hits > 0);
  return {
    preparation: countPreparation(entries, answers, restoredTo),
    decisive: decisive?.number ?? null,
    fault: acted?.number ?? null,
  };
}

/** Counts the entries before the first own step of a test: those of given states, and those from before a restore. */
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
