import { CodedError } from "../../../protocol/coded-error.ts";

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
