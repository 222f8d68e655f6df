import { purchaseRegistrarAbi } from "../../protocol/abi.generated.ts";
import { decodeLog } from "../../protocol/binding/match-log.ts";
import { sameAddress } from "../../protocol/values/same-address.ts";
import type { EffectCheck, Precondition } from "../../relayer/relayer.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { ClaimRecord, PurchaseRecord } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { findCollected, type RefundOperation } from "./record-due-refund.ts";

/**
 * Makes the precondition of collections: the chain has the claim that was decided. The contract pays for any claim that it has, and a
 * reorg can replace the decided one with another one.
 */
export function preconditionOfRefunds(services: {
  chain: Pick<ChainReader, "claimOf">;
  store: Pick<Store, "get" | "list">;
}): Precondition {
  const { store, chain } = services;
  return async (operation) => {
    const { purchase, claim } = await findDecided(operation, store);
    const { claimHash, decisionHash } = await chain.claimOf(purchase.commitment_hash);
    // A collected refund is for the contract to refuse.
    if (decisionHash !== null || claimHash === claim.claim_hash) return null;
    return claimHash === null
      ? "the chain has no claim of this purchase any more"
      : `the chain has the claim ${claimHash}, which is not the decided one`;
  };
}

/** Makes the check of what collections have done: it says when one has paid another claim than the decided one. */
export function effectOfRefunds({ store }: { store: Pick<Store, "get" | "list"> }): EffectCheck {
  return async (operation, logs) => {
    const { claim } = await findDecided(operation, store);
    const [paid] = logs
      .filter(({ address }) => sameAddress(address, operation.to))
      .map((log) => decodeLog(log, { abi: purchaseRegistrarAbi, event: "RefundCollected" }))
      .filter((log) => log !== null)
      .map(({ fields }) => String(fields["claimHash"]));
    return paid === undefined || paid === claim.claim_hash
      ? null
      : `the collection has paid the claim ${paid}, which is not the decided one`;
  };
}

/** Finds the purchase that a collection is for, and its claim. */
async function findDecided(
  operation: Pick<RefundOperation, "decoded">,
  store: Pick<Store, "get" | "list">,
): Promise<{ purchase: PurchaseRecord; claim: ClaimRecord }> {
  const { key, value: purchase } = await findCollected(operation, store);
  const claim = purchase.claim_id === null ? undefined : await store.get("claims", purchase.claim_id);
  if (claim === undefined) throw new Error(`There is no claim of ${key}.`);
  return { purchase, claim: claim.value };
}
