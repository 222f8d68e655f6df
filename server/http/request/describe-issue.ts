import type { z } from "zod";

/** The name of each type of value. Every number that is asked for is a whole one. */
const typeNames: { [type: string]: string } = {
  string: "a string",
  number: "a whole number",
  int: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
  record: "an object",
  null: "null",
};

/** The unit in which a value of a type is too long or too short. */
const units: { [origin: string]: string } = { string: "character", array: "item", record: "member" };

/**
 * Says what is wrong with a value, after the field's name. Zod asks it where the schema has no message of its own.
 *
 * @returns undefined for what zod's own message has to say.
 * @example schema.safeParse(body, { error: describeIssue }) // "must be a string, not a number"
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_type")
    return requireThat(typeNames[issue.expected] ?? `of the type ${issue.expected}`, issue.input);
  if (issue.code === "invalid_value") return describeValues(issue.values, issue.input);
  if (issue.code === "too_small")
    return describeBound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum);
  if (issue.code === "too_big") return describeBound(issue.origin, "at most", issue.maximum);
  return issue.code === "unrecognized_keys" ? "is not a field of this request" : undefined;
}

/**
 * Says that a value is missing, or is of another type.
 *
 * @param wanted - what it must be.
 * @example requireThat("Unix seconds", "soon") // "must be Unix seconds, not a string"
 */
export function requireThat(wanted: string, input: unknown): string {
  return input === undefined ? `is missing; send ${wanted}` : `must be ${wanted}, not ${nameOf(input)}`;
}

function nameOf(input: unknown): string {
  if (typeof input === "number" || typeof input === "boolean") return String(input);
  const type = input === null ? "null" : Array.isArray(input) ? "array" : typeof input;
  return typeNames[type] ?? type;
}

function describeValues(values: readonly unknown[], input: unknown): string {
  const listed = values.map((value) => JSON.stringify(value)).join(", ");
  const wanted = values.length === 1 ? listed : `one of ${listed}`;
  return input === undefined ? `is missing; send ${wanted}` : `must be ${wanted}`;
}

function describeBound(origin: string, side: string, bound: number | bigint): string {
  const unit = units[origin];
  if (unit === undefined) return `must be ${side} ${bound}`;
  return `must have ${side} ${bound} ${unit}${bound === 1 ? "" : "s"}`;
}
