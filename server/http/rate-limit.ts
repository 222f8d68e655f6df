import { Problem } from "../errors/problem.ts";

/** How many requests a caller may send in a window of sandbox time; the option `rateLimit`, without which there is no limit. */
export interface RateLimit {
  requests: number;
  /** The length of a window, in seconds. */
  seconds: number;
}

/** Counts the requests of each caller in the current window; without a limit it counts nothing. */
export class RateLimiter {
  readonly #limit: RateLimit | undefined;
  readonly #counts = new Map<string, number>();
  #window = 0;

  constructor(limit: RateLimit | undefined) {
    this.#limit = limit;
  }

  /**
   * Counts a request.
   *
   * @throws Problem rate_limited, with the seconds until the next window in Retry-After.
   */
  admit(caller: string, now: number): void {
    if (this.#limit === undefined) return;
    const { requests, seconds } = this.#limit;
    const window = Math.floor(now / seconds);
    if (window !== this.#window) this.#counts.clear();
    this.#window = window;
    const count = (this.#counts.get(caller) ?? 0) + 1;
    this.#counts.set(caller, count);
    if (count > requests)
      throw new Problem("rate_limited", `${requests} requests in ${seconds} s are allowed.`, {
        headers: { "Retry-After": String((window + 1) * seconds - now) },
      });
  }
}
