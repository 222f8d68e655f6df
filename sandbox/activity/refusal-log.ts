import type { Refusal } from "../../server/http/services.ts";
import type { Part } from "../lib/part.ts";
import type { ChangeFeed } from "./change-feed.ts";

/** A refusal as it is kept. */
export interface KeptRefusal extends Refusal {
  /** Counts refusals from 1. */
  number: number;
  /** The number of times that the same was refused in a row. */
  times: number;
}

/** The number of refusals that are kept; older ones are forgotten. */
export const keptRefusals = 500;

/**
 * Keeps the newest transactions that were refused, in memory: they are not state of the service, so a restore clears the log.
 *
 * One that is not confirmed yet is not refused; repeated requests about one are kept once and counted.
 */
export class RefusalLog implements Part<null> {
  readonly name = "refusals";
  readonly schema = null;
  readonly #feed: ChangeFeed;
  #count = 0;
  #refusals: readonly KeptRefusal[] = [];

  constructor(feed: ChangeFeed) {
    this.#feed = feed;
  }

  /** Keeps a refusal. */
  record(refusal: Refusal): void {
    if (refusal.code === "transaction_unconfirmed") return;
    const last = this.#refusals.at(-1);
    const again = last !== undefined && keyOf(last) === keyOf(refusal);
    if (!again) this.#count += 1;
    const earlier = again ? this.#refusals.slice(0, -1) : this.#refusals;
    const times = again ? last.times + 1 : 1;
    this.#refusals = [...earlier, { ...refusal, number: this.#count, times }].slice(-keptRefusals);
    this.#feed.note("refusals", refusal.subject.startsWith("pur_") ? [refusal.subject] : []);
  }

  /** Returns the kept refusals, the newest first. */
  newest(): readonly KeptRefusal[] {
    return this.#refusals.toReversed();
  }

  capture(): null {
    return null;
  }

  restore(): void {
    this.#refusals = [];
    this.#feed.note("refusals");
  }
}

function keyOf({ operation, subject, code, transaction_hash }: Refusal): string {
  return [operation, subject, code, transaction_hash].join(" ");
}
