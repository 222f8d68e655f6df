import { createPrivateKey, createPublicKey, sign as nodeSign, verify as nodeVerify } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToNumberLE, concatBytes, hexToBytes, numberToBytesLE } from "@noble/curves/utils.js";
import { sha512 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { calculateJwkThumbprint } from "jose";
import { expect, test } from "vitest";
import { ed25519Jwk, ed25519Key, signEd25519, verifyEd25519 } from "../../../protocol/signatures/ed25519.ts";

const order = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;
const prime = 2n ** 255n - 19n;
const seed = hexToBytes("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
const message = new TextEncoder().encode("one decision");
const key = await ed25519Key(seed);
const signature = signEd25519(seed, message);

const half = (bytes: Uint8Array, index: 0 | 1) => bytes.slice(index * 32, index * 32 + 32);
const little = (value: bigint) => numberToBytesLE(value, 32);

test("RFC 8032, test 1: key and signature of the empty message", () => {
  expect(Buffer.from(key.publicKey).toString("hex")).toBe(
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
  );
  const empty = signEd25519(seed, new Uint8Array());
  expect(Buffer.from(empty).toString("hex")).toBe(
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  );
  expect(verifyEd25519(key.publicKey, new Uint8Array(), empty)).toBe(true);
});

test("a key is named by its RFC 7638 thumbprint", async () => {
  const { x, ...rest } = ed25519Jwk(key.publicKey);
  expect(key.keyId).toBe(await calculateJwkThumbprint({ ...rest, x }));
  // RFC 8037, appendix A.3: the thumbprint of this very key.
  expect(key.keyId).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
});

test("OpenSSL makes and accepts the same signatures", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array(), (secret, text) => {
      const pkcs8 = concatBytes(hexToBytes("302e020100300506032b657004220420"), secret);
      const privateKey = createPrivateKey({ key: Buffer.from(pkcs8), format: "der", type: "pkcs8" });
      const publicKey = createPublicKey(privateKey);
      const theirs = nodeSign(null, text, privateKey);
      const ours = signEd25519(secret, text);
      expect(theirs.equals(ours)).toBe(true);
      expect(nodeVerify(null, text, publicKey, ours)).toBe(true);
      expect(verifyEd25519(ed25519.getPublicKey(secret), text, theirs)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test("every changed bit of signature, message or key is refused", () => {
  expect(verifyEd25519(key.publicKey, message, signature)).toBe(true);
  const flip = (bytes: Uint8Array, bit: number) =>
    bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
  for (let bit = 0; bit < 512; bit += 1)
    expect(verifyEd25519(key.publicKey, message, flip(signature, bit))).toBe(false);
  for (let bit = 0; bit < 256; bit += 8)
    expect(verifyEd25519(flip(key.publicKey, bit), message, signature)).toBe(false);
  for (let bit = 0; bit < message.length * 8; bit += 8)
    expect(verifyEd25519(key.publicKey, flip(message, bit), signature)).toBe(false);
});

test("a malleable S, the same one plus the group order, is refused", () => {
  const s = bytesToNumberLE(half(signature, 1));
  for (let twin = s + order; twin < 2n ** 256n; twin += order)
    expect(verifyEd25519(key.publicKey, message, concatBytes(half(signature, 0), little(twin)))).toBe(false);
});

/** The eight points of small order in every encoding that a lenient decoder would take. */
const smallOrder = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  "0100000000000000000000000000000000000000000000000000000000000080",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
].map((hex) => hexToBytes(hex));

test("a key of small order, under which one signature fits many messages, is refused", () => {
  for (const publicKey of smallOrder)
    for (const r of smallOrder)
      expect(verifyEd25519(publicKey, message, concatBytes(r, little(0n)))).toBe(false);
});

test("a point that is encoded with a coordinate above the prime is refused", () => {
  // y = 1 + p is the neutral element in disguise: with R = S*B the equation holds for any key that is it.
  const disguised = little(prime + 1n);
  const s = 7n;
  const r = ed25519.Point.BASE.multiply(s).toBytes();
  expect(verifyEd25519(disguised, message, concatBytes(r, little(s)))).toBe(false);
  expect(verifyEd25519(key.publicKey, message, concatBytes(disguised, little(s)))).toBe(false);
});

test("a key with an added torsion point is another key", () => {
  const torsion = ed25519.Point.fromBytes(smallOrder[4] ?? new Uint8Array(), false);
  const mixed = ed25519.Point.fromBytes(key.publicKey).add(torsion).toBytes();
  expect(verifyEd25519(mixed, message, signature)).toBe(false);
});

test("a key that is not 32 bytes, a signature that is not 64 bytes, and S = 0 under a valid key are refused", () => {
  expect(verifyEd25519(key.publicKey.slice(1), message, signature)).toBe(false);
  expect(verifyEd25519(key.publicKey, message, signature.slice(1))).toBe(false);
  expect(verifyEd25519(key.publicKey, message, concatBytes(signature, signature))).toBe(false);
  expect(verifyEd25519(key.publicKey, message, concatBytes(half(signature, 0), little(0n)))).toBe(false);
  expect(verifyEd25519(key.publicKey, message, new Uint8Array(64))).toBe(false);
  // The challenge of this signature is SHA-512 over exactly R, A and the message.
  expect(sha512(concatBytes(half(signature, 0), key.publicKey, message))).toHaveLength(64);
});
