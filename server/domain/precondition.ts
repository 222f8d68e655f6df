import { isHex } from "viem";
import type { Precondition } from "../../relayer/relayer.ts";
import type { ChainReader } from "../chain/chain-reader.ts";
import type { Store } from "../store/store.ts";
import { readOnChain } from "./find.ts";

/**
 * Makes the precondition of collections: the chain has the claim that was decided. The contract pays for any claim that it has, and a
 * reorg can put another one in the place of the decided one.
 */
export function preconditionOfRefunds(services: {
  chain: Pick<ChainReader, "purchase">;
  store: Pick<Store, "get" | "list">;
}): Precondition {
  const { store } = services;
  return async ({ decoded }) => {
    const { id } = decoded.args;
    if (!isHex(id)) throw new TypeError("The id of a purchase on chain must be hex.");
    const [found] = await store.list("purchases", { commitment_hash: id }, { limit: 1 });
    const claimId = found?.value.claim_id ?? null;
    const claim = claimId === null ? undefined : await store.get("claims", claimId);
    if (found === undefined || claim === undefined) throw new Error(`There is no claim of ${id}.`);
    const { claimHash, decisionHash } = await readOnChain(found.value, services);
    // A collected refund is for the contract to refuse.
    if (decisionHash !== null || claimHash === claim.value.claim_hash) return null;
    return claimHash === null
      ? "the chain has no claim of this purchase any more"
      : `the chain has the claim ${claimHash}, which is not the decided one`;
  };
}
