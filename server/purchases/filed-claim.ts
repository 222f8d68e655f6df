import type { Hex } from "viem";
import type { ChainPurchase } from "../chain/chain-reader.ts";
import type { Services } from "../http/services.ts";
import type { ClaimRecord, PurchaseRecord } from "../store/records.ts";

/** The states of a purchase whose claim the chain must have, and the operation that counts on it. */
const countsOn: { readonly [S in PurchaseRecord["status"]]?: string } = {
  claimed: "POST …/decisions",
  approved: "POST …/refunds",
  refund_due: "POST …/refunds",
};

/** The operation that takes the claim of a purchase when that is sent again after a reorg; null in a state that needs no claim. */
export function operationAfter({ status }: Pick<PurchaseRecord, "status">): string | null {
  return countsOn[status] ?? null;
}

/** Reads the claim that a purchase counts on, which is sent again as it was filed after a reorg; null while it counts on none. */
export async function readFiledClaim(
  purchase: PurchaseRecord,
  { store }: Pick<Services, "store">,
): Promise<ClaimRecord | null> {
  if (operationAfter(purchase) === null || purchase.claim_id === null) return null;
  return (await store.get("claims", purchase.claim_id))?.value ?? null;
}

/** Returns the claim that the chain has, or that it has paid, when it differs from the filed one; null otherwise. */
export function otherClaim(
  filed: Pick<ClaimRecord, "claim_hash">,
  { claimHash, collectedClaimHash }: Pick<ChainPurchase, "claimHash" | "collectedClaimHash">,
): Hex | null {
  // The contract overwrites the claim hash when the refund is collected.
  const onChain = collectedClaimHash ?? claimHash;
  return onChain === filed.claim_hash ? null : onChain;
}
