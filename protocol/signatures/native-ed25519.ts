import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { Recent } from "../recent.ts";

/** The functions of Node's crypto that are used here: pages are compiled without the types of Node. */
interface NodeCrypto {
  createPrivateKey(input: { key: Uint8Array; format: "der"; type: "pkcs8" }): object;
  createPublicKey(
    input:
      | { key: Uint8Array; format: "der"; type: "spki" }
      | { key: Uint8Array; format: "der"; type: "pkcs8" },
  ): { export(options: { format: "der"; type: "spki" }): Uint8Array };
  sign(algorithm: null, message: Uint8Array, key: object): Uint8Array;
  verify(algorithm: null, message: Uint8Array, key: object, signature: Uint8Array): boolean;
}

const host: object = globalThis;

/**
 * Node's crypto, which calls OpenSSL. It is undefined elsewhere, as in a browser, which could not load a module that imports it. Nothing else is
 * read from the process: no time, no randomness, no environment.
 */
const crypto: NodeCrypto | undefined = Reflect.get(host, "process")?.getBuiltinModule?.("node:crypto");

/** The bytes before the key in its encodings SPKI and PKCS #8 (RFC 8410). */
const prefixes = {
  spki: hexToBytes("302a300506032b6570032100"),
  pkcs8: hexToBytes("302e020100300506032b657004220420"),
};

/** By the hex of the public key; null for a key that only the JavaScript version may decide about. */
const publicKeys = new Recent<object | null>(100);

/** Returns a 32-byte seed in PKCS #8 (RFC 8410, section 7). */
function pkcs8Of(privateKey: Uint8Array): Uint8Array {
  return concatBytes(prefixes.pkcs8, privateKey);
}

/**
 * Returns the public key of a 32-byte seed, found in native code.
 *
 * @returns null if the JavaScript version has to find it.
 * @example publicKeyNatively(privateKey) ?? getPublicKey(privateKey)
 */
export function publicKeyNatively(privateKey: Uint8Array): Uint8Array | null {
  if (crypto === undefined || privateKey.length !== 32) return null;
  const key = crypto.createPublicKey({ key: pkcs8Of(privateKey), format: "der", type: "pkcs8" });
  // The key ends its encoding.
  return new Uint8Array(key.export({ format: "der", type: "spki" })).slice(-32);
}

/**
 * Signs bytes in native code. RFC 8032 leaves no choice, so the signature is the one that the JavaScript version makes.
 *
 * @returns null if the JavaScript version has to sign.
 * @example signNatively(key.privateKey, bytes) ?? sign(bytes, key.privateKey)
 */
export function signNatively(privateKey: Uint8Array, message: Uint8Array): Uint8Array | null {
  if (crypto === undefined || privateKey.length !== 32) return null;
  try {
    const key = crypto.createPrivateKey({ key: pkcs8Of(privateKey), format: "der", type: "pkcs8" });
    return new Uint8Array(crypto.sign(null, message, key));
  } catch {
    return null;
  }
}

/**
 * Verifies in native code, and accepts only what the strict JavaScript version accepts too.
 *
 * OpenSSL compares the bytes of R with [S]B - [k]A and requires S below the order of the group. So R is canonical and the equation holds. OpenSSL
 * does not check the key, so {@link isStrictKey} does.
 *
 * @returns false if the JavaScript version has to decide, which also accepts signatures that hold only after a multiplication by the cofactor.
 * @example verifyNatively(key.publicKey, bytes, signature) || verify(signature, bytes, key.publicKey, { zip215: false })
 */
export function verifyNatively(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (crypto === undefined || publicKey.length !== 32 || signature.length !== 64) return false;
  try {
    const key = publicKeys.get(bytesToHex(publicKey), () => importStrictKey(publicKey));
    return key !== null && crypto.verify(null, message, key, signature);
  } catch {
    return false;
  }
}

function importStrictKey(publicKey: Uint8Array): object | null {
  if (crypto === undefined || !isStrictKey(publicKey)) return null;
  const key = concatBytes(prefixes.spki, publicKey);
  return crypto.createPublicKey({ key, format: "der", type: "spki" });
}

/** The y coordinates of the eight points of small order, as little-endian hex: 1, -1, 0, and two of order 8. */
const smallOrder = new Set([
  `01${"00".repeat(31)}`,
  `ec${"ff".repeat(30)}7f`,
  "00".repeat(32),
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
]);

/** Whether the key has a y below the prime 2^255 - 19, and is no point of small order. The highest bit is the sign of x. */
function isStrictKey(publicKey: Uint8Array): boolean {
  const y = bytesToHex(publicKey.with(31, (publicKey[31] ?? 0) & 0x7f));
  return !smallOrder.has(y) && !/^(?:e[d-f]|f[0-9a-f])(?:ff){30}7f$/.test(y);
}
