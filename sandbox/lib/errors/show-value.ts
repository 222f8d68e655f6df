import { types } from "node:util";

/** The longest text that is shown of a value, in characters. */
const longest = 200;

/**
 * Returns a value of any type as an error message shows it: as JSON, with bigints as in code.
 *
 * @example showValue({ amount: 5n }) // {"amount":"5n"}
 */
export function showValue(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  // JSON has no NaN and no Infinity.
  if (typeof value === "number") return String(value);
  if (types.isPromise(value)) return "a promise";
  const text = toText(value);
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}

function toText(value: unknown): string {
  try {
    const shown = JSON.stringify(value, (_, entry: unknown) =>
      typeof entry === "bigint" ? `${entry}n` : entry,
    );
    return shown ?? String(value);
  } catch {
    return "an object without a JSON form";
  }
}
