/** A token as amounts are shown in it. */
export interface Token {
  symbol: string;
  decimals: number;
}

/** Between a number and its unit: no line breaks there. */
export const noBreak = "\u00a0";

/**
 * An amount in base units as people read it, with two decimals or as many as it needs.
 *
 * @example formatAmount("1025000000", { symbol: "USDC", decimals: 6 }) // "1,025.00 USDC"
 */
export function formatAmount(baseUnits: string, { decimals, symbol }: Token): string {
  return `${formatUnits(baseUnits, decimals, 2)}${noBreak}${symbol}`;
}

/**
 * A whole number of base units as a decimal number.
 *
 * @param least - the least number of decimals.
 * @example formatUnits("-1500000", 6, 2) // "-1.50"
 */
export function formatUnits(baseUnits: string, decimals: number, least: number): string {
  const negative = baseUnits.startsWith("-");
  const digits = baseUnits.replace("-", "").padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals).replaceAll(/\B(?=(\d{3})+$)/g, ",");
  const fraction = digits
    .slice(digits.length - decimals)
    .replace(/0+$/, "")
    .padEnd(least, "0");
  return `${negative ? "-" : ""}${whole}${fraction && `.${fraction}`}`;
}
