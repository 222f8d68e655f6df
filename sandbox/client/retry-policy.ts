import type { SandboxClock } from "../chain/clock/clock.ts";
import { mostRequests, type RetryPolicy, waitInRealTime } from "./retrying-fetch.ts";

/** The longest time that a response can move the clock by, in seconds; the next response can ask for what is left. */
const longestTravelSeconds = 86_400;

/**
 * Returns how a sandbox's own client repeats requests. In `deterministic` mode only blocks move time, so a request that was too early moves
 * the clock by the time that the answer asks for, which mines a block. Other waits are shorter than the answer asks for.
 */
export function retryPolicy(
  clock: Pick<SandboxClock, "mode" | "travel">,
  confirmations: number,
): RetryPolicy {
  return {
    // Each request can wait for one confirmation.
    mostRequests: confirmations + mostRequests,
    async wait(wait) {
      if (clock.mode === "live") await waitInRealTime(wait);
      else if (wait.isEarly)
        await clock.travel(Math.min(Math.max(1, wait.seconds ?? 1), longestTravelSeconds));
      else await waitInRealTime({ ...wait, seconds: undefined });
    },
  };
}
