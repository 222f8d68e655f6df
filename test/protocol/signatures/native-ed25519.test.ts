import crypto, { createPublicKey, verify as nodeVerify } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToNumberLE, concatBytes, hexToBytes, numberToBytesLE } from "@noble/curves/utils.js";
import { sign as signInJavaScript, verify as verifyInJavaScript } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import vectors from "../../../docs/vectors.json" with { type: "json" };
import { signEd25519, verifyEd25519 } from "../../../protocol/signatures/ed25519.ts";
import { signNatively, verifyNatively } from "../../../protocol/signatures/native-ed25519.ts";

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

test("a key that is not strict never reaches OpenSSL, older versions of which accept it", () => {
  const lenient = vi.spyOn(crypto, "verify").mockReturnValue(true as never);
  onTestFinished(() => lenient.mockRestore());
  const signature = concatBytes(Point.BASE.toBytes(), little(1n));
  const above = Array.from({ length: 19 }, (_, index) => prime + BigInt(index));
  const keys = [
    ...ofSmallOrder.flatMap(encodingsOf),
    ...above.flatMap((y) => [little(y), little(y + 2n ** 255n)]),
  ];
  for (const publicKey of keys) expect(verifyNatively(publicKey, new Uint8Array(), signature)).toBe(false);
  expect(lenient).not.toHaveBeenCalled();
  // Strict keys do; p - 1 and 1, the next ones, are the y of points of small order.
  for (const y of [prime - 2n, prime - 3n, 2n, 3n])
    expect(verifyNatively(little(y), new Uint8Array(), signature)).toBe(true);
});

test("a nonce of small order is accepted under a strict key in its canonical encoding only", () => {
  const [a, publicKey] = [9n, Point.BASE.multiply(9n).toBytes()];
  const cases = (canonical: boolean) =>
    ofSmallOrder.flatMap((nonce) =>
      encodingsOf(nonce)
        .filter((_, index) => (index === 0) === canonical)
        .flatMap((rBytes) => messages.map((message) => signed({ a, r: 0n, message, publicKey, rBytes }))),
    );
  expect(tally(cases(true))).toMatchObject({ none: 0, "only OpenSSL": 0 });
  const others = tally(cases(false));
  expect(others).toMatchObject({ both: 0, "only JavaScript": 0, "only OpenSSL": 0 });
  expect(others["none"]).toBeGreaterThan(8);
});

test("an S of at least the order is refused", () => {
  const [a, publicKey] = [9n, Point.BASE.multiply(9n).toBytes()];
  const rBytes = Point.BASE.multiply(21n).toBytes();
  const most = 2n ** 256n / order - 1n;
  const cases = [...Array(Number(most) + 1).keys()].map((excess) =>
    signed({
      a,
      r: 21n,
      message: messages[0] ?? new Uint8Array(),
      publicKey,
      rBytes,
      excess: BigInt(excess),
    }),
  );
  expect(tally(cases)).toEqual({ both: 1, none: Number(most), "only OpenSSL": 0, "only JavaScript": 0 });
});

test("every y from the prime on, as a key and as a nonce, and a key that is on no curve, are refused", () => {
  const own = signed({
    a: 9n,
    r: 21n,
    message: new Uint8Array(),
    publicKey: Point.BASE.multiply(9n).toBytes(),
    rBytes: Point.BASE.multiply(21n).toBytes(),
  });
  const above = Array.from({ length: 19 }, (_, index) => prime + BigInt(index)).flatMap((y) => [
    little(y),
    little(y + 2n ** 255n),
  ]);
  const cases = [...above, little(2n), little(7n)].flatMap((bytes) => [
    { ...own, publicKey: bytes },
    { ...own, signature: concatBytes(bytes, own.signature.slice(32)) },
  ]);
  expect(tally(cases)).toEqual({ both: 0, none: 80, "only OpenSSL": 0, "only JavaScript": 0 });
});

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });

test("random bytes get one verdict", () => {
  fc.assert(
    fc.property(bytes32, bytes32, bytes32, fc.uint8Array(), (publicKey, rBytes, s, message) => {
      judge({ publicKey, message, signature: concatBytes(rBytes, s) });
    }),
    { numRuns: 200 },
  );
});

test("both versions make the same signature, and neither signs with a key of another length", () => {
  fc.assert(
    fc.property(bytes32, fc.uint8Array(), (secret, message) => {
      const native = signNatively(secret, message);
      expect(native).toEqual(signInJavaScript(message, secret));
      expect(signEd25519(secret, message)).toEqual(native);
    }),
    { numRuns: 50 },
  );
  const [short, long] = [new Uint8Array(31), new Uint8Array(33)];
  expect(() => signEd25519(short, new Uint8Array())).toThrow("secretKey");
  expect(() => signEd25519(long, new Uint8Array())).toThrow("secretKey");
});

const { decision, webhook, delivery_receipt: receipt } = vectors;
const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": header } = webhook.headers;
const [jwsHeader = "", jwsPayload = "", jwsSignature = ""] = receipt.jws.split(".");

test.each([
  ["decision", { ...decision, signed: decision.bytes, signature: decision.approval }],
  [
    "webhook",
    { ...webhook, signed: `${id}.${timestamp}.${webhook.body}`, signature: header.replace(/^.* v1a,/, "") },
  ],
  ["delivery receipt", { ...receipt, signed: `${jwsHeader}.${jwsPayload}`, signature: jwsSignature }],
])("both versions make and accept the signature of the test vector: %s", (_, vector) => {
  const [message, secret] = [new TextEncoder().encode(vector.signed), hexToBytes(vector.private_key)];
  // Buffer decodes base64url, too.
  const [publicKey, signature] = [vector.public_key, vector.signature].map(
    (text) => new Uint8Array(Buffer.from(text, "base64")),
  );
  if (publicKey === undefined || signature === undefined) throw new Error("A vector has key and signature.");
  expect(signNatively(secret, message)).toEqual(signature);
  expect(signInJavaScript(message, secret)).toEqual(signature);
  expect(judge({ publicKey, message, signature })).toEqual({ accepted: true, openSsl: true });
});

test("native code accepts a signature of its own, and of the JavaScript version", () => {
  const [secret, message] = [new Uint8Array(32).fill(1), new Uint8Array([1, 2, 3])];
  const publicKey = ed25519.getPublicKey(secret);
  expect(verifyNatively(publicKey, message, signEd25519(secret, message))).toBe(true);
  expect(verifyNatively(publicKey, message, signInJavaScript(message, secret))).toBe(true);
});

/** The product of a scalar and the base point, plus a point of small order. */
function shifted(scalar: bigint, times: number): typeof Point.ZERO {
  const base = scalar === 0n ? Point.ZERO : Point.BASE.multiply(scalar);
  return base.add(ofSmallOrder[times] ?? Point.ZERO);
}

test("keys and nonces of mixed order: both versions accept what holds after a multiplication by the cofactor", {
  tags: "thorough",
}, () => {
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

test("keys of small order, in every encoding, are refused", { tags: "thorough" }, () => {
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

test("random scalars, orders, encodings, messages and changes get one verdict", { tags: "thorough" }, () => {
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
