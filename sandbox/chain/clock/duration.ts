/** A length of time; its parts add up. */
export interface Duration {
  days?: number;
  hours?: number;
  minutes?: number;
  seconds?: number;
}

/**
 * The seconds of a duration.
 *
 * @example toSeconds({ days: 8 }) // 691200
 */
export function toSeconds(duration: Duration): number {
  const { days = 0, hours = 0, minutes = 0, seconds = 0 } = duration;
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}
