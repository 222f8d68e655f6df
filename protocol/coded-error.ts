/**
 * A failure that programs tell apart by its code; the message is a sentence that says what to do.
 *
 * @example
 * if (error instanceof CodedError && error.code === "port_in_use") tryAnotherPort();
 */
export abstract class CodedError<Code extends string = string> extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Returns an error and its causes, the last effect first; nothing for a value that is not an error. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && !causes.includes(cause); cause = cause.cause)
    causes.push(cause);
  return causes;
}

/** Returns an error's message; for a value that is not an error, its text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
