import { isError } from "../../../protocol/coded-error.ts";

/** Returns whether a request got no whole response: `fetch` then throws a TypeError, which may be one of another realm. */
export function isLostConnection(error: unknown): error is TypeError {
  return isError(error) && error.name === "TypeError";
}
