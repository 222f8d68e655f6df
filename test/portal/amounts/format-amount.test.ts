import { expect, test } from "vitest";
import { formatAmount, formatUnits } from "../../../portal/amounts/format-amount.ts";

test.each([
  ["0", "0.00 USDC"],
  ["1", "0.000001 USDC"],
  ["2500000", "2.50 USDC"],
  ["1025000000", "1,025.00 USDC"],
  ["-1500000", "-1.50 USDC"],
])("%s base units are %s, on one line", (baseUnits, text) => {
  expect(formatAmount(baseUnits, { symbol: "USDC", decimals: 6 })).toBe(text.replace(" ", "\u00a0"));
});

test("a number has at least the requested decimals, and a count has none", () => {
  expect(formatUnits("1500000000000000000", 18, 0)).toBe("1.5");
  expect(formatUnits("27444", 0, 0)).toBe("27,444");
});
