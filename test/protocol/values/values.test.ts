import { expect, test } from "vitest";
import { deriveKey } from "../../../protocol/signatures/key-derivation.ts";
import { isAmount, maxAmount, parseAmount } from "../../../protocol/values/amount.ts";
import { canonicalJson, hashJson, sha256Hex } from "../../../protocol/values/canonical-json.ts";
import { deriveId, hashId, idPrefixes } from "../../../protocol/values/id.ts";
import { contractJson, toJson } from "../../../protocol/values/json.ts";
import { fromTimestamp, toTimestamp } from "../../../protocol/values/time.ts";

test("an identifier is its prefix and 20 lower-case base32 characters, equal for equal parts", () => {
  for (const prefix of idPrefixes)
    expect(deriveId(prefix, ["seed", 1])).toMatch(new RegExp(`^${prefix}_[a-z2-7]{20}$`));
  expect(deriveId("pur", ["checkout", 1])).toMatchInlineSnapshot(`"pur_otvqb5a7kegnwdvfcjsp"`);
  const ids = [
    deriveId("pur", ["checkout", 1]),
    deriveId("pur", ["checkout", "1"]),
    deriveId("pur", ["checkout1"]),
    deriveId("pur", ["checkout", 1, ""]),
    deriveId("mer", ["checkout", 1]),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});

test("an identifier's on-chain form is keccak256 of its characters", () => {
  expect(hashId("prg_demo")).toMatchInlineSnapshot(
    `"0x71fa48e3119154a34e82d0c5a635789f47b391ea1e0b7250c7cd69ae5d153741"`,
  );
});

test.each([
  ["0", 0n],
  ["25000000", 25_000_000n],
  ["9007199254740993", 9_007_199_254_740_993n],
  ["340282366920938463463374607431768211455", maxAmount],
])("%s is an amount", (text, amount) => {
  expect(isAmount(text)).toBe(true);
  expect(parseAmount(text)).toBe(amount);
});

test.each([
  "",
  "00",
  "007",
  "-1",
  "+1",
  "1.0",
  "1e6",
  "0x1",
  " 1",
  "1 ",
  "1\n",
  "١",
  "340282366920938463463374607431768211456",
])("%j is no amount", (text) => {
  expect(isAmount(text)).toBe(false);
  expect(() => parseAmount(text)).toThrow(RangeError);
});

test("canonical JSON is that of RFC 8785", () => {
  // RFC 8785, section 3.2.2 and 3.2.3.
  const value = {
    numbers: [JSON.parse("333333333.33333329"), 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0],
    string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"/",
    literals: [null, true, false],
  };
  expect(canonicalJson(value)).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
  const names = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\ud83d\ude00": 5, "\u0080": 6, "\u00f6": 7 };
  expect([...canonicalJson(names).matchAll(/:(\d)/g)].map(([, digit]) => digit).join("")).toBe("2467153");
});

test.each([[undefined], [Number.NaN], [{ a: "\ud800" }], [() => 1]])("%s has no canonical JSON", (value) => {
  expect(() => canonicalJson(value)).toThrow(TypeError);
});

test("hashes are SHA-256 in lower-case hex", () => {
  expect(sha256Hex(new TextEncoder().encode("abc"))).toBe(
    "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  expect(hashJson({ b: 1, a: 2 })).toBe(sha256Hex(new TextEncoder().encode('{"a":2,"b":1}')));
});

test("plain data keeps its numbers, contract data shows every integer as a decimal string", () => {
  const value = { sequence: 1, amount: 2n ** 200n, list: [0, 5n, true, null, "x"] };
  const amount = (2n ** 200n).toString();
  expect(toJson(value)).toEqual({ sequence: 1, amount, list: [0, "5", true, null, "x"] });
  expect(contractJson(value)).toEqual({ sequence: "1", amount, list: ["0", "5", true, null, "x"] });
});

test.each([
  [Number.NaN],
  [Number.POSITIVE_INFINITY],
  [undefined],
  [new Date(0)],
  [new Uint8Array(1)],
  [new Map()],
])("%s has no JSON form", (value) => {
  expect(() => toJson({ value })).toThrow(TypeError);
  expect(() => contractJson([value])).toThrow(TypeError);
});

test.each([
  ["2026-01-01T00:00:00Z", 1_767_225_600],
  ["2024-02-29T23:59:59Z", 1_709_251_199],
  ["1969-12-31T23:59:59Z", -1],
  ["0000-01-01T00:00:00Z", -62_167_219_200],
  ["9999-12-31T23:59:59Z", 253_402_300_799],
])("%s is a time, both ways", (text, seconds) => {
  expect(fromTimestamp(text)).toBe(seconds);
  expect(toTimestamp(seconds)).toBe(text);
});

test("a fraction of a second stays one", () => {
  expect(fromTimestamp("2026-01-01T00:00:00.25Z")).toBe(1_767_225_600.25);
});

test.each([
  "2026",
  "2026-01-01",
  "2026-01-01T00:00:00",
  "2026-01-01T00:00:00+00:00",
  "2026-02-30T00:00:00Z",
  "2025-02-29T00:00:00Z",
  "2026-01-01T24:00:00Z",
  "2026-01-01T00:00:60Z",
  "2026-01-01t00:00:00z",
  "Thu, 01 Jan 2026 00:00:00 GMT",
  "on 2026-01-01T00:00:00Z",
  "2026-01-01T00:00:00Z\n",
])("%s is no time", (text) => {
  expect(fromTimestamp(text)).toBeNaN();
});

test.each([Number.NaN, 0.5, -62_167_219_201, 253_402_300_800])("%s seconds have no timestamp", (seconds) => {
  expect(() => toTimestamp(seconds)).toThrow(RangeError);
});

test("keys of different purposes differ and equal ones repeat", () => {
  const key = (seed: string, purpose: string) => sha256Hex(deriveKey(seed, purpose));
  expect(key("a", "notifications")).toBe(key("a", "notifications"));
  expect(new Set([key("a", "x"), key("a", "y"), key("b", "x")]).size).toBe(3);
  expect(Buffer.from(deriveKey("checkout", "notifications")).toString("hex")).toMatchInlineSnapshot(
    `"f54e7309eb3f28d91ee0c59efc7af97c43115b06c86c348472884623ff50742c"`,
  );
});
