/** The required confirmations by default: the block that includes the transaction. */
export const defaultConfirmations = 1;

/** The gas budget of each program by default, in wei. */
export const defaultGasBudgetWei = 10n ** 18n;
