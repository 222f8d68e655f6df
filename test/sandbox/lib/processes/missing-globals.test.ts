import { expect, test } from "vitest";
import { explainMissingGlobals } from "../../../../sandbox/lib/processes/missing-globals.ts";

test("an environment without globals that the package needs is refused with their names, and a complete one is accepted", () => {
  const { Headers, FormData, ...rest } = Object.getOwnPropertyDescriptors(globalThis);
  expect([typeof Headers, typeof FormData]).toEqual(["object", "object"]);
  expect(explainMissingGlobals(Object.create(null, rest))).toBe(
    `routing-sandbox needs Node's own FormData, Headers, and the test environment has no such global. Import routing-sandbox before they are removed, or in jest set testEnvironment to "routing-sandbox/jest-environment".`,
  );
  expect(explainMissingGlobals()).toBeNull();
});
