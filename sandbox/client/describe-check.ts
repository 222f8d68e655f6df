import { shortenArgument } from "../lib/errors/show-value.ts";

/** A failed check, with its expected and actual value. */
export interface FailedCheck {
  name: string;
  expected: unknown;
  actual: unknown;
}

/**
 * Returns a failed check in one line with both sides: for calldata the first wrong word, for logs the events that differ.
 *
 * @example describeCheck({ name: "value", expected: "0", actual: "1" }) // "value: expected 0, is 1"
 */
export function describeCheck({ name, expected, actual }: FailedCheck): string {
  if (name === "log" && Array.isArray(expected)) return describeLogs(expected, actual);
  const data = member(actual, "data");
  if (name === "calldata" && typeof expected === "string" && typeof data === "string")
    return describeCalldata(expected, data);
  return `${name}: expected ${shortText(expected)}, is ${shortText(actual)}`;
}

/** Returns a value as text of at most 200 characters. */
export function shortText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return text.length <= 200 ? text : `${text.slice(0, 199)}…`;
}

/**
 * Returns the index of the first byte in which two byte strings differ; a missing byte differs.
 *
 * @example firstDifference("0x0102", "0x0103") // 1
 */
function firstDifference(expected: string, actual: string): number {
  let byte = 0;
  while (byteAt(expected, byte) === byteAt(actual, byte) && byteAt(expected, byte) !== "") byte += 1;
  return byte;
}

function byteAt(data: string, byte: number): string {
  return data.slice(2 + byte * 2, 4 + byte * 2);
}

function describeCalldata(expected: string, actual: string): string {
  const from = firstDifference(expected, actual);
  // The end of the word, which starts after the four bytes of the selector.
  const to = from < 4 ? 4 : 36 + Math.floor((from - 4) / 32) * 32;
  const [wanted, found] = [expected, actual].map((data) => {
    const bytes = data.slice(2 + from * 2, 2 + to * 2);
    return bytes === "" ? "the end of the calldata" : `0x${bytes}`;
  });
  return `calldata: expected ${wanted} at byte ${from}, is ${found}`;
}

function describeLogs(expected: readonly unknown[], actual: unknown): string {
  const found: unknown[] = Array.isArray(actual) ? [...actual] : [];
  const missing = expected.filter((wanted) => {
    const at = found.findIndex((one) => isSameLog(wanted, one));
    if (at >= 0) found.splice(at, 1);
    return at < 0 && member(wanted, "optional") !== true;
  });
  if (missing.length === 0 && found.length === 0)
    return `log: expected ${expected.map(describeLog).join(", ")} in this order; the order is another`;
  const wanted = missing.length === 0 ? "no more" : missing.map(describeLog).join(", ");
  return `log: expected ${wanted}; there is ${found.length === 0 ? "none" : found.map(describeLog).join(", ")}`;
}

function isSameLog(wanted: unknown, found: unknown): boolean {
  const isSame = (name: string) => member(wanted, name) === member(found, name);
  return (
    isSame("address") &&
    isSame("event") &&
    entriesOf(member(wanted, "fields")).every(
      ([name, value]) => JSON.stringify(member(member(found, "fields"), name)) === JSON.stringify(value),
    )
  );
}

function describeLog(log: unknown): string {
  const event = member(log, "event");
  if (typeof event !== "string")
    return `a log of ${shortText(member(log, "address"))} with other topics or data`;
  const fields = entriesOf(member(log, "fields")).map(([name, value]) => `${name} ${shortenArgument(value)}`);
  return `${event}(${fields.join(", ")})`;
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function member(value: unknown, name: string): unknown {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : null;
  return found ?? null;
}
