import { createPublicKey, verify as nodeVerify } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToNumberLE, concatBytes, hexToBytes, numberToBytesLE } from "@noble/curves/utils.js";
import { verify as verifyInJavaScript } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { verifyEd25519 } from "../../../protocol/signatures/ed25519.ts";
import { verifyNatively } from "../../../protocol/signatures/native-ed25519.ts";

const { Point } = ed25519;
const order = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;
const prime = 2n ** 255n - 19n;
const little = (value: bigint) => numberToBytesLE(value, 32);

/** The arguments of a verification. */
interface Case {
  publicKey: Uint8Array;
  message: Uint8Array;
  signature: Uint8Array;
}

function acceptedByOpenSsl({ publicKey, message, signature }: Case): boolean {
  const spki = concatBytes(hexToBytes("302a300506032b6570032100"), publicKey);
  const key = createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
  return nodeVerify(null, message, key, signature);
}

/** Expects one verdict of both versions, and returns it together with OpenSSL's own. */
function judge(given: Case): { accepted: boolean; openSsl: boolean } {
  const { publicKey, message, signature } = given;
  const accepted = verifyInJavaScript(signature, message, publicKey, { zip215: false });
  const what = Buffer.concat([publicKey, signature, message]).toString("hex");
  expect(verifyEd25519(publicKey, message, signature), what).toBe(accepted);
  if (!accepted) expect(verifyNatively(publicKey, message, signature), what).toBe(false);
  return { accepted, openSsl: acceptedByOpenSsl(given) };
}

/** A point of order 8, which generates all points of small order. */
const torsion = Point.fromBytes(
  hexToBytes("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"),
);
const ofSmallOrder = [0, 1, 2, 3, 4, 5, 6, 7].map((times) =>
  times === 0 ? Point.ZERO : torsion.multiplyUnsafe(BigInt(times)),
);

/** All encodings of a point that some decoder accepts: canonical, with y above the prime, with the sign of x = 0. */
function encodingsOf(point: typeof Point.ZERO): Uint8Array[] {
  const { x, y } = point.toAffine();
  const signs = x === 0n ? [0n, 1n] : [x & 1n];
  const ys = y + prime < 2n ** 255n ? [y, y + prime] : [y];
  return ys.flatMap((value) => signs.map((sign) => little(value + (sign << 255n))));
}

interface Parts {
  a: bigint;
  r: bigint;
  message: Uint8Array;
  publicKey: Uint8Array;
  rBytes: Uint8Array;
  /** The multiple of the order that is added to S. */
  excess?: bigint;
}

/** A signature whose equation holds after a multiplication by the cofactor, over the encodings as they are given. */
function signed({ a, r, message, publicKey, rBytes, excess = 0n }: Parts): Case {
  const challenge = bytesToNumberLE(sha512(concatBytes(rBytes, publicKey, message))) % order;
  const s = ((r + challenge * a) % order) + excess * order;
  return { publicKey, message, signature: concatBytes(rBytes, little(s)) };
}

/** The product of a scalar and the base point, plus a point of small order. */
function shifted(scalar: bigint, times: number): typeof Point.ZERO {
  const base = scalar === 0n ? Point.ZERO : Point.BASE.multiply(scalar);
  return base.add(ofSmallOrder[times] ?? Point.ZERO);
}

const messages = Array.from({ length: 8 }, (_, index) => new TextEncoder().encode(`message ${index}`));

/** Counts the verdicts of all cases, so that a test sees that its cases are the ones that it names. */
function tally(cases: Iterable<Case>): Record<string, number> {
  const counts: Record<string, number> = { both: 0, none: 0, "only OpenSSL": 0, "only JavaScript": 0 };
  for (const given of cases) {
    const { accepted, openSsl } = judge(given);
    const name = accepted ? (openSsl ? "both" : "only JavaScript") : openSsl ? "only OpenSSL" : "none";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

test("keys and nonces of mixed order: both versions accept what holds after a multiplication by the cofactor", () => {
  const cases = ofSmallOrder.flatMap((_, i) =>
    ofSmallOrder.flatMap((_, j) =>
      messages.map((message) => {
        const [a, r] = [BigInt(i * 8 + j + 3), BigInt(i + j * 8 + 77)];
        return signed({
          a,
          r,
          message,
          publicKey: shifted(a, i).toBytes(),
          rBytes: shifted(r, j).toBytes(),
        });
      }),
    ),
  );
  const counts = tally(cases);
  expect(counts).toMatchObject({ none: 0, "only OpenSSL": 0 });
  expect(counts["both"]).toBeGreaterThan(8);
  expect(counts["only JavaScript"]).toBeGreaterThan(300);
});

test("keys of small order, in every encoding, are refused", () => {
  const cases = ofSmallOrder.flatMap((key) =>
    encodingsOf(key).flatMap((publicKey) =>
      [0n, 5n].flatMap((r) =>
        ofSmallOrder.flatMap((_, j) =>
          encodingsOf(shifted(r, j)).flatMap((rBytes) =>
            messages.map((message) => signed({ a: 0n, r, message, publicKey, rBytes })),
          ),
        ),
      ),
    ),
  );
  expect(tally(cases)).toMatchObject({ both: 0, "only JavaScript": 0 });
});

const scalar = fc.bigInt({ min: 1n, max: order - 1n });

test("random scalars, orders, encodings, messages and changes get one verdict", () => {
  const cases = fc.record({
    a: fc.oneof(fc.constant(0n), scalar),
    r: fc.oneof(fc.constant(0n), scalar),
    i: fc.nat(7),
    j: fc.nat(7),
    which: fc.nat(3),
    excess: fc.constantFrom(0n, 0n, 0n, 1n, 7n),
    message: fc.uint8Array(),
    changed: fc.option(fc.nat(1023), { freq: 2 }),
  });
  fc.assert(
    fc.property(cases, ({ a, r, i, j, which, excess, message, changed }) => {
      const [keys, nonces] = [encodingsOf(shifted(a, i)), encodingsOf(shifted(r, j))];
      const [publicKey, rBytes] = [keys[which % keys.length], nonces[which % nonces.length]];
      if (publicKey === undefined || rBytes === undefined) throw new Error("A point has an encoding.");
      const given = signed({ a, r, message, publicKey, rBytes, excess });
      judge(given);
      if (changed === null) return;
      const flip = (bytes: Uint8Array, bit: number) =>
        bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
      if (changed < 256) judge({ ...given, publicKey: flip(publicKey, changed) });
      else judge({ ...given, signature: flip(given.signature, changed & 511) });
    }),
    { numRuns: 400 },
  );
});
