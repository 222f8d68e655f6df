import { SandboxError } from "../lib/errors/sandbox-error.ts";

/** @throws SandboxError option_invalid unless an option is a whole number of milliseconds from 1 to the most. */
export function requireMilliseconds(option: string, milliseconds: number, most: number): void {
  if (!Number.isInteger(milliseconds) || milliseconds < 1 || milliseconds > most)
    throw new SandboxError(
      "option_invalid",
      `${option} must be 1 to ${most} milliseconds, not ${milliseconds}.`,
    );
}
