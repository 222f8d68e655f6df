import type { Hex } from "viem";
import type { Json } from "../../../protocol/values/json.ts";

/** The lists that Anvil dumps in another order each time, with maps whose order changes as well. */
const unordered: ReadonlySet<string> = new Set(["blocks", "transactions", "historical_states"]);

/** Numbers that JavaScript may not have exactly; texts in a state are hex or names, and have none. */
const largeNumber = /([:[,])(-?\d{16,})(?=[,}\]])/g;
const keptNumber = /"#(-?\d+)"/g;

/**
 * Returns a dumped state with everything in one order, so that equal chains have equal bytes. The states of earlier blocks are in the order
 * of the blocks: an Anvil that loads more of them than it keeps, or gets new ones, drops the first ones.
 */
export function canonicalState(state: string): string {
  const parsed: { [name: string]: Json } = JSON.parse(state.replace(largeNumber, '$1"#$2"'));
  const members = Object.entries(parsed).map(([name, value]) => [
    name,
    unordered.has(name) && Array.isArray(value) ? sorted(value.map(withSortedKeys)) : value,
  ]);
  const { historical_states, ...canonical }: DumpedState = Object.fromEntries(members);
  const numbers = blockNumbers(canonical.blocks);
  const numberOf = ([hash]: readonly [Hex, Json]) => numbers.get(hash) ?? Number.POSITIVE_INFINITY;
  const states = historical_states.toSorted((left, right) => numberOf(left) - numberOf(right));
  return JSON.stringify({ ...canonical, historical_states: states }).replace(keptNumber, "$1");
}

/** The parts of a dumped state that name blocks; each state of an earlier block has the block's hash. */
interface DumpedState {
  blocks: readonly { header: { number: Hex; parentHash: Hex } }[];
  historical_states: readonly (readonly [Hex, Json])[];
}

/** Returns the numbers of all blocks but the newest by their hashes: a dump has the hash of a block only as the next block's `parentHash`. */
function blockNumbers(blocks: DumpedState["blocks"]): ReadonlyMap<Hex, number> {
  return new Map(blocks.map(({ header }) => [header.parentHash, Number(header.number) - 1]));
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
