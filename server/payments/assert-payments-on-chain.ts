import { toJson } from "../../protocol/values/json.ts";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import { Problem } from "../errors/problem.ts";
import type { Services } from "../http/services.ts";
import { removedPayments, whyPaymentsRemoved } from "../purchases/payment-receipts.ts";
import { stepConflict } from "../purchases/purchase-steps.ts";
import type { PurchaseRecord } from "../store/records.ts";

/**
 * Asks whether the chain still has every reconciled payment, for a step that counts on them.
 *
 * @throws Problem state_conflict, with those that a reorg has removed.
 */
export async function assertPaymentsOnChain(
  purchase: PurchaseRecord,
  onChain: ChainPurchase,
  services: Services,
): Promise<void> {
  const detail = whyPaymentsRemoved(purchase, onChain);
  if (detail === null) return;
  const { members } = await stepConflict(purchase, detail, services);
  const reverted = toJson(removedPayments(purchase, onChain));
  throw new Problem("state_conflict", detail, { members: { ...members, reverted } });
}
