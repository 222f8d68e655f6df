import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import serialize from "canonicalize";
import type { Hex } from "viem";

/**
 * Returns the RFC 8785 (JCS) form of a JSON value.
 *
 * @throws TypeError when the value has no JSON form: NaN, an unpaired surrogate, a cycle.
 * @example canonicalJson({ b: 1, a: 2 }) // '{"a":2,"b":1}'
 */
export function canonicalJson(value: unknown): string {
  const text = serialized(value);
  if (text === undefined) throw new TypeError("The value has no JSON form.");
  return text;
}

function serialized(value: unknown): string | undefined {
  try {
    return serialize(value);
  } catch (cause) {
    throw new TypeError("The value has no JSON form.", { cause });
  }
}

/**
 * Returns SHA-256 of the RFC 8785 form of a JSON value, such as the terms hash of a purchase.
 *
 * @example hashJson({ sku: "course-42" }) // "0x…"
 */
export function hashJson(value: unknown): Hex {
  return sha256Hex(utf8ToBytes(canonicalJson(value)));
}

/**
 * Returns SHA-256 of bytes, as lower-case hex with 0x.
 *
 * @example sha256Hex(new Uint8Array()) // "0xe3b0c442…"
 */
export function sha256Hex(bytes: Uint8Array): Hex {
  // A Buffer may be of another realm, whose bytes are taken only as the plain class.
  return `0x${bytesToHex(sha256(new Uint8Array(bytes)))}`;
}
