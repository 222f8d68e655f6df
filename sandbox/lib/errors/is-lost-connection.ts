import { causesOf, codeOf, isError } from "../../../protocol/coded-error.ts";

/** Returns whether a request got no whole response: `fetch` then throws a TypeError, which may be one of another realm. */
export function isLostConnection(error: unknown): error is TypeError {
  return isError(error) && error.name === "TypeError";
}

/** The errors of `fetch` and of its replacements in DOM environments without a code: of a request whose outcome is not known. */
const namesOfLost: readonly string[] = ["NetworkError", "TimeoutError"];

/**
 * Returns whether any function that sends requests in place of `fetch` got no whole response: it throws the system's code or undici's, itself or
 * as a cause, some kind of TypeError, or a DOMException of a network or a timeout.
 */
export function isNetworkError(error: unknown): error is Error {
  return causesOf(error).some((cause) => {
    const tried: unknown = Reflect.get(cause, "errors");
    return [cause, ...(Array.isArray(tried) ? tried : [])].some(
      (one) =>
        /^(?:E[A-Z0-9_]+|UND_ERR_\w+)$/.test(codeOf(one) ?? "") ||
        (isError(one) && namesOfLost.includes(one.name)) ||
        isTypeError(one),
    );
  });
}

/** Looks at names only: a getter of a prototype, such as DOMException's, refuses to be called on it. */
function isTypeError(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const name: unknown = Object.getOwnPropertyDescriptor(error, "name")?.value;
  return name === "TypeError" || isTypeError(Object.getPrototypeOf(error));
}
