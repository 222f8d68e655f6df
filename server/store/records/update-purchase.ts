import type { PurchaseRecord } from "../../store/records.ts";
import type { Change, Stored } from "../../store/store.ts";

/** Updates a purchase that was read before. */
export function updatePurchase(stored: Stored<PurchaseRecord>, value: PurchaseRecord): Change {
  return { ...stored, kind: "update", collection: "purchases", value };
}
