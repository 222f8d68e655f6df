import { TextEncoder } from "../../protocol/globals.ts";
import { sha256Hex } from "../../protocol/values/canonical-json.ts";
import type { Json } from "../../protocol/values/json.ts";
import { withoutPorts } from "../snapshots/fingerprint.ts";

/** Longer values are compared by their digest. */
const longest = 100;

/** Fields that differ between equal runs, or that are secrets. */
const passedOver = new Set(["request_id", "pid"]);
const secrets = new Set(["credential"]);

/**
 * The fields of an answer's body as a scenario keeps them: short values as they are, all others by their digest. URLs count without
 * their ports, and signatures over such URLs do not count.
 *
 * @example answerFields('{"id":"mer_…","funding":{…}}') // { id: "mer_…", funding: "sha256:…" }
 */
export function answerFields(text: string): { [field: string]: Json } {
  const body = parse(withoutPorts(text));
  if (body === null || typeof body !== "object" || Array.isArray(body))
    return { "": shorten(body ?? text, false) };
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => !passedOver.has(name))
      .map(([name, value]) => [name, shorten(value, secrets.has(name))]),
  );
}

function shorten(value: Json, secret: boolean): Json {
  const text = JSON.stringify(value);
  const isShort = value === null || typeof value !== "object" || text.length <= 2;
  if (isShort && text.length <= longest && !secret) return value;
  return `sha256:${sha256Hex(new TextEncoder().encode(text)).slice(2)}`;
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
