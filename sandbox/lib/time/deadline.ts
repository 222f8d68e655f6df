import { clearTimeout, setTimeout } from "./timers.ts";
/** Returns whether a promise resolves within a number of milliseconds; no timer is left when it does. */
export async function endsWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), Math.max(milliseconds, 0));
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
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
