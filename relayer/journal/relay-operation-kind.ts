/** The kinds of transactions that the relayer sends for a program. */
export const relayOperationKinds = ["offer", "collect_refund"] as const;

/** The kind of transaction that the relayer sends for a program. */
export type RelayOperationKind = (typeof relayOperationKinds)[number];
