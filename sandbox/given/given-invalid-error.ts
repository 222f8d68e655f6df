import { CodedError } from "../../protocol/coded-error.ts";

/** Thrown for an invalid option of a given state; the message names the option and the valid values. */
export class GivenInvalidError extends CodedError<"given_invalid"> {
  override readonly name = "GivenInvalidError";
  /** The invalid options, each with a JSON pointer such as `/state`. */
  readonly errors: readonly { pointer: string; detail: string }[];

  constructor(errors: GivenInvalidError["errors"]) {
    super("given_invalid", [...new Set(errors.map(({ detail }) => detail))].join(" "));
    this.errors = errors;
  }
}

/** Returns the same error with pointers below a path. */
export function errorBelow(path: readonly string[], { errors }: GivenInvalidError): GivenInvalidError {
  const parent = path.map((step) => `/${step}`).join("");
  return new GivenInvalidError(errors.map(({ pointer, detail }) => ({ pointer: parent + pointer, detail })));
}
