import { z } from "zod";
import { escapeControls } from "../lib/escape-controls.ts";
import { meantName, orList } from "../lib/wording.ts";

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
 * @example schema.safeParse(body, { error: describeIssue }) // "must be a string, not 5"
 */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "invalid_type")
    return requireThat(typeNames[issue.expected] ?? `of the type ${issue.expected}`, issue.input);
  if (issue.code === "invalid_value") return describeValues(issue.values, issue.input);
  if (issue.code === "too_small")
    return describeBound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum);
  if (issue.code === "too_big") return describeBound(issue.origin, "at most", issue.maximum);
  return issue.code === "unrecognized_keys" ? describeUnknown(issue.keys, issue.inst) : undefined;
}

/**
 * Adds the value to a message that says what it must be, unless the message has it already.
 *
 * @example nameValue("must be at least 1", { input: 0 }) // "must be at least 1, not 0"
 */
export function nameValue(message: string, { input }: Pick<z.core.$ZodIssue, "input">): string {
  if (!message.startsWith("must ") || message.includes(", not ")) return message;
  if (input === undefined) return message.replace("must be ", "is missing; send ");
  const isMeasured = message.startsWith("must have ") && (typeof input === "string" || Array.isArray(input));
  return `${message}, not ${isMeasured ? [...input].length : showInput(input)}`;
}

/**
 * Says that a value is missing, or is of another type.
 *
 * @param wanted - what it must be.
 * @example requireThat("Unix seconds", "soon") // 'must be Unix seconds, not the string "soon"'
 */
export function requireThat(wanted: string, input: unknown): string {
  return input === undefined ? `is missing; send ${wanted}` : `must be ${wanted}, not ${nameOf(input)}`;
}

function nameOf(input: unknown): string {
  if (typeof input === "number" || typeof input === "boolean") return String(input);
  if (typeof input === "string") return `the string ${showInput(input)}`;
  // Values in code can be of a class, such as Headers.
  if (typeof input === "object" && input !== null && !Array.isArray(input) && !isPlain(input))
    return `an instance of ${input.constructor.name}`;
  const type = input === null ? "null" : Array.isArray(input) ? "array" : typeof input;
  return typeNames[type] ?? type;
}

function isPlain(value: object): boolean {
  const { name } = value.constructor ?? Object;
  return name === "Object";
}

/** The most characters of a value in a message. */
const longestShown = 80;

function showInput(input: unknown): string {
  // Values in code can have what JSON has no form for.
  const json = JSON.stringify(input, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
  const text = escapeControls((typeof input === "bigint" ? `${input}n` : json) ?? typeof input);
  return text.length > longestShown ? `${text.slice(0, longestShown - 1)}…` : text;
}

function describeUnknown(unknown: readonly string[], object: unknown): string {
  const fields = object instanceof z.ZodObject ? Object.keys(object.shape) : [];
  const meant = unknown.flatMap((name) => meantName(name, fields) ?? []);
  if (meant.length > 0) return `is not a field of this request; did you mean ${orList(meant)}?`;
  return `is not a field of this request; ${fields.length === 0 ? "leave it out" : `use ${fields.join(", ")}`}`;
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
