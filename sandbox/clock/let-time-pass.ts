import { setTimeout as wait } from "node:timers/promises";
import { Mutex } from "async-mutex";
import type { SandboxClock } from "./clock.ts";

/**
 * Lets sandbox time pass: a live clock by waiting, a deterministic one by moving it, chain included, by whole seconds and without
 * waiting.
 *
 * @param signal - ends a wait early.
 * @example const pause = letTimePass(chain.clock, signal); await pause(500)
 */
export function letTimePass(
  clock: Pick<SandboxClock, "mode" | "travel">,
  signal: AbortSignal,
): (milliseconds: number) => Promise<void> {
  const moves = new Mutex();
  return async (milliseconds) => {
    if (clock.mode === "live") await wait(milliseconds, undefined, { signal });
    else if (milliseconds > 0)
      // One after the other: two moves from the same moment would ask for a block before the latest one.
      await moves.runExclusive(async () => await clock.travel(Math.ceil(milliseconds / 1_000)));
  };
}
