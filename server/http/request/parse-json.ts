import { messageOf } from "../../../protocol/coded-error.ts";
import { TextDecoder } from "../../../protocol/globals.ts";
import { Problem } from "../../errors/problem.ts";

/** The largest depth of nested objects and arrays. */
export const maximumDepth = 64;

/**
 * Parses a body strictly: UTF-8 only, no byte order mark, no name twice, no number that a double cannot keep, no lone surrogate,
 * at most {@link maximumDepth} levels.
 *
 * @param inexact - makes a value of a number that a double cannot keep, which is refused otherwise.
 * @throws Problem body_malformed
 */
export function parseJson(bytes: Uint8Array, inexact?: (source: string) => unknown): unknown {
  const text = decode(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Problem("body_malformed", `The body is not valid JSON: ${mistakeIn(text, messageOf(cause))}.`, {
      cause,
    });
  }
  assertStrict(text, inexact === undefined);
  // With a function, JSON.parse cannot read text of any depth.
  return inexact === undefined ? value : JSON.parse(text, revive(inexact));
}

function revive(inexact: (source: string) => unknown) {
  return (_name: string, value: unknown, context?: { source?: string }): unknown => {
    const source = context?.source;
    return typeof value === "number" && source !== undefined && !isExact(source) ? inexact(source) : value;
  };
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Problem("body_malformed", "The body is not valid UTF-8.", { cause });
  }
}

/** Says what in a text is not JSON, and where; characters count from 1. */
function mistakeIn(text: string, said: string): string {
  if (text.startsWith("\uFEFF")) return "it begins with a byte order mark (BOM). Send UTF-8 without it";
  if (text.trim() === "") return "it is empty. Send one JSON object";
  const token = /[ \t\r\n]*("(?:[^"\\\n\r\t]|\\.)*"|-?\d[\d.eE+-]*|true\b|false\b|null\b|[{}[\]:,])/y;
  let last: { text: string; at: number } | undefined;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const next = { text: match[1] ?? "", at: token.lastIndex - (match[1] ?? "").length };
    if (last?.text === "," && /[}\]]/.test(next.text))
      return `the comma at character ${last.at + 1} has nothing after it`;
    last = next;
    if (token.lastIndex === text.trimEnd().length) break;
  }
  const end = last === undefined ? 0 : last.at + last.text.length;
  // JSON knows fewer spaces than trim() does.
  const rest = text.slice(end).replace(/^[ \t\r\n]+/, "");
  // Of tokens that are right one by one, the parser says which one it did not expect.
  const at = rest === "" ? Number(/position (\d+)/.exec(said)?.[1] ?? end) : text.length - rest.length;
  if (at >= end && rest === "") return "it ends before it is complete";
  const raw = /^"(?:[^"\\]|\\.)*?[\n\r\t]/.exec(text.slice(at))?.[0];
  if (raw !== undefined)
    return `the string at character ${at + 1} has ${JSON.stringify(raw.at(-1))} at character ${at + raw.length}, which must be escaped`;
  if (/^"(?:[^"\\]|\\.)*$/s.test(text.slice(at))) return `the string at character ${at + 1} has no end`;
  const [word = ""] = /^(?:[\w$.+-]+|.)/s.exec(text.slice(at)) ?? [];
  return `${JSON.stringify(word.slice(0, 40))} at character ${at + 1} was not expected`;
}

// Strings are whole, so that what is in them is not taken for structure. The text is valid JSON here.
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*|[{}[\]:,]/g;

/** Refuses what JSON.parse takes in silence. */
function assertStrict(text: string, exactNumbers: boolean): void {
  /** The names so far of each open object; null for an open array. */
  const open: (Set<string> | null)[] = [];
  let last: string | undefined;
  for (const [token] of text.matchAll(tokens)) {
    if (token === "{" || token === "[") {
      open.push(token === "{" ? new Set() : null);
      if (open.length > maximumDepth)
        throw new Problem("body_malformed", `The body has more than ${maximumDepth} levels.`);
    } else if (token === "}" || token === "]") open.pop();
    else if (token === ":") assertNewName(last ?? "", open.at(-1));
    else if (token.startsWith('"')) last = wellFormed(JSON.parse(token));
    else if (token !== "," && exactNumbers) assertExact(token);
  }
}

function assertNewName(name: string, names: Set<string> | null | undefined): void {
  const shown = JSON.stringify(name.slice(0, 100));
  if (names?.has(name))
    throw new Problem("body_malformed", `Duplicate key ${shown}. Send each key of an object once.`);
  if (name === "__proto__") throw new Problem("body_malformed", `The name ${shown} is not taken.`);
  names?.add(name);
}

function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  throw new Problem("body_malformed", "A string contains an unpaired surrogate. Send valid UTF-8.");
}

/** Returns whether a double keeps a number as it is written. */
function isExact(token: string): boolean {
  const value = Number(token);
  return (
    Number.isFinite(value) &&
    (!Number.isInteger(value) || Number.isSafeInteger(value)) &&
    significantDigits(token) === significantDigits(String(value))
  );
}

function assertExact(token: string): void {
  if (!isExact(token))
    throw new Problem(
      "body_malformed",
      `The number ${token.slice(0, 40)} cannot be represented exactly. Send amounts as strings.`,
    );
}

function significantDigits(number: string): string {
  const [mantissa = ""] = number.split(/[eE]/);
  return mantissa.replaceAll(/[-.]/g, "").replace(/^0+/, "").replace(/0+$/, "");
}
