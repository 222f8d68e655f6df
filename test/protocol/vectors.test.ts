import { createHash, createHmac, createPrivateKey, hkdfSync, sign as nodeSign } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { base64, base64urlnopad } from "@scure/base";
import { id as keccakOfText } from "ethers";
import type { Hex } from "viem";
import { describe, expect, test } from "vitest";
import { hashReason } from "../../protocol/messages/claim.ts";
import { recoverSigner } from "../../protocol/messages/wallet-signature.ts";
import {
  type Decision,
  decisionBytes,
  hashDecision,
  signDecision,
} from "../../protocol/signatures/decision.ts";
import { ed25519Key } from "../../protocol/signatures/ed25519.ts";
import { decodeExact } from "../../protocol/signatures/exact-encoding.ts";
import { deriveKey } from "../../protocol/signatures/key-derivation.ts";
import {
  signWebhook,
  verifySharedSecret,
  verifyWebhook,
  webhookSecret,
} from "../../protocol/signatures/webhook.ts";
import { isAmount, parseAmount } from "../../protocol/values/amount.ts";
import { canonicalJson, hashJson } from "../../protocol/values/canonical-json.ts";
import { deriveId, hashId } from "../../protocol/values/id.ts";
import { sameAddress } from "../../protocol/values/same-address.ts";
import { fromTimestamp, toTimestamp } from "../../protocol/values/time.ts";
import { decision, merchant, word } from "./sample.ts";

function sha256(data: string | Uint8Array): Buffer {
  return createHash("sha256").update(data).digest();
}

describe("a claim's reason", () => {
  const reasons = [
    "",
    " ",
    "arrived broken",
    " arrived broken",
    "arrived broken ",
    "\tarrived broken\n",
    "arrived  broken",
    "Arrived broken",
    "arrived broken\u00a0",
    "arrived\u200bbroken",
    "\ufeffarrived broken",
    "arrived\u0000broken",
    "caf\u00e9",
    "cafe\u0301",
    "\ufb01le",
    "file",
    "\u212b",
    "\u00c5",
    "\ud83d\ude00",
    "\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67",
    "\u{1d4b3}".repeat(2000),
    "\u202eabc",
    "ß",
    "ss",
  ];

  test.each(reasons)("%j has the hash that ethers computes of its UTF-8 bytes", (reason) => {
    expect(hashReason(reason)).toBe(keccakOfText(reason));
  });

  test("has a hash of its own in every spelling", () => {
    expect(new Set(reasons.map(hashReason)).size).toBe(reasons.length);
  });

  test("that is empty has the hash of no bytes", () => {
    expect(hashReason("")).toBe("0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
  });

  test.each(["\ud800", "\udc00", "a\ud83d", "\ude00a", "\ude00\ud83d"])(
    "with an unpaired surrogate (%j) is refused",
    (reason) => {
      expect(() => hashReason(reason)).toThrow(TypeError);
    },
  );
});

describe("an identifier", () => {
  /** RFC 4648, section 6, in lower case, without padding. */
  function base32(bytes: Uint8Array): string {
    const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
    return (bits.match(/.{5}/g) ?? [])
      .map((five) => "abcdefghijklmnopqrstuvwxyz234567".charAt(Number.parseInt(five, 2)))
      .join("");
  }

  test.each<[(string | number)[], string]>([
    [[], '["pur"]'],
    [[""], '["pur",""]'],
    [["checkout", 1], '["pur","checkout",1]'],
    [[0, 9_007_199_254_740_991], '["pur",0,9007199254740991]'],
    [['a"b', "\n"], '["pur","a\\"b","\\n"]'],
    [["é", "\ud83d\ude00"], '["pur","é","\ud83d\ude00"]'],
  ])("of %j is the first 100 bits of SHA-256 over its parts as JSON", (parts, json) => {
    expect(deriveId("pur", parts)).toBe(`pur_${base32(sha256(json)).slice(0, 20)}`);
  });

  test.each(["prg_demo", "", " prg_demo", "PRG_DEMO", "prg_é", "\ud83d\ude00", "0x00", "a".repeat(200)])(
    "%j has the on-chain form that ethers computes of its UTF-8 bytes",
    (text) => {
      expect(hashId(text)).toBe(keccakOfText(text));
    },
  );
});

describe("canonical JSON", () => {
  /** RFC 8785, appendix B: IEEE 754 doubles and their text. */
  const numbers: [bits: string, text: string][] = [
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ];
  const double = (bits: string) => Buffer.from(bits, "hex").readDoubleBE();

  test.each(numbers)("of the double %s is %s", (bits, text) => {
    expect(canonicalJson(double(bits))).toBe(text);
    expect(canonicalJson({ n: [double(bits)] })).toBe(`{"n":[${text}]}`);
  });

  test.each(["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"])(
    "of the double %s does not exist",
    (bits) => {
      expect(() => canonicalJson([double(bits)])).toThrow(TypeError);
    },
  );

  test.each([
    ["\b\t\n\f\r", '"\\b\\t\\n\\f\\r"'],
    ["\u0000\u0001\u000b\u001f", '"\\u0000\\u0001\\u000b\\u001f"'],
    ["\u007f\u0080\u2028\u2029\ufeff", '"\u007f\u0080\u2028\u2029\ufeff"'],
    ['"\\/', '"\\"\\\\/"'],
    ["<&'>", '"<&\'>"'],
    ["caf\u00e9", '"caf\u00e9"'],
    ["cafe\u0301", '"cafe\u0301"'],
    ["\ud83d\ude00", '"\ud83d\ude00"'],
    ["", '""'],
  ])("of the text %j escapes what RFC 8785 says and nothing else", (text, expected) => {
    expect(canonicalJson(text)).toBe(expected);
    expect(canonicalJson({ [text]: text })).toBe(`{${expected}:${expected}}`);
  });

  test("sorts names by UTF-16 code units at every level, and no list", () => {
    const value: unknown = JSON.parse(
      '{"b":[3,1,2,{"z":1,"a":{}}],"a":[],"B":{"10":1,"9":2,"":3},"aa":null,"\ufb33":1,"\ud83d\ude00":2}',
    );
    expect(canonicalJson(value)).toBe(
      '{"B":{"":3,"10":1,"9":2},"a":[],"aa":null,"b":[3,1,2,{"a":{},"z":1}],"\ud83d\ude00":2,"\ufb33":1}',
    );
  });

  test("is what terms are hashed over, as UTF-8", () => {
    const terms = { title: "Café 😀", sku: "course-42", price: 1e21, parts: [{ b: 1, a: -0 }] };
    const text = '{"parts":[{"a":0,"b":1}],"price":1e+21,"sku":"course-42","title":"Café 😀"}';
    expect(hashJson(terms)).toBe(`0x${sha256(text).toString("hex")}`);
  });
});

describe("a decision", () => {
  const odd: Decision = {
    ...decision,
    award: (2n ** 128n - 1n).toString(),
    claim_id: 'clm_"\\/\u2028',
    decided_at: "2024-02-29T23:59:59.5Z",
    outcome: "denied",
    program: "prg_\ud83d\ude00",
    purchase: "cafe\u0301",
    reviewer_key_id: " \u0000",
  };

  test.each([
    ["of plain fields", decision],
    ["of odd fields", odd],
  ])("%s is signed as its domain line and its sorted JSON, in UTF-8", async (_, one) => {
    const names = Object.keys(one).toSorted();
    const bytes = Buffer.from(`routing-sandbox/decision/v1\n${JSON.stringify(one, names)}`);
    expect(Buffer.from(decisionBytes(one)).equals(bytes)).toBe(true);
    expect(hashDecision(one)).toBe(`0x${sha256(bytes).toString("hex")}`);
    const seed = deriveKey("vectors", "reviewer");
    const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
    const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    expect(signDecision(seed, one)).toBe(nodeSign(null, bytes, key).toString("base64url"));
  });
});

describe("an amount", () => {
  test.each([
    "1",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551617",
    "100000000000000000000000000000000000000",
    "340282366920938463463374607431768211454",
    "340282366920938463463374607431768211455",
  ])("%s is read to the last digit", (text) => {
    expect(isAmount(text)).toBe(true);
    expect(parseAmount(text).toString()).toBe(text);
  });

  test.each([
    "00",
    "01",
    "0000000000000000000000000000000000000001",
    "-0",
    "0.0",
    "1,000",
    "1_000",
    "1n",
    "0b1",
    "0o7",
    "१",
    "１",
    "NaN",
    "340282366920938463463374607431768211456",
    "999999999999999999999999999999999999999",
    "1000000000000000000000000000000000000000",
  ])("%s is none", (text) => {
    expect(isAmount(text)).toBe(false);
    expect(() => parseAmount(text)).toThrow(
      `"${text}" is not a decimal string of base units up to 2^128 - 1.`,
    );
  });
});

describe("a notification's signatures", () => {
  const bodies = ["", "{}", '{"text":"café 😀 e\u0301"}', " {}\n"];

  async function keysOf(seed: string) {
    return { secret: webhookSecret(deriveKey(seed, "hmac")), key: await ed25519Key(deriveKey(seed, "key")) };
  }

  function hmacOf(secret: string, content: string): string {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    return createHmac("sha256", key).update(content).digest("base64");
  }

  test.each(bodies)("of the body %j are those of node:crypto over id, time and body", async (body) => {
    const keys = await keysOf("now");
    const headers = signWebhook({ id: "evt_1", timestamp: 1_767_225_600, body }, keys);
    const content = `evt_1.1767225600.${body}`;
    const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), keys.key.privateKey]);
    const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    const ed25519 = nodeSign(null, Buffer.from(content), key).toString("base64");
    expect(headers).toEqual({
      "webhook-id": "evt_1",
      "webhook-timestamp": "1767225600",
      "webhook-signature": `v1,${hmacOf(keys.secret, content)} v1a,${ed25519}`,
    });
    const bytes = Buffer.from(body);
    expect(verifyWebhook(headers, bytes, keys.key.publicKey)).toBe(true);
    expect(verifySharedSecret(headers, bytes, keys.secret)).toBe(true);
  });

  test("of two pairs of keys verify under either, the current ones first", async () => {
    const [now, before, never] = [await keysOf("now"), await keysOf("before"), await keysOf("never")];
    const body = Buffer.from("{}");
    const headers = signWebhook({ id: "evt_1", timestamp: 1, body: "{}" }, now, before);
    const alone = (keys: typeof now) =>
      signWebhook({ id: "evt_1", timestamp: 1, body: "{}" }, keys)["webhook-signature"].split(" ");
    const [hmacNow, keyNow] = alone(now);
    const [hmacBefore, keyBefore] = alone(before);
    expect(headers["webhook-signature"]).toBe(`${hmacNow} ${hmacBefore} ${keyNow} ${keyBefore}`);
    for (const keys of [now, before]) {
      expect(verifyWebhook(headers, body, keys.key.publicKey)).toBe(true);
      expect(verifySharedSecret(headers, body, keys.secret)).toBe(true);
    }
    expect(verifyWebhook(headers, body, never.key.publicKey)).toBe(false);
    expect(verifySharedSecret(headers, body, never.secret)).toBe(false);
  });

  test("are refused over another id, time or body, in another scheme, or with a byte less or more", async () => {
    const keys = await keysOf("now");
    const body = Buffer.from("{}");
    const headers = signWebhook({ id: "evt_1", timestamp: 10, body: "{}" }, keys);
    const [hmac = "", ed25519 = ""] = headers["webhook-signature"].split(" ");
    const mac = base64.decode(hmac.slice(3));
    const other = (signature: string) => ({ ...headers, "webhook-signature": signature });
    for (const [what, changed] of Object.entries({
      id: { ...headers, "webhook-id": "evt_2" },
      time: { ...headers, "webhook-timestamp": "11" },
      "time in another form": { ...headers, "webhook-timestamp": "010" },
      scheme: other(`v1a,${hmac.slice(3)} v1,${ed25519.slice(4)}`),
      "a byte less": other(`v1,${base64.encode(mac.slice(0, 31))}`),
      "a byte more": other(`v1,${base64.encode(Uint8Array.from([...mac, 0]))}`),
      "no bytes": other("v1, v1a,"),
      "no scheme": other(`${hmac.slice(3)} ${ed25519.slice(4)}`),
      "no padding": other(`${hmac.replace(/=+$/, "")} ${ed25519.replace(/=+$/, "")}`),
      base64url: other(`v1,${base64urlnopad.encode(mac)}`),
      nothing: other(""),
    })) {
      expect(verifySharedSecret(changed, body, keys.secret), what).toBe(false);
      expect(verifyWebhook(changed, body, keys.key.publicKey), what).toBe(false);
    }
    expect(verifySharedSecret(headers, Buffer.from("{} "), keys.secret)).toBe(false);
  });

  test("are found among sixteen, and looked for no further", async () => {
    const keys = await keysOf("now");
    const headers = signWebhook({ id: "evt_1", timestamp: 1, body: "{}" }, keys);
    const [hmac, ed25519] = headers["webhook-signature"].split(" ");
    const following = (count: number, signature: string | undefined) => ({
      ...headers,
      "webhook-signature": [...Array.from({ length: count }, () => "v1,AAAA"), signature].join(" "),
    });
    const body = Buffer.from("{}");
    expect(verifySharedSecret(following(15, hmac), body, keys.secret)).toBe(true);
    expect(verifySharedSecret(following(16, hmac), body, keys.secret)).toBe(false);
    expect(verifyWebhook(following(15, ed25519), body, keys.key.publicKey)).toBe(true);
    expect(verifyWebhook(following(16, ed25519), body, keys.key.publicKey)).toBe(false);
  });

  test("verify with the shared secret with or without its prefix", async () => {
    const { secret, key } = await keysOf("now");
    const headers = signWebhook({ id: "evt_1", timestamp: 1, body: "{}" }, { secret, key });
    expect(verifySharedSecret(headers, Buffer.from("{}"), secret.slice("whsec_".length))).toBe(true);
    expect(secret).toBe(
      `whsec_${Buffer.from(hkdfSync("sha256", "now", "routing-sandbox", "hmac", 32)).toString("base64")}`,
    );
  });
});

describe("a text that must be the one encoding of its bytes", () => {
  // RFC 4648, section 10, in base64url without padding.
  test.each([
    ["", ""],
    ["f", "Zg"],
    ["fo", "Zm8"],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg"],
    ["fooba", "Zm9vYmE"],
    ["foobar", "Zm9vYmFy"],
    ["\u00fb\u00ff", "w7vDvw"],
  ])("of %j is %j", (text, encoded) => {
    expect(Buffer.from(decodeExact(base64urlnopad, encoded) ?? "none").toString()).toBe(text);
    expect(base64urlnopad.encode(Buffer.from(text))).toBe(encoded);
  });

  test.each([
    ["padding", "Zg=="],
    ["stray bits", "Zh"],
    ["stray bits after two bytes", "Zm9"],
    ["a single character", "Z"],
    ["the other alphabet", "-_+/"],
    ["white space", "Zm 8"],
    ["a line break", "Zm8\n"],
    ["a character that is none", "Zm9v!"],
  ])("is refused with %s", (_, encoded) => {
    expect(decodeExact(base64urlnopad, encoded)).toBeNull();
  });

  test("accepts the alphabet of URLs", () => {
    expect(decodeExact(base64urlnopad, "-_-_")).toEqual(Uint8Array.from([251, 255, 191]));
  });
});

describe("a time", () => {
  // Seconds as Python's calendar.timegm counts them.
  test.each([
    ["1970-01-01T00:00:00Z", 0],
    ["2000-02-29T23:59:59Z", 951_868_799],
    ["2000-03-01T00:00:00Z", 951_868_800],
    ["1900-02-28T23:59:59Z", -2_203_891_201],
    ["1900-03-01T00:00:00Z", -2_203_891_200],
    ["2100-02-28T23:59:59Z", 4_107_542_399],
    ["2100-03-01T00:00:00Z", 4_107_542_400],
    ["2016-12-31T23:59:59Z", 1_483_228_799],
    ["2017-01-01T00:00:00Z", 1_483_228_800],
    ["2026-01-31T23:59:59Z", 1_769_903_999],
    ["2026-02-01T00:00:00Z", 1_769_904_000],
    ["2026-04-30T23:59:59Z", 1_777_593_599],
    ["2026-05-01T00:00:00Z", 1_777_593_600],
    ["2038-01-19T03:14:08Z", 2_147_483_648],
    ["2106-02-07T06:28:16Z", 4_294_967_296],
    ["0001-01-01T00:00:00Z", -62_135_596_800],
    ["0000-01-01T00:00:00Z", -62_167_219_200],
    ["9999-12-31T23:59:59Z", 253_402_300_799],
  ])("%s is %i seconds, both ways", (text, seconds) => {
    expect(fromTimestamp(text)).toBe(seconds);
    expect(toTimestamp(seconds)).toBe(text);
  });

  test.each([
    [2023, 28],
    [2024, 29],
    [1900, 28],
    [2000, 29],
    [2100, 28],
  ])("has the months of %i, whose February has %i days", (year, february) => {
    const days = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    const text = (month: number, day: number) =>
      `${year}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}T00:00:00Z`;
    for (const [index, last] of days.entries()) {
      expect(toTimestamp(fromTimestamp(text(index + 1, last)))).toBe(text(index + 1, last));
      for (const day of [0, last + 1, 32]) expect(fromTimestamp(text(index + 1, day))).toBeNaN();
    }
    for (const month of [0, 13]) expect(fromTimestamp(text(month, 1))).toBeNaN();
  });

  test.each([
    ["a leap second", "2016-12-31T23:59:60Z"],
    ["a leap second of June", "2015-06-30T23:59:60Z"],
    ["a minute of 60", "2026-01-01T00:60:00Z"],
    ["an hour of 24", "2026-01-01T24:00:00Z"],
    ["an hour of 25", "2026-01-01T25:00:00Z"],
    ["a point and no fraction", "2026-01-01T00:00:00.Z"],
    ["a comma for a point", "2026-01-01T00:00:00,5Z"],
    ["a year of five digits", "10000-01-01T00:00:00Z"],
    ["a signed year", "+002026-01-01T00:00:00Z"],
    ["a day alone", "2026-01-01Z"],
    ["a space for the T", "2026-01-01 00:00:00Z"],
    ["white space around it", " 2026-01-01T00:00:00Z"],
    ["a line break at its end", "2026-01-01T00:00:00Z\n"],
    ["another zone", "2026-01-01T01:00:00+01:00"],
  ])("with %s is none", (_, text) => {
    expect(fromTimestamp(text)).toBeNaN();
  });

  test.each([
    ["2026-01-01T00:00:00.0Z", 1_767_225_600],
    ["2026-01-01T00:00:00.5Z", 1_767_225_600.5],
    ["2026-01-01T00:00:00.000001Z", 1_767_225_600.000001],
    ["1969-12-31T23:59:59.5Z", -0.5],
  ])("%s has its fraction", (text, seconds) => {
    expect(fromTimestamp(text)).toBe(seconds);
  });

  test.each([-62_167_219_201, 253_402_300_800, -0.5, Number.POSITIVE_INFINITY])(
    "of %d seconds has no text",
    (seconds) => {
      expect(() => toTimestamp(seconds)).toThrow(`${seconds} is not a whole second of the years 0 to 9999.`);
    },
  );
});

describe("keys", () => {
  test.each([
    ["checkout", "notifications"],
    ["", ""],
    ["café 😀", "reviewer/prg_demo"],
    [" checkout\n", " notifications "],
    ["cafe\u0301", "\ufeffhmac"],
    ["x".repeat(200), "hmac"],
  ])("of the seed %j for %j are HKDF-SHA256 as node:crypto computes it", (seed, purpose) => {
    const expected = Buffer.from(hkdfSync("sha256", seed, "routing-sandbox", purpose, 32));
    expect(Buffer.from(deriveKey(seed, purpose)).equals(expected)).toBe(true);
  });
});

test("a wallet signature has an s of at most half of the order, that half included", async () => {
  const half = secp256k1.Point.Fn.ORDER >> 1n;
  const hex = (value: bigint) => value.toString(16).padStart(64, "0");
  const { r } = secp256k1.Signature.fromBytes(secp256k1.sign(new Uint8Array(32), deriveKey("s", "s")));
  const withS = (s: bigint): Hex => `0x${hex(r)}${hex(s)}1b`;
  expect(await recoverSigner(word("01"), withS(half))).toMatch(/^0x[0-9a-fA-F]{40}$/);
  expect(await recoverSigner(word("01"), withS(half + 1n))).toBeNull();
  expect(await recoverSigner(word("01"), withS(1n))).toMatch(/^0x[0-9a-fA-F]{40}$/);
});

test("addresses are equal in any letter case, and a value that is not an address equals nothing", () => {
  expect(sameAddress(merchant, merchant.toLowerCase())).toBe(true);
  expect(sameAddress(merchant.toLowerCase(), merchant)).toBe(true);
  expect(sameAddress(merchant, `0x${merchant.slice(2).toUpperCase()}`)).toBe(true);
  const none = ["", "0x", "x", merchant.slice(0, -1), `${merchant}0`, merchant.slice(2), ` ${merchant}`];
  for (const text of none) {
    expect(sameAddress(text, text), text).toBe(false);
    expect(sameAddress(merchant, text), text).toBe(false);
    expect(sameAddress(text, merchant), text).toBe(false);
  }
  expect(sameAddress(null, null)).toBe(false);
  expect(sameAddress(null, merchant)).toBe(false);
  expect(sameAddress(merchant, null)).toBe(false);
});
