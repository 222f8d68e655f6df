import { causesOf, codeOf, isError } from "../../../protocol/coded-error.ts";

/** Returns whether a request got no whole response: `fetch` then throws a TypeError, which may be one of another realm. */
export function isLostConnection(error: unknown): error is TypeError {
  return isError(error) && error.name === "TypeError";
}

/**
 * Returns whether any function that sends requests in place of `fetch` got no whole response: it throws the system's code or undici's, itself or
 * as a cause, or some kind of TypeError.
 */
export function isNetworkError(error: unknown): error is Error {
  return causesOf(error).some(
    (cause) => /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(codeOf(cause) ?? "") || isTypeError(cause),
  );
}

function isTypeError(error: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(error);
  return (
    isLostConnection(error) || (typeof prototype === "object" && prototype !== null && isTypeError(prototype))
  );
}
