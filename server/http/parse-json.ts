import { parse } from "lossless-json";
import { Problem } from "../errors/problem.ts";

/**
 * Parses a body strictly: UTF-8 only, no byte order mark, no name twice, no number that a double cannot keep.
 *
 * @throws Problem body_malformed
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  try {
    return parse(text, undefined, { parseNumber, onDuplicateKey: refuseDuplicate });
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    const reason = cause instanceof Error ? cause.message : "unreadable";
    throw new Problem("body_malformed", `The body is not valid JSON: ${reason}.`, { cause });
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new Problem("body_malformed", "The body is not valid UTF-8.", { cause });
  }
}

function parseNumber(text: string): number {
  const value = Number(text);
  const exact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!exact)
    throw new Problem(
      "body_malformed",
      `The number ${text.slice(0, 40)} cannot be kept exactly; send amounts as strings.`,
    );
  return value;
}

function refuseDuplicate({ key }: { key: string }): never {
  throw new Problem("body_malformed", `The name "${key.slice(0, 100)}" stands twice in one object.`);
}
