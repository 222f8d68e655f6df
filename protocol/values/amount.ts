/** The largest amount that the contracts store, in base units: 2^128 - 1. */
export const maxAmount = 2n ** 128n - 1n;

/** The digits of the largest amount. */
export const amountDigits = String(maxAmount).length;

/** Matches decimal strings of at most that many digits, without sign or leading zeros. Some of them are above the largest amount. */
export const amountPattern = new RegExp(`^(0|[1-9][0-9]{0,${amountDigits - 1}})$`);

/**
 * Parses a decimal string of base units (6 decimals for USDC) into a bigint.
 *
 * @throws RangeError when it is not a canonical decimal of at most 2^128 - 1.
 * @example parseAmount("25000000") // 25 USDC: 25000000n
 */
export function parseAmount(text: string): bigint {
  if (!isAmount(text))
    throw new RangeError(`"${text}" is not a decimal string of base units up to 2^128 - 1.`);
  return BigInt(text);
}

/**
 * Returns whether a text is a canonical decimal string of base units: no sign, no leading zero, at most 2^128 - 1.
 *
 * @example isAmount("007") // false
 */
export function isAmount(text: string): boolean {
  return amountPattern.test(text) && BigInt(text) <= maxAmount;
}

/** The number of decimals of USDC. */
export const usdcDecimals = 6;

/**
 * One USDC in base units.
 *
 * @example const amount = 25n * usdc;
 */
export const usdc = 10n ** BigInt(usdcDecimals);
