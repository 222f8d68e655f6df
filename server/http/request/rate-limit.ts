import { z } from "zod";
import { Problem } from "../../errors/problem.ts";

/**
 * The number of requests that a caller may send in a window of sandbox time; the option `rateLimit`, without which
 * there is no limit.
 */
export interface RateLimit {
  requests: number;
  /** The length of a window, in seconds. */
  seconds: number;
}

/** The counts of one window, by caller; a snapshot brings them back. */
export const rateLimitCounts = z.object({ window: z.int(), counts: z.record(z.string(), z.int()) });

/** The parsed form of {@link rateLimitCounts}. */
export type RateLimitCounts = z.infer<typeof rateLimitCounts>;

/** Counts the requests of each caller in the current window; without a limit it counts nothing. */
export class RateLimiter {
  readonly #limit: RateLimit | undefined;
  #counts = new Map<string, number>();
  #window = 0;

  constructor(limit: RateLimit | undefined) {
    this.#limit = limit;
  }

  get hasLimit(): boolean {
    return this.#limit !== undefined;
  }

  /** Returns the counts of the window of the last request. */
  capture(): RateLimitCounts {
    return { window: this.#window, counts: Object.fromEntries(this.#counts) };
  }

  /** Goes back to counts that {@link RateLimiter.capture} returned. */
  restore({ window, counts }: RateLimitCounts): void {
    this.#window = window;
    this.#counts = new Map(Object.entries(counts));
  }

  /**
   * Counts a request.
   *
   * @throws Problem rate_limited, with the seconds until the next window in Retry-After.
   */
  count(caller: string, now: number): void {
    if (this.#limit === undefined) return;
    const { requests, seconds } = this.#limit;
    const window = Math.floor(now / seconds);
    if (window !== this.#window) this.#counts.clear();
    this.#window = window;
    const count = (this.#counts.get(caller) ?? 0) + 1;
    this.#counts.set(caller, count);
    if (count > requests)
      throw new Problem(
        "rate_limited",
        `${requests} requests in ${seconds} s are allowed. Wait for the seconds of Retry-After, then send the request again.`,
        {
          headers: { "Retry-After": String((window + 1) * seconds - now) },
        },
      );
  }
}
