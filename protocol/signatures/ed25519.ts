import { getPublicKey, hashes, sign, verify } from "@noble/ed25519";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { base64urlnopad } from "@scure/base";
import { canonicalJson } from "../values/canonical-json.ts";
import { publicKeyNatively, signNatively, verifyNatively } from "./native-ed25519.ts";

hashes.sha512 = sha512;

/** An Ed25519 key pair (RFC 8032) with its RFC 7638 thumbprint as its name. */
export interface Ed25519Key {
  /** RFC 7638 thumbprint of the public key. */
  keyId: string;
  /** 32-byte seed. */
  privateKey: Uint8Array;
  /** 32-byte compressed point. */
  publicKey: Uint8Array;
}

/** The public half of an Ed25519 key as a JSON Web Key (RFC 8037). */
export interface Ed25519Jwk {
  kty: "OKP";
  crv: "Ed25519";
  x: string;
}

/**
 * Returns the JSON Web Key of an Ed25519 public key (RFC 8037).
 *
 * @example ed25519Jwk(key.publicKey) // { kty: "OKP", crv: "Ed25519", x: "…" }
 */
export function ed25519Jwk(publicKey: Uint8Array): Ed25519Jwk {
  return { kty: "OKP", crv: "Ed25519", x: base64urlnopad.encode(publicKey) };
}

/**
 * Returns the key pair of a 32-byte seed.
 *
 * @example await ed25519Key(deriveKey("checkout", "reviewer/prg_demo"))
 */
export async function ed25519Key(privateKey: Uint8Array): Promise<Ed25519Key> {
  // Native code finds the point: a start needs the public keys, and signs later.
  const publicKey = publicKeyNatively(privateKey) ?? getPublicKey(privateKey);
  const thumbprint = sha256(utf8ToBytes(canonicalJson(ed25519Jwk(publicKey))));
  return { keyId: base64urlnopad.encode(thumbprint), privateKey, publicKey };
}

/**
 * Signs bytes (RFC 8032); equal input gives an equal signature, in native code under Node and in JavaScript elsewhere.
 *
 * @example signEd25519(key.privateKey, bytes) // 64 bytes
 */
export function signEd25519(privateKey: Uint8Array, message: Uint8Array): Uint8Array {
  return signNatively(privateKey, message) ?? sign(message, privateKey);
}

/**
 * Verifies strictly by RFC 8032: no malleable S, no non-canonical point, no key of small order.
 * Native code accepts most signatures under Node; the JavaScript version decides about all others, so that the result is the same everywhere.
 *
 * @returns false for anything that is not such a signature, malformed input included.
 * @example verifyEd25519(key.publicKey, bytes, signature)
 */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64 || publicKey.length !== 32) return false;
  return (
    verifyNatively(publicKey, message, signature) || verify(signature, message, publicKey, { zip215: false })
  );
}
