/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/**
 * The JSON form of a decoded contract value: bigints as decimal strings, structs as objects.
 *
 * @throws TypeError for anything that has no such form (functions, symbols, undefined).
 * @example toJson({ amount: 5n }) // { amount: "5" }
 */
export function toJson(value: unknown): Json {
  if (value === null || typeof value === "boolean" || typeof value === "number" || typeof value === "string")
    return value;
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, toJson(entry)]));
  throw new TypeError(`A ${typeof value} has no JSON form.`);
}
