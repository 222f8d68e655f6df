import { hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { CodedError } from "../../../protocol/coded-error.ts";
import { countBytes } from "../../lib/file-kind.ts";

/** A data directory holds something that this version cannot have written; nothing was changed. */
export class StoreDamagedError extends CodedError<"store_damaged"> {
  override readonly name = "StoreDamagedError";

  constructor(message: string, options?: ErrorOptions) {
    super("store_damaged", message, options);
  }
}

/** A line that matches its checksum. */
export interface CheckedLine {
  /** The file's first line is 1. */
  number: number;
  /** The checksum. */
  sum: string;
  /** The content of the line, without the checksum. */
  text: string;
  /** The start of the line, in bytes. */
  start: number;
  /** The end of the line, in bytes, including its newline. */
  end: number;
  /** Whether it has its newline: the last byte of a write that was cut off may be missing. */
  ended: boolean;
}

const newline = 0x0a;
/** The longest line, in bytes: a block full of transactions has some 10 MiB. */
const mostLineBytes = 64 * 2 ** 20;
/** The most values of a line, with their separators: parsed, empty ones take thirty times as much memory as their text. */
const mostLineValues = 2 ** 22;
/** A line begins with its checksum as a member of its own, so that each line is one JSON object. */
export const lineHead = '{"sum":"';
const sumLength = 16;
const sumEnd = lineHead.length + sumLength;

/**
 * One object as a line of a file, with a member `sum` before its own: the first 16 hexadecimal digits of the SHA-256 of the rest of the line.
 */
export function toLine(value: object): string {
  const rest = `",${JSON.stringify(value).slice(1)}`;
  return `${lineHead}${sumOf(rest)}${rest}\n`;
}

/**
 * Reads the lines of a file one by one.
 *
 * @param torn - whether an end that a write leaves that was cut off is dropped.
 * @throws StoreDamagedError, with file and line, for anything else that {@link toLine} has not written.
 */
export async function* readCheckedLines(file: string, torn: "drop" | "refuse"): AsyncGenerator<CheckedLine> {
  let number = 0;
  let end = 0;
  /** The parts of a line whose end has not been read. */
  let parts: Buffer[] = [];
  let length = 0;
  const chunks: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: 2 ** 17 });
  for await (const chunk of chunks) {
    let from = 0;
    for (let to = chunk.indexOf(newline); to !== -1; to = chunk.indexOf(newline, from)) {
      number += 1;
      const start = end;
      end += length + to + 1 - from;
      const last = chunk.subarray(from, to);
      const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
      parts = [];
      length = 0;
      const text = textOf(line);
      if (text === null) throw damaged(file, { number, start }, "it does not match its checksum");
      yield { number, sum: lineSum(line), text, start, end, ended: true };
      from = to + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > mostLineBytes)
      throw damaged(
        file,
        { number: number + 1, start: end },
        `it has more than ${mostLineBytes / 2 ** 20} MiB`,
      );
  }
  if (length === 0) return;
  const rest = Buffer.concat(parts);
  const whole = textOf(rest);
  const last = { number: number + 1, start: end };
  if (whole !== null)
    yield { ...last, sum: lineSum(rest), text: whole, end: end + rest.length, ended: false };
  else if (torn === "refuse" || !isTorn(rest)) throw damaged(file, last, "it does not end as it was written");
}

/**
 * Returns whether bytes without a newline can be what a write leaves that was cut off: the beginning of one line, with zeros where the disk
 * has not written it. A line whose newline is another byte is none, nor is what has bytes that JSON escapes.
 */
function isTorn(bytes: Buffer): boolean {
  const text = bytes.toString("latin1");
  const isOlder = olderBeginning.test(text);
  if (!isOlder && !beginning.test(text)) return false;
  if (bytes.some((byte) => byte > 0 && byte < 0x20)) return false;
  let start = 0;
  for (const { index } of text.matchAll(/\}/g)) {
    const next = text.slice(index + 2, index + 2 + sumEnd);
    const isStart = isOlder ? olderBeginning.test(next) : beginning.test(next);
    if (!isStart || index + 2 > text.length) continue;
    if (textOf(bytes.subarray(start, index + 1)) !== null) return false;
    start = index + 2;
  }
  return start === 0 || textOf(bytes.subarray(start)) === null;
}

/** The beginning of a line, of any length, with zeros for what is not written. */
const beginning = partial([
  ...lineHead,
  ...Array.from({ length: sumLength }, () => "[0-9a-f]"),
  '"',
  ",",
  '"',
]);
const olderBeginning = partial([...Array.from({ length: sumLength }, () => "[0-9a-f]"), " ", "[{]"]);

/** A pattern of texts that begin as these characters do, or are a beginning of them; each may be a zero. */
function partial(characters: readonly string[]): RegExp {
  const pattern = characters.reduceRight(
    (rest, one) => `(?:$|[${one.replace(/^\[|\]$/g, "")}\\0]${rest})`,
    "",
  );
  return new RegExp(`^${pattern}`);
}

/** Parses a line. @throws StoreDamagedError for what is not JSON, or would take all memory. */
export function parseLine<T>(file: string, line: Pick<CheckedLine, "number" | "start" | "text">): T {
  if (line.text.length > mostLineValues && countBytes(Buffer.from(line.text), "[{,") > mostLineValues)
    throw damaged(file, line, `it has more than ${mostLineValues} values`);
  try {
    return JSON.parse(line.text);
  } catch (cause) {
    throw damaged(file, line, "it is not JSON", cause);
  }
}

/** The refusal of a file with a line that is not as it was written. */
export function damaged(
  file: string,
  { number, start }: Pick<CheckedLine, "number" | "start">,
  what: string,
  cause?: unknown,
): StoreDamagedError {
  return new StoreDamagedError(`${file}, line ${number}: ${what} (byte ${start}). ${restoreAdvice}`, {
    cause,
  });
}

/** The remedy for a damaged data directory. */
export const restoreAdvice =
  "Restore the data directory from a backup, or choose another one with the option dataDirectory.";

/** Returns the JSON of a line without its checksum; null if that does not match. */
function textOf(line: Buffer): string | null {
  const rest = line.subarray(sumEnd);
  if (line.toString("latin1", 0, sumEnd) === lineHead + sumOf(rest)) return `{${rest.toString("utf8", 2)}`;
  // Lines of format 5 are the checksum, a space, the JSON.
  const older = line.subarray(sumLength + 1);
  return line.toString("latin1", 0, sumLength + 1) === `${sumOf(older)} ` ? older.toString() : null;
}

/** The checksum of a line. */
export function lineSum(line: string | Buffer): string {
  const start = line.slice(0, lineHead.length).toString() === lineHead ? lineHead.length : 0;
  return line.slice(start, start + sumLength).toString();
}

function sumOf(text: string | Buffer): string {
  return hash("sha256", text).slice(0, sumLength);
}
