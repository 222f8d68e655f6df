import timers from "node:timers";
import promisedTimers from "node:timers/promises";
import { AbortSignal } from "../../../protocol/globals.ts";

// Fake timers of tests (vitest, jest, sinon, node:test) replace the globals and these modules' exports: the sandbox keeps what was there when it
// was loaded. The modules are read first, because tests that fake the globals of every file rarely fake them.
export const { setTimeout, clearTimeout, setInterval, clearInterval } = timers;

/** `setTimeout` and `setImmediate` as promises. */
export const { setTimeout: pause, setImmediate: endOfTurn } = promisedTimers;

const { now } = Date;

/** The machine's clock, in milliseconds since 1970. */
export const machineClock = { now };

const { timeout } = AbortSignal;

/** Returns a signal that aborts after a number of milliseconds. */
export const abortAfter = (milliseconds: number): AbortSignal =>
  Reflect.apply(timeout, AbortSignal, [milliseconds]);

/** Resolves after the given number of milliseconds of real time, or at once when it is stopped; then no timer is left. */
export async function wait(milliseconds: number, stop?: AbortSignal): Promise<void> {
  try {
    await pause(milliseconds, undefined, stop === undefined ? {} : { signal: stop });
  } catch (error) {
    if (stop?.aborted !== true) throw error;
  }
}
