import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { base32 } from "@scure/base";
import { type Hex, keccak256, stringToHex } from "viem";

/** The prefixes of the service's identifiers. */
export const idPrefixes = [
  "crd",
  "mer",
  "pur",
  "clm",
  "dec",
  "ref",
  "op",
  "evt",
  "ntf",
  "rcp",
  "req",
] as const;

/** The prefix of an identifier, which is the kind of object. */
export type IdPrefix = (typeof idPrefixes)[number];

/**
 * Derives an identifier: the prefix and 20 lower-case base32 characters (100 bits) of the SHA-256 of its parts.
 *
 * Equal parts give equal identifiers, so a sandbox with the same seed has the same identifiers.
 *
 * @example deriveId("pur", ["checkout", 1]) // "pur_" + 20 characters
 */
export function deriveId(prefix: IdPrefix, parts: readonly (string | number)[]): string {
  const digest = sha256(utf8ToBytes(JSON.stringify([prefix, ...parts])));
  // 20 characters are the first 100 bits.
  return `${prefix}_${base32.encode(digest.subarray(0, 13)).slice(0, 20).toLowerCase()}`;
}

/**
 * Returns the on-chain form of an identifier: keccak256 of its UTF-8 bytes.
 *
 * @example hashId("prg_demo") // the `program` of every purchase of that program
 */
export function hashId(id: string): Hex {
  return keccak256(stringToHex(id));
}
