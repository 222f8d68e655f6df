import { expect, test } from "vitest";
import { explainOldNode } from "../../../../sandbox/lib/processes/node-version.ts";

test.each([
  ["22.13.9", "routing-sandbox needs Node 22.14.0 or newer, and this is Node 22.13.9. Install a newer Node."],
  ["20.20.2", "routing-sandbox needs Node 22.14.0 or newer, and this is Node 20.20.2. Install a newer Node."],
  ["22.14.0", null],
  ["24.0.0", null],
])("Node %s is refused with the version that is needed, or accepted", (version, refusal) => {
  expect(explainOldNode(version)).toBe(refusal);
});
