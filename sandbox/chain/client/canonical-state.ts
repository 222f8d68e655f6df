import type { Json } from "../../../protocol/values/json.ts";

/** The parts that Anvil dumps in another order each time: lists, and the maps in the states of earlier blocks. */
const unordered: ReadonlySet<string> = new Set(["blocks", "transactions", "historical_states"]);

/** Numbers that JavaScript may not have exactly; texts in a state are hex or names, and have none. */
const largeNumber = /([:[,])(-?\d{16,})(?=[,}\]])/g;
const keptNumber = /"#(-?\d+)"/g;

/** Returns a dumped state with everything in one order, so that equal chains have equal bytes. */
export function canonicalState(state: string): string {
  const parsed: { [name: string]: Json } = JSON.parse(state.replace(largeNumber, '$1"#$2"'));
  const members = Object.entries(parsed).map(([name, value]) => [
    name,
    unordered.has(name) && Array.isArray(value) ? sorted(value.map(withSortedKeys)) : value,
  ]);
  return JSON.stringify(Object.fromEntries(members)).replace(keptNumber, "$1");
}

function sorted(values: readonly Json[]): Json[] {
  const texts = values.map((value) => ({ value, text: JSON.stringify(value) }));
  texts.sort((left, right) => (left.text < right.text ? -1 : 1));
  return texts.map(({ value }) => value);
}

function withSortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, withSortedKeys(member)]));
}
