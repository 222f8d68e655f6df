import type { PurchaseRecord } from "../../store/records.ts";
import type { Change, Store, Stored } from "../../store/store.ts";
import type { Use } from "../binding/require-bound.ts";

/** Updates a purchase that was read before. */
export function updatePurchase(stored: Stored<PurchaseRecord>, value: PurchaseRecord): Change {
  return { ...stored, kind: "update", collection: "purchases", value };
}

/** Records which step a transaction serves, so that it serves no other one. */
export function markTransactionUsed({ key, step, subject }: Use): Change {
  return { kind: "insert", collection: "used_transactions", key, value: { step, subject } };
}

/** Records it of a transaction that a reorg can have mined again, unless it was recorded the first time. */
export async function markUnlessUsed(use: Use, { store }: { store: Pick<Store, "get"> }): Promise<Change[]> {
  return (await store.get("used_transactions", use.key)) === undefined ? [markTransactionUsed(use)] : [];
}
