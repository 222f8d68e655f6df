import { z } from "zod";

/** The largest number of filters at a time: Anvil keeps the logs that there were when each was made. */
export const mostFilters = 200;
/** The time after which Anvil deletes a filter that is not used, in milliseconds. */
const unusedMs = 5 * 60_000;

const made = z.object({ result: z.string() });

/** Counts the filters that Anvil has. */
export class Filters {
  /** When each was used last, by its id, in milliseconds of `performance.now()`. */
  readonly #used = new Map<unknown, number>();

  /** Returns whether there may be one more. */
  hasRoom(): boolean {
    const until = performance.now() - unusedMs;
    for (const [id, used] of this.#used) if (used < until) this.#used.delete(id);
    return this.#used.size < mostFilters;
  }

  /** Notes the answer to a call that makes a filter. */
  add(answer: Buffer): void {
    const { data } = made.safeParse(JSON.parse(answer.toString()));
    if (data !== undefined) this.#used.set(data.result, performance.now());
  }

  /** Notes a call that uses or removes a filter. */
  note({ method, params: [id] }: { method: string; params: readonly unknown[] }): void {
    if (method === "eth_uninstallFilter") this.#used.delete(id);
    else if (this.#used.has(id)) this.#used.set(id, performance.now());
  }
}
