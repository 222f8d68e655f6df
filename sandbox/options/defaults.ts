import { z } from "zod";

/** The default deadline of a start, in milliseconds. */
export const defaultStartTimeoutMs = 30_000;
/** The longest deadline of a start, in milliseconds. */
export const mostStartTimeoutMs = 600_000;

/** The required confirmations by default: the block that includes the transaction. */
export const defaultConfirmations = 1;

/** The most confirmations that can be required. */
export const mostConfirmations = 1_000;

/** The most characters of a seed. */
export const longestSeed = 200;

/** The gas budget of each program by default, in wei. */
export const defaultGasBudgetWei = 10n ** 18n;

/** The largest gas budget, in wei: a uint256. */
export const mostGasBudgetWei = 2n ** 256n - 1n;

/** The required confirmations in a file. */
export const confirmationsSchema = z.int().min(1).max(mostConfirmations);

/** A seed in a file. */
export const seedSchema = z.string().min(1).max(longestSeed);
