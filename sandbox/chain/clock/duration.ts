import { CodedError } from "../../../protocol/coded-error.ts";
import { showValue } from "../../lib/errors/show-value.ts";

/** A length of time: the sum of its parts. */
export interface Duration {
  days?: number;
  hours?: number;
  minutes?: number;
  seconds?: number;
}

/**
 * Returns the seconds of a duration.
 *
 * @example toSeconds({ days: 8 }) // 691200
 */
export function toSeconds(duration: Duration): number {
  const { days = 0, hours = 0, minutes = 0, seconds = 0 } = duration;
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

const parts = ["days", "hours", "minutes", "seconds"];

/**
 * Refuses a value that does not have the type of a duration.
 *
 * @throws ClockError
 */
export function requireDuration(by: number | Duration): void {
  const given = typeof by === "object" && by !== null ? Object.entries(by) : null;
  const known = given === null ? typeof by === "number" : given.length > 0 && given.every(isPart);
  if (!known)
    throw new ClockError(
      `${showValue(by)} is not a duration. Pass seconds or an object of days, hours, minutes and seconds, such as { days: 8 }.`,
    );
}

function isPart([name, value]: [name: string, value: unknown]): boolean {
  return parts.includes(name) && (typeof value === "number" || value === undefined);
}

/**
 * Thrown when the clock cannot move as asked: back, by zero, or to an invalid value.
 *
 * @example
 * await clock.travel(-60).catch((error) => error instanceof ClockError);
 */
export class ClockError extends CodedError<"time_invalid"> {
  override readonly name = "ClockError";

  constructor(message: string, options?: ErrorOptions) {
    super("time_invalid", message, options);
  }
}
