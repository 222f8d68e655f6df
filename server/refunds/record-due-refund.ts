import { isHex } from "viem";
import type { RelayOperation } from "../../relayer/relayer.ts";
import { commitWithEvent } from "../http/freeze-event.ts";
import { findByCommitment } from "../store/records/find.ts";
import { updatePurchase } from "../store/records/update-purchase.ts";
import type { PurchaseRecord, RefundRecord } from "../store/records.ts";
import { type Store, StoreConflictError, type Stored } from "../store/store.ts";

/**
 * The fields that identify the collection of a refund: its operation, the refund that this is shown under, and the
 * purchase in its call.
 */
export type RefundOperation = Pick<RelayOperation, "operation_id" | "subject" | "decoded">;

/**
 * Records that the award of a purchase is due, with its event, unless it was recorded before.
 *
 * @param at - Unix seconds.
 */
export async function recordDueRefund(
  operation: RefundOperation,
  at: number,
  services: { store: Pick<Store, "get" | "list" | "commit">; settings: { seed: string } },
): Promise<void> {
  const { store, settings } = services;
  for (;;) {
    const stored = await findCollected(operation, store);
    const { refund_id, decision_id, program } = stored.value;
    if (refund_id !== null) return;
    const decision = decision_id === null ? undefined : await store.get("decisions", decision_id);
    if (decision === undefined) throw new Error(`There is no decision of ${stored.key}.`);
    const { id } = operation.subject;
    const { award } = decision.value.statement;
    const data = { purchase_id: stored.key, refund_id: id, award };
    const caused = { seed: settings.seed, program, now: at, event: { type: "refund.due", data } } as const;
    try {
      return await commitWithEvent(caused, store, (event_id) => {
        const refund: RefundRecord = {
          id,
          program,
          purchase_id: stored.key,
          decision_id: decision.key,
          status: "due",
          award,
          operation_id: operation.operation_id,
          transaction_hash: null,
          created_at: at,
          collected_at: null,
          event_id,
        };
        return [
          { kind: "insert", collection: "refunds", key: id, value: refund },
          updatePurchase(stored, { ...stored.value, status: "refund_due", refund_id: id, event_id }),
        ];
      });
    } catch (error) {
      if (!(error instanceof StoreConflictError)) throw error;
    }
  }
}

/** Finds the purchase that a collection is for. */
export async function findCollected(
  { decoded }: Pick<RefundOperation, "decoded">,
  store: Pick<Store, "list">,
): Promise<Stored<PurchaseRecord>> {
  const id = decoded.args["id"];
  if (!isHex(id)) throw new TypeError("The id of a purchase on chain must be hex.");
  const found = await findByCommitment(store, id);
  if (found === undefined) throw new Error(`There is no purchase ${id}.`);
  return found;
}
