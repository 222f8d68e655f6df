import { pause } from "./timers.ts";

/** Resolves after the given number of milliseconds of real time, or at once when it is stopped; then no timer is left. */
export async function wait(milliseconds: number, stop?: AbortSignal): Promise<void> {
  try {
    await pause(milliseconds, undefined, stop === undefined ? {} : { signal: stop });
  } catch (error) {
    if (stop?.aborted !== true) throw error;
  }
}
