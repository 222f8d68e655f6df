import {
  type Abi,
  type AbiEvent,
  type AbiParameter,
  concatHex,
  decodeAbiParameters,
  encodeAbiParameters,
  getAbiItem,
  type Hex,
  size,
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
  const event = eventOf(expected);
  const [selector, ...topics] = log.topics;
  if (event === null || !event.isDecodable || selector !== event.selector) return null;
  if (topics.length !== event.indexed.length || topics.some((topic) => size(topic) !== 32)) return null;
  try {
    const values = [
      ...decodeCanonical(event.indexed, concatHex(topics)),
      ...decodeCanonical(event.unindexed, log.data),
    ];
    const fields: DecodedLog["fields"] = {};
    for (const [index, { name = "" }] of [...event.indexed, ...event.unindexed].entries())
      fields[name] = contractJson(values[index]);
    return { event: event.name, fields, log };
  } catch {
    return null;
  }
}

/** @throws Error if the bytes are not the encoding of the values that they decode to. */
function decodeCanonical(inputs: readonly AbiParameter[], bytes: Hex): readonly unknown[] {
  const values = decodeAbiParameters(inputs, bytes);
  if (encodeAbiParameters(inputs, values) !== bytes) throw new Error(`${bytes} is not a canonical encoding.`);
  return values;
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
  return log.topics[0] !== undefined && log.topics[0] === eventOf(expected)?.selector;
}

/**
 * Returns the first topic of an event's logs, the hash of its signature, computed once per ABI.
 *
 * @throws Error if the ABI has no such event.
 * @example selectorOf({ abi: purchaseRegistrarAbi, event: "PurchasePaid" })
 */
export function selectorOf(expected: Pick<ExpectedLog, "abi" | "event">): Hex {
  const event = eventOf(expected);
  if (event === null) throw new Error(`The ABI has no event ${expected.event}.`);
  return event.selector;
}

/** An event as its logs are decoded. */
interface LogEncoding {
  name: string;
  selector: Hex;
  indexed: AbiEvent["inputs"];
  unindexed: AbiEvent["inputs"];
  /** Whether each value has a name and can be read: a topic of an array, a tuple, a string or bytes is only its hash. */
  isDecodable: boolean;
}

/** The events of an ABI; null for a name that is not one of them. viem hashes the signature for each log. */
const events = new WeakMap<Abi, Map<string, LogEncoding | null>>();

function eventOf({ abi, event }: Pick<ExpectedLog, "abi" | "event">): LogEncoding | null {
  const known = events.get(abi) ?? new Map<string, LogEncoding | null>();
  events.set(abi, known);
  const found = known.get(event);
  if (found !== undefined) return found;
  const item = getAbiItem({ abi, name: event });
  const encoding = item?.type === "event" ? encodingOf(item) : null;
  known.set(event, encoding);
  return encoding;
}

function encodingOf(item: AbiEvent): LogEncoding {
  return {
    name: item.name,
    selector: toEventSelector(item),
    indexed: item.inputs.filter(({ indexed }) => indexed === true),
    unindexed: item.inputs.filter(({ indexed }) => indexed !== true),
    isDecodable: item.inputs.every(
      ({ name = "", type, indexed }) =>
        name !== "" && !(indexed === true && /^(string|bytes|tuple|.*\])$/.test(type)),
    ),
  };
}
