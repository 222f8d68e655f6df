import { expect, test } from "vitest";
import { FaultLog } from "../../../../sandbox/hosts/trace/fault-log.ts";
import type { Fault } from "../../../../sandbox/service/faults/fault.ts";

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
