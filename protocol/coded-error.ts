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

/**
 * Returns whether a value is an error. Node's own errors are of another realm than a test of jest or of a pool of vitest that uses `node:vm`, where
 * `instanceof` is false for them.
 */
export function isError(value: unknown): value is Error {
  return (
    typeof value === "object" && value !== null && "message" in value && typeof value.message === "string"
  );
}

/** Returns an error and its causes, the last effect first; nothing for a value that is not an error. */
export function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let cause = error; isError(cause) && !causes.includes(cause); cause = cause.cause) causes.push(cause);
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
  return isError(first) ? first.message : String(first);
}

/** Returns the code of an error, such as `ENOENT`; undefined for a value that has none. */
export function codeOf(error: unknown): string | undefined {
  return isError(error) && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
