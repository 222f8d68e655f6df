import type { ShownMoment } from "../shown.ts";

/**
 * The stages of a purchase's life in their order. Time has whole seconds: what happens in one second is told in the order in which only it
 * can have happened.
 */
export const stages = [
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

/** A stage of a purchase's life. */
export type Stage = (typeof stages)[number];

/** A moment with its stage. */
export interface StagedMoment extends ShownMoment {
  stage: Stage;
}

/**
 * Makes a moment of a story; what is not given is empty.
 *
 * @example moment("created", { at, kind: "created", title: "The purchase was created.", actor: "the service" })
 */
export function moment(
  stage: Stage,
  given: Pick<ShownMoment, "at" | "kind" | "title" | "actor"> & Partial<ShownMoment>,
): StagedMoment {
  return { stage, block_number: null, transaction_hash: null, details: {}, checks: [], ...given };
}

/** Moments in the order in which they happened. */
export function inOrder(moments: readonly StagedMoment[]): ShownMoment[] {
  const sorted = moments.toSorted(
    (left, right) =>
      left.at.localeCompare(right.at) || stages.indexOf(left.stage) - stages.indexOf(right.stage),
  );
  return sorted.map(({ stage: _, ...shown }) => shown);
}
