import { SandboxError } from "../lib/sandbox-error.ts";

/** How long a start may take unless an option says otherwise, in milliseconds. */
export const defaultStartTimeoutMs = 30_000;
/** The longest deadline of a start, in milliseconds. */
export const mostStartTimeoutMs = 600_000;

/** @throws SandboxError option_invalid */
export function checkStartTimeout(startTimeoutMs: number): void {
  if (!Number.isInteger(startTimeoutMs) || startTimeoutMs < 1 || startTimeoutMs > mostStartTimeoutMs)
    throw new SandboxError(
      "option_invalid",
      `startTimeoutMs must be 1 to ${mostStartTimeoutMs} milliseconds, not ${startTimeoutMs}.`,
    );
}
