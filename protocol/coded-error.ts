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

/**
 * Returns the error that came first, where others were thrown while what it had opened was closed: the SuppressedError of `await using` hides it.
 *
 * @example firstError(error) // of `await using` blocks, the error of the block
 */
export function firstError(error: unknown): unknown {
  const first: unknown = Reflect.get(Object(error), "suppressed");
  return first === undefined ? error : firstError(first);
}

/** Returns the message of {@link firstError}; for a value that is not an error, its text. */
export function messageOf(error: unknown): string {
  const first = firstError(error);
  return first instanceof Error ? first.message : String(first);
}
