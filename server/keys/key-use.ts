/** What the keys that rotate sign; `reviewer` means the designated reviewers of all programs. */
export const keyUses = ["notifications", "receipts", "reviewer"] as const;

/** What a key that rotates signs. */
export type KeyUse = (typeof keyUses)[number];
