import { toTimestamp } from "../../protocol/values/time.ts";
import { Problem } from "../errors/problem.ts";

/**
 * Refuses a step that is not on the chain, and that no block can have in time any more.
 *
 * @param deadline - the last second of the step, in Unix seconds.
 * @param nextTime - the time of the next block.
 * @throws Problem with the code of a late step.
 */
export function assertInTime(
  code: "deadline_passed" | "claim_window_closed",
  step: "offer" | "registration" | "enrollment" | "claim",
  deadline: number,
  nextTime: number,
): void {
  if (nextTime <= deadline) return;
  throw new Problem(
    code,
    `The ${step} was due by ${toTimestamp(deadline)}; the time of the next block is ${toTimestamp(nextTime)}.`,
  );
}
