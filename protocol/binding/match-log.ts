import {
  type Abi,
  decodeEventLog,
  encodeAbiParameters,
  encodeEventTopics,
  getAbiItem,
  type Hex,
  toEventSelector,
} from "viem";
import { canonicalJson } from "../values/canonical-json.ts";
import { contractJson, type Json } from "../values/json.ts";
import type { ExpectedLog } from "./expected-transaction.ts";
import type { ObservedLog } from "./observed-transaction.ts";

/** A log that was decoded as one event of an ABI. */
export interface DecodedLog {
  event: string;
  /** The fields by name; integers as decimal strings. */
  fields: { [name: string]: Json };
  log: ObservedLog;
}

/**
 * Decodes a log as one event, strictly: its topics and data must be the canonical encoding of their values.
 *
 * @returns null for another event, other indexing, extra or missing data.
 * @example decodeLog(log, { abi: purchaseRegistrarAbi, event: "PurchasePaid" })
 */
export function decodeLog(log: ObservedLog, expected: Pick<ExpectedLog, "abi" | "event">): DecodedLog | null {
  if (!isEvent(log, expected)) return null;
  const item = getAbiItem({ abi: expected.abi, name: expected.event });
  if (item?.type !== "event") return null;
  try {
    const [signature = "0x", ...rest] = log.topics;
    const { args } = decodeEventLog({
      abi: [item],
      topics: [signature, ...rest],
      data: log.data,
      strict: true,
    });
    const named: Record<string, unknown> = { ...(args ?? {}) };
    const topics = encodeEventTopics({ abi: [item], eventName: item.name, args: named });
    const unindexed = item.inputs.filter((input) => input.indexed !== true);
    const data: Hex = encodeAbiParameters(
      unindexed,
      unindexed.map((input) => named[input.name ?? ""]),
    );
    const equal = data === log.data && topics.length === log.topics.length;
    if (!equal || topics.some((topic, index) => topic !== log.topics[index])) return null;
    const fields: DecodedLog["fields"] = {};
    for (const [name, value] of Object.entries(named)) fields[name] = contractJson(value);
    return { event: item.name, fields, log };
  } catch {
    return null;
  }
}

/**
 * Returns whether a decoded log has every expected field.
 *
 * @example matchesLog(decoded, { abi, event: "PurchasePaid", fields: { id } })
 */
export function matchesLog(decoded: DecodedLog, expected: ExpectedLog): boolean {
  return Object.entries(expected.fields).every(
    ([name, value]) => name in decoded.fields && canonicalJson(decoded.fields[name]) === canonicalJson(value),
  );
}

/**
 * Returns whether a log's first topic is that of an event.
 *
 * @example isEvent(log, { abi: purchaseRegistrarAbi, event: "PurchasePaid" })
 */
export function isEvent(log: ObservedLog, expected: Pick<ExpectedLog, "abi" | "event">): boolean {
  return log.topics[0] !== undefined && log.topics[0] === selectorOf(expected);
}

/** The first topics of an ABI's events, computed once. */
const selectors = new WeakMap<Abi, Map<string, Hex | null>>();

function selectorOf({ abi, event }: Pick<ExpectedLog, "abi" | "event">): Hex | null {
  const known = selectors.get(abi) ?? new Map<string, Hex | null>();
  selectors.set(abi, known);
  const found = known.get(event);
  if (found !== undefined) return found;
  const item = getAbiItem({ abi, name: event });
  const selector = item?.type === "event" ? toEventSelector(item) : null;
  known.set(event, selector);
  return selector;
}
