import { InvalidArgumentError } from "commander";

/**
 * Reads an option that is a whole number from 0 on.
 *
 * @throws InvalidArgumentError, which commander shows beside the option's name.
 */
export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}
