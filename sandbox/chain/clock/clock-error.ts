import { CodedError } from "../../../protocol/coded-error.ts";

/**
 * The clock was asked to go back, or to stay at one time.
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
