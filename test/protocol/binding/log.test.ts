import { encodeAbiParameters, encodeEventTopics, type Hex, pad, parseAbi, parseAbiParameters } from "viem";
import { expect, test } from "vitest";
import { purchaseRegistrarAbi } from "../../../protocol/abi.generated.ts";
import { decodeLog, isEvent, matchesLog, selectorOf } from "../../../protocol/binding/match-log.ts";
import type { ObservedLog } from "../../../protocol/binding/observed-transaction.ts";
import { buyer, merchant, registrar, token, word } from "../sample.ts";

const paid = { address: registrar, abi: purchaseRegistrarAbi, event: "PurchasePaid" };
const topics = encodeEventTopics({
  abi: purchaseRegistrarAbi,
  eventName: "PurchasePaid",
  args: { id: word("01"), buyer, merchant },
}).filter((topic): topic is Hex => typeof topic === "string");
const data = encodeAbiParameters(parseAbiParameters("uint32, uint256, uint256"), [2, 5n, 5n]);
const log: ObservedLog = {
  address: registrar,
  topics,
  data,
  logIndex: 0,
  blockNumber: 1n,
  blockHash: word("0b"),
  transactionHash: word("0c"),
  removed: false,
};

test("a payment log decodes to its fields, integers as decimal strings", () => {
  expect(decodeLog(log, paid)).toEqual({
    event: "PurchasePaid",
    fields: {
      id: word("01"),
      buyer,
      merchant,
      sequence: "2",
      amount: "5",
      paidTotal: "5",
    },
    log,
  });
});

test.each<[string, Partial<ObservedLog>]>([
  ["another event's topic", { topics: [word("aa"), ...topics.slice(1)] }],
  ["no topics", { topics: [] }],
  ["a topic less", { topics: topics.slice(0, 3) }],
  ["a topic more", { topics: [...topics, word("01")] }],
  ["a dirty address topic", { topics: [...topics.slice(0, 3), `0xff${(topics[3] ?? "").slice(4)}`] }],
  ["extra data", { data: `${data}00` }],
  ["an extra word", { data: `${data}${"00".repeat(32)}` }],
  ["missing data", { data: data.slice(0, -2) as Hex }],
  ["no data", { data: "0x" }],
  ["a dirty uint32", { data: `0xff${data.slice(4)}` }],
  [
    "an indexed field in the data instead",
    { topics: topics.slice(0, 3), data: `${pad(merchant)}${data.slice(2)}` },
  ],
])("a changed log is not the event: %s", (_name, change) => {
  expect(decodeLog({ ...log, ...change }, paid)).toBeNull();
});

test("topics of other lengths that have the right number of bytes together are not the event", () => {
  const [first = "0x", second = "0x", third = "0x", fourth = "0x"] = topics;
  const moved: Hex[] = [first, second, third.slice(0, -2) as Hex, `0x${third.slice(-2)}${fourth.slice(2)}`];
  expect(decodeLog({ ...log, topics: moved }, paid)).toBeNull();
});

test.each([
  ["an array", "event Hashed(uint256[1] indexed value)"],
  ["a tuple", "event Hashed((uint256) indexed value)"],
  ["a string", "event Hashed(string indexed value)"],
  ["bytes", "event Hashed(bytes indexed value)"],
  ["a value without a name", "event Hashed(uint256 indexed)"],
])("an event with %s as a topic is recognized, and not decoded", (_name, signature) => {
  const hashed = { abi: parseAbi([signature]), event: "Hashed" };
  const emitted = { ...log, topics: [selectorOf(hashed), word("05")], data: "0x" } as const;
  expect(isEvent(emitted, hashed)).toBe(true);
  expect(decodeLog(emitted, hashed)).toBeNull();
});

test("a log with a dirty address in its data is not the event", () => {
  const enrolled = { ...paid, event: "FundingEnrolled" };
  const args = { program: word("01"), merchantRef: word("02"), wallet: merchant };
  const changed = {
    ...log,
    topics: encodeEventTopics({ abi: purchaseRegistrarAbi, eventName: "FundingEnrolled", args }).filter(
      (topic): topic is Hex => typeof topic === "string",
    ),
    data: encodeAbiParameters(parseAbiParameters("address, uint256, uint64, bytes32"), [
      token,
      5n,
      7n,
      word("03"),
    ]),
  };
  expect(decodeLog(changed, enrolled)?.fields["token"]).toBe(token);
  expect(decodeLog({ ...changed, data: `0xff${changed.data.slice(4)}` }, enrolled)).toBeNull();
});

test("a field that is missing or differs does not match", () => {
  const decoded = decodeLog(log, paid);
  if (decoded === null) throw new Error("The sample must decode.");
  expect(matchesLog(decoded, { ...paid, fields: { id: word("01"), amount: "5" } })).toBe(true);
  expect(matchesLog(decoded, { ...paid, fields: { amount: "6" } })).toBe(false);
  expect(matchesLog(decoded, { ...paid, fields: { amout: "5" } })).toBe(false);
});

test("only the event's own first topic makes it one", () => {
  expect(isEvent(log, paid)).toBe(true);
  expect(isEvent(log, { ...paid, event: "PurchaseClaimed" })).toBe(false);
  expect(isEvent(log, { ...paid, event: "NoSuchEvent" })).toBe(false);
});
