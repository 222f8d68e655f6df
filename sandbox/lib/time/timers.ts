import timers from "node:timers";
import promisedTimers from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { AbortSignal } from "../../../protocol/globals.ts";

// Fake timers of tests (vitest, jest, sinon, node:test) replace the globals and these modules' exports: the sandbox keeps what was there when it
// was loaded. The modules are read first, because tests that fake the globals of every file rarely fake them.
export const { setTimeout, clearTimeout, setInterval, clearInterval } = timers;

/** `setTimeout` and `setImmediate` as promises. */
export const { setTimeout: pause, setImmediate: endOfTurn } = promisedTimers;

/** Of a realm of its own: tests may have faked the date before the package was loaded. */
const now: () => number = runInNewContext("Date.now");

const { uptime } = process;

/** The machine's clock, in milliseconds since 1970; and one that cannot be set, in milliseconds. */
export const machineClock = { now, steady: () => uptime() * 1_000 };

/**
 * Calls a function after a number of milliseconds in which this process ran, unless the returned timer is cleared. A process that is blocked or stopped, such
 * as at a breakpoint, reads what has arrived meanwhile before its time is up: a pause of any length counts as a tenth of the time.
 *
 * @example clearInterval(afterRunning(10_000, () => reject(new Error("No response within 10 s."))))
 */
export function afterRunning(milliseconds: number, end: () => void): NodeJS.Timeout {
  const portion = Math.max(milliseconds / 10, 1);
  let left = Math.max(Math.ceil(milliseconds / portion), 1);
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    end();
  }, portion);
  return timer;
}

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

/** Returns whether a promise resolves within a number of milliseconds; no timer is left when it does. */
export async function endsWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = afterRunning(milliseconds, () => resolve(false));
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearInterval(timer);
  }
}

/** Waits for a promise; rejects with the signal's reason when the signal comes first. */
export async function unlessAborted<T>(end: AbortSignal, running: Promise<T>): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const reject = () => aborted.reject(end.reason);
  end.addEventListener("abort", reject);
  if (end.aborted) reject();
  running.catch(() => {});
  try {
    return await Promise.race([running, aborted.promise]);
  } finally {
    end.removeEventListener("abort", reject);
  }
}
