import { TextEncoder } from "../../../protocol/globals.ts";
import { sha256Hex } from "../../../protocol/values/canonical-json.ts";
import { readRetryAfter } from "../../../protocol/values/retry-after.ts";
import { limits } from "../../limits.ts";

/** Returns whether a notification that has had these attempts gets another one. */
export function mayAttempt(attempts: readonly unknown[]): boolean {
  return attempts.length < limits.delivery_attempts;
}

/** The pause after the first attempt, in milliseconds; each further one is twice as long. */
export const firstPauseMs = 500;

/** The longest pause that a receiver can ask for with Retry-After, in seconds. */
export const longestRetryAfter = 10;

/**
 * Returns the pause after a failed attempt: half a second, doubled each time, and up to half as much again by jitter,
 * or the pause that the receiver asked for when that is longer. The jitter follows from the seed, so that equal runs
 * wait equally long.
 *
 * @returns milliseconds.
 * @example pauseAfter(1, { seed: "checkout", eventId: event.id, retryAfterSeconds: null }) // 500 to 750
 */
export function pauseAfter(
  attempt: number,
  of: { seed: string; eventId: string; retryAfterSeconds: number | null },
): number {
  const { seed, eventId, retryAfterSeconds } = of;
  const base = firstPauseMs * 2 ** (attempt - 1);
  const digest = sha256Hex(new TextEncoder().encode(JSON.stringify([seed, eventId, attempt])));
  const chance = Number.parseInt(digest.slice(2, 10), 16) / 2 ** 32;
  return Math.max(base + Math.floor((base / 2) * chance), (retryAfterSeconds ?? 0) * 1000);
}

/**
 * Returns the pause that the header Retry-After of a receiver's response asks for.
 *
 * @param now - Unix seconds.
 * @returns whole seconds from 0 to {@link longestRetryAfter}; null when the header is absent or says nothing.
 * @example readAskedPause("120", now) // 10
 */
export function readAskedPause(header: string | null, now: number): number | null {
  const seconds = header === null ? null : readRetryAfter(header, now);
  return seconds === null ? null : Math.min(seconds, longestRetryAfter);
}
