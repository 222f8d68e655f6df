import { performance } from "node:perf_hooks";
import { z } from "zod";
import type { Part } from "../../lib/part.ts";

/** The largest number of filters at a time. */
export const mostFilters = 200;
/** The largest size of the logs that there were when filters were made, and that Anvil keeps until their first use, in bytes of JSON. */
export const mostFilterBytes = 64 * 1024 * 1024;
/** The time after which Anvil deletes a filter that is not used, in milliseconds. */
const unusedMs = 5 * 60_000;

const made = z.object({ result: z.string() });

/** Counts the filters that Anvil has. */
export class Filters {
  /** When each was used last, in milliseconds of `performance.now()`, and the bytes that Anvil keeps for it, by its id; the longest ago first. */
  readonly #used = new Map<unknown, { at: number; bytes: number }>();
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

  /** Returns why there cannot be one more, which begins with logs of so many bytes; null if there can. */
  refusalOf(bytes: number): string | null {
    const until = performance.now() - unusedMs;
    for (const [id, { at }] of this.#used) if (at < until) this.#used.delete(id);
    if (this.#used.size >= mostFilters)
      return `There are ${mostFilters} filters. Remove those that are no longer used (eth_uninstallFilter), or subscribe over a WebSocket.`;
    let sum = bytes;
    for (const filter of this.#used.values()) sum += filter.bytes;
    return sum > mostFilterBytes
      ? `Filters may begin with ${mostFilterBytes} bytes of logs together. Begin at a later block, and read the logs before it with eth_getLogs, or remove filters that are no longer used (eth_uninstallFilter).`
      : null;
  }

  /** Takes out a filter that was not used since the last restore, as of a test that has ended; undefined if there is none. */
  takeUnused(): unknown {
    const [[id, { at }] = [undefined, { at: Number.POSITIVE_INFINITY }]] = this.#used;
    if (at >= this.#restored) return undefined;
    this.#used.delete(id);
    return id;
  }

  /** Notes the answer to a call that makes a filter. */
  add(answer: Buffer, bytes: number): void {
    const { data } = made.safeParse(JSON.parse(answer.toString()));
    if (data !== undefined) this.#used.set(data.result, { at: performance.now(), bytes });
  }

  /** Notes a call that uses or removes a filter. */
  note({ method, params: [id] }: { method: string; params: readonly unknown[] }): void {
    const known = this.#used.get(id);
    if (known === undefined) return;
    this.#used.delete(id);
    if (method !== "eth_uninstallFilter") this.#used.set(id, { ...known, at: performance.now() });
  }

  /** Notes that Anvil has returned the logs that a filter began with, and keeps them no more. */
  empty(id: unknown): void {
    const known = this.#used.get(id);
    if (known !== undefined) known.bytes = 0;
  }
}
