/** What the relayer does for a program. */
export const operationKinds = ["offer", "collect_refund"] as const;

/** What the relayer does for a program. */
export type OperationKind = (typeof operationKinds)[number];
