import type { Json } from "../../../protocol/values/json.ts";

/** The first field in which a value differs from what it must be, as in `purchase.figures.paid`. */
export interface AnswerDifference {
  field: string;
  expected: unknown;
  actual: unknown;
}

/**
 * Returns the first field in which a JSON value differs from what is expected of it; null when there is none. Fields of objects that are not
 * expected may be anything; lists must have as many entries as expected.
 *
 * @param field - the name of the value itself, with which the names of its fields begin.
 * @example findDifference({ status: "active" }, purchase, "body") // { field: "body.status", expected: "active", actual: "created" }
 */
export function findDifference(expected: Json, actual: unknown, field: string): AnswerDifference | null {
  if (expected === null || typeof expected !== "object")
    return expected === actual ? null : { field, expected, actual };
  if (typeof actual !== "object" || actual === null || Array.isArray(actual) !== Array.isArray(expected))
    return { field, expected, actual };
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length !== actual.length)
    return { field, expected, actual };
  for (const [name, value] of Object.entries(expected)) {
    const found = findDifference(value, Reflect.get(actual, name), field === "" ? name : `${field}.${name}`);
    if (found !== null) return found;
  }
  return null;
}
