/** The uses of the keys that rotate; `reviewer` means the designated reviewers of all programs. */
export const keyUses = ["notifications", "receipts", "reviewer"] as const;

/** The use of a key that rotates. */
export type KeyUse = (typeof keyUses)[number];
