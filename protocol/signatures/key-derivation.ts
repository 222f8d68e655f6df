import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

/**
 * Derives 32 secret bytes from a sandbox seed for one purpose (HKDF-SHA256, RFC 5869).
 *
 * @param seed - any text; equal seeds give equal keys, so nothing of value may hang on it.
 * @param purpose - a label such as "reviewer/prg_demo"; different labels give independent keys.
 * @example deriveKey("checkout", "notifications")
 */
export function deriveKey(seed: string, purpose: string): Uint8Array {
  return hkdf(sha256, utf8ToBytes(seed), utf8ToBytes("routing-sandbox"), utf8ToBytes(purpose), 32);
}
