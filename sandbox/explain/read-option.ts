import type { z } from "zod";
import { check } from "../../server/http/request/validate.ts";
import { SandboxError } from "../lib/errors/sandbox-error.ts";
import { showValue } from "../lib/errors/show-value.ts";

/**
 * Reads the value of an option by its schema.
 *
 * @param remedy - the sentence that says what to pass.
 * @throws SandboxError argument_invalid that names the member that is wrong.
 */
export function readOption<S extends z.ZodType>(
  name: string,
  schema: S,
  value: unknown,
  remedy: string,
): z.output<S> {
  const { data, errors } = check(schema, value, "");
  if (errors === null) return data;
  const [first] = errors;
  const member = first?.pointer.slice(1).replaceAll("/", ".") ?? "";
  // The remedy says what to pass. A refused value may have a semicolon, too, behind "must be …".
  const detail = first?.detail.replace(/^(is missing|is not a field of this request); .*/s, "$1") ?? "";
  throw wrongOption(name, member === "" ? `is ${showValue(value)}` : `is wrong: ${member} ${detail}`, remedy);
}

/** Makes the error of an option. */
export function wrongOption(name: string, wrong: string, remedy: string): SandboxError {
  return new SandboxError("argument_invalid", `The option ${name} ${wrong}. ${remedy}`);
}
