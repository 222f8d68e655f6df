/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/**
 * The JSON form of plain data: bigints as decimal strings, everything else as it is.
 *
 * @throws TypeError for anything that has no such form (NaN, functions, undefined, instances of classes such as Date).
 * @example toJson({ amount: 5n, count: 2 }) // { amount: "5", count: 2 }
 */
export function toJson(value: unknown): Json {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return value.map(toJson);
  if (isPlainObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, toJson(entry)]));
  throw new TypeError(`A value of type ${typeof value} (${String(value)}) has no JSON form.`);
}

/**
 * The JSON form of a value that was decoded from contract data: every integer is a decimal string, whatever its width.
 *
 * viem decodes up to 48 bits as a number and anything wider as a bigint; here a uint32 looks like a uint256.
 *
 * @throws TypeError for anything that no contract returns.
 * @example contractJson({ sequence: 1, amount: 5n }) // { sequence: "1", amount: "5" }
 */
export function contractJson(value: unknown): Json {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value.toString();
  if (Array.isArray(value)) return value.map(contractJson);
  if (isPlainObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, contractJson(entry)]));
  return toJson(value);
}

/** Returns whether a value is an object of no class, also one of another realm, whose prototype is another `Object.prototype`. */
function isPlainObject(value: unknown): value is { [name: string]: unknown } {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
