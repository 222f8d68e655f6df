import type { TimelineEntry } from "../views.ts";

/**
 * The steps that a purchase goes through, in their order. Time has whole seconds: entries of one second are in the only order in which they
 * can have happened.
 */
export const timelineSteps = [
  "created",
  "signed",
  "purchase.created",
  "offer relayed",
  "on chain",
  "offer confirmed",
  "purchase.activated",
  "purchase.registered",
  "approved",
  "paid",
  "submitted",
  "wallet.submitted",
  "refused",
  "reconciled",
  "purchase.reconciled",
  "claimed on chain",
  "claimed",
  "purchase.claimed",
  "decided",
  "purchase.decided",
  "refund due",
  "refund.due",
  "collect_refund relayed",
  "collected on chain",
  "collect_refund confirmed",
  "collected",
  "refund.collected",
  "ended on chain",
  "delivered",
] as const;

/** A step that a purchase goes through. */
export type TimelineStep = (typeof timelineSteps)[number];

/** An entry with its step. */
export interface OrderedEntry extends TimelineEntry {
  step: TimelineStep;
}

/** Makes an entry of a timeline; what is not given is empty. */
export function timelineEntry(
  step: TimelineStep,
  given: Pick<TimelineEntry, "at" | "kind" | "title" | "actor"> & Partial<TimelineEntry>,
): OrderedEntry {
  return { step, block_number: null, transaction_hash: null, details: {}, checks: [], ...given };
}

/** Sorts entries by the time and the order in which they happened. */
export function inOrder(entries: readonly OrderedEntry[]): TimelineEntry[] {
  const sorted = entries.toSorted(
    (left, right) =>
      left.at.localeCompare(right.at) || timelineSteps.indexOf(left.step) - timelineSteps.indexOf(right.step),
  );
  return sorted.map(({ step: _, ...entry }) => entry);
}
