import { expect, test } from "vitest";
import { Recent } from "../../protocol/recent.ts";

test("a value is computed once for a key, and the oldest value is dropped when there are too many", () => {
  const computed: string[] = [];
  const recent = new Recent<string>(2);
  const get = (key: string) =>
    recent.get(key, () => {
      computed.push(key);
      return `value of ${key}`;
    });
  expect(["a", "b", "a", "c", "b", "a"].map(get)).toEqual(
    ["a", "b", "a", "c", "b", "a"].map((key) => `value of ${key}`),
  );
  expect(computed).toEqual(["a", "b", "c", "a"]);
});
