import { types } from "node:util";
import { escapeControls } from "../../../server/lib/escape-controls.ts";

/** The longest text that is shown of a value, in characters. */
const longest = 200;

/**
 * Returns a value of any type as an error message shows it: as JSON, with what JSON has no form for as in code or by its name.
 *
 * @example showValue({ amount: 5n, note: undefined }) // {"amount":5n,"note":undefined}
 */
export function showValue(value: unknown): string {
  const text = toText(value);
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

function toText(value: unknown): string {
  try {
    const shown = JSON.stringify(value, function (this: object, key: string, entry: unknown) {
      const name = nameWithForm(Reflect.get(this, key), entry) ?? nameOutsideJson(entry);
      return name === null ? entry : `\0${name}\0`;
    });
    return shown?.replaceAll(/"\\u0000(.*?)\\u0000"/g, "$1") ?? String(value);
  } catch {
    return "an object without a JSON form";
  }
}

/** Returns what an object is called that writes its own JSON, such as a Date, which the text alone would show as a right value; null for any other. */
function nameWithForm(value: unknown, form: unknown): string | null {
  if (typeof value !== "object" || value === null || !("toJSON" in value)) return null;
  const type = value.constructor === Object ? "object with toJSON" : value.constructor.name;
  return typeof form === "string" ? `the ${type} ${form}` : `the ${type}`;
}

/** Returns what a value is called that JSON refuses, leaves out or shows as another one; null for any other. */
function nameOutsideJson(value: unknown): string | null {
  if (typeof value === "bigint") return `${value}n`;
  if (value === undefined || (typeof value === "number" && !Number.isFinite(value))) return String(value);
  if (types.isPromise(value)) return "a promise";
  if (types.isMap(value)) return "a Map";
  return types.isSet(value) ? "a Set" : null;
}

/** The longest text of the fields of a tuple, in characters. */
const longestFields = 100;

/**
 * Returns an argument of a call, an error or an event in a few words without control characters: a value in at most 44 characters, and of a tuple or
 * an array the first fields.
 *
 * @example shortenArgument({ amount: "25000000" }) // {amount: 25000000}
 */
export function shortenArgument(value: unknown): string {
  if (typeof value === "object" && value !== null) return shortenFields(value);
  const text = escapeControls(typeof value === "string" ? value : String(JSON.stringify(value)));
  return text.length <= 44 ? text : `${text.slice(0, 20)}…${text.slice(-8)}`;
}

function shortenFields(value: object): string {
  const isArray = Array.isArray(value);
  const fields = Object.entries(value).map(([name, field]) =>
    isArray ? shortenArgument(field) : `${escapeControls(name)}: ${shortenArgument(field)}`,
  );
  let shown = fields.shift() ?? "";
  while (fields.length > 0 && shown.length + (fields[0]?.length ?? 0) <= longestFields)
    shown += `, ${fields.shift()}`;
  if (fields.length > 0) shown += ", …";
  return isArray ? `[${shown}]` : `{${shown}}`;
}
