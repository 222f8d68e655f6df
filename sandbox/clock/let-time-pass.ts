import { setTimeout as wait } from "node:timers/promises";
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
  return async (milliseconds) => {
    if (clock.mode === "live") await wait(milliseconds, undefined, { signal });
    else if (milliseconds > 0) await clock.travel(Math.ceil(milliseconds / 1_000));
  };
}
