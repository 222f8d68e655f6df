import { performance } from "node:perf_hooks";
import { z } from "zod";
import type { Part } from "../../lib/part.ts";

/** The largest number of filters at a time: Anvil keeps the logs that there were when each was made. */
export const mostFilters = 200;
/** The time after which Anvil deletes a filter that is not used, in milliseconds. */
const unusedMs = 5 * 60_000;

const made = z.object({ result: z.string() });

/** Counts the filters that Anvil has. */
export class Filters {
  /** When each was used last, by its id, in milliseconds of `performance.now()`; the longest ago first. */
  readonly #used = new Map<unknown, number>();
  #restored = 0;
  /** Notes restores: they leave all filters, because a program that runs through many tests may use one in all of them. */
  readonly part: Part<null> = {
    name: "filters",
    schema: null,
    capture: () => null,
    restore: () => {
      this.#restored = performance.now();
    },
  };

  /** Returns whether there may be one more. */
  hasRoom(): boolean {
    const until = performance.now() - unusedMs;
    for (const [id, used] of this.#used) if (used < until) this.#used.delete(id);
    return this.#used.size < mostFilters;
  }

  /** Takes out a filter that was not used since the last restore, as of a test that has ended; undefined if there is none. */
  takeUnused(): unknown {
    const [[id, used] = [undefined, Number.POSITIVE_INFINITY]] = this.#used;
    if (used >= this.#restored) return undefined;
    this.#used.delete(id);
    return id;
  }

  /** Notes the answer to a call that makes a filter. */
  add(answer: Buffer): void {
    const { data } = made.safeParse(JSON.parse(answer.toString()));
    if (data !== undefined) this.#used.set(data.result, performance.now());
  }

  /** Notes a call that uses or removes a filter. */
  note({ method, params: [id] }: { method: string; params: readonly unknown[] }): void {
    const isKnown = this.#used.delete(id);
    if (isKnown && method !== "eth_uninstallFilter") this.#used.set(id, performance.now());
  }
}
