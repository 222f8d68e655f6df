/** What the relayer does for a program. */
export const relayOperationKinds = ["offer", "collect_refund"] as const;

/** What the relayer does for a program. */
export type RelayOperationKind = (typeof relayOperationKinds)[number];
