import type { Json } from "../../../protocol/values/json.ts";

/** Returns a member of a value; null when the value is no object or has no such member. */
export function member(value: Json | undefined, name: string): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value[name] ?? null) : null;
}
