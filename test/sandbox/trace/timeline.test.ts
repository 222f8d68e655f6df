import { expect, test } from "vitest";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { FaultLog } from "../../../sandbox/activity/fault-log.ts";
import type { Fault } from "../../../sandbox/faults/fault.ts";
import { blockEntries } from "../../../sandbox/trace/trace-entries.ts";

function faultWith(delay_ms: number, remaining: number): Fault {
  const match = { operation: "createPurchase" };
  return { layer: "api", point: "before_commit", action: "delay", match, delay_ms, remaining, hits: 0 };
}

test("a fault log keeps the last 200 changes, and a fault that acts is no change", () => {
  const log = new FaultLog();
  for (let number = 1; number <= 150; number += 1) {
    log.changed([faultWith(number, 2)]);
    log.changed([faultWith(number, 1)]);
  }
  const changes = log.changes().map(({ change, fault }) => [change, fault.delay_ms]);
  const last = Array.from({ length: 100 }, (_, index) => [
    ["set", index + 51],
    ["cleared", index + 50],
  ]);
  expect(changes).toEqual(last.flat());
});

test.each([
  ["deterministic", 1, "Block 12 was mined, empty."],
  ["deterministic", 2, "Time moved 2 seconds ahead."],
  ["deterministic", 61, "Time moved 1 minute 1 second ahead."],
  ["deterministic", 93_784, "Time moved 1 day 2 hours ahead."],
  ["live", 60, "Block 12 was mined, empty."],
  ["live", 61, "Time moved 1 minute 1 second ahead."],
])("in mode %s, a trace says of an empty block %i s after the one before it: %s", (mode, seconds, title) => {
  const block = (number: number, at: number) => ({
    number,
    hash: `0x${String(number).padStart(64, "0")}` as const,
    at: toTimestamp(at),
    gas_used: "0",
    transactions: [],
  });
  const entries = blockEntries(
    block(12, 1_767_225_600 + seconds),
    block(11, 1_767_225_600),
    new Map(),
    mode === "live",
  );
  expect(entries).toMatchObject([{ layer: "clock", title }]);
});
