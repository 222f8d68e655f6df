/** The largest memory of a stored purchase: its record, event and answers, in KiB. */
export const perPurchaseKib = 50;

/**
 * The largest memory of a block in Anvil, in KiB: two entries in each copy of the state, of at most 150 bytes each as a hash table doubles; and
 * the block.
 */
export const perBlockKib = 45;

/** The largest memory of a transaction in Anvil, in KiB: its storage in those copies; itself, its transaction receipt and its trace. */
export const perTransactionKib = 50;

/** The memory that garbage may use for a while, in MiB. */
export const slackMib = 64;
