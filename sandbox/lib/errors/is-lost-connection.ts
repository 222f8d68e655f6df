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
  return causesOf(error).some((cause) => {
    const tried: unknown = Reflect.get(cause, "errors");
    return [cause, ...(Array.isArray(tried) ? tried : [])].some(
      (one) => /^(?:E[A-Z0-9_]+|UND_ERR_\w+)$/.test(codeOf(one) ?? "") || isTypeError(one),
    );
  });
}

function isTypeError(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  return isLostConnection(error) || isTypeError(Object.getPrototypeOf(error));
}
