/**
 * The clock was asked to go back, or to stand still.
 *
 * @example
 * await clock.travel(-60).catch((error) => error instanceof ClockError);
 */
export class ClockError extends Error {
  override readonly name = "ClockError";
}
