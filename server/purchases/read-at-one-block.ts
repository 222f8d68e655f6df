import type { RelayOperation } from "../../relayer/relayer.ts";
import { type BlockPoint, type ChainPurchase, ChainUnavailableError } from "../chain/chain-reader.ts";
import type { Services } from "../http/services.ts";
import { findParts, findStored, type PurchaseParts, readOnChain } from "../store/records/find.ts";
import { currentPurchase, type RelayedServices } from "../store/records/status-after-reorg.ts";
import type { PurchaseRecord } from "../store/records.ts";

/** A purchase, its records and its state on the chain, all read at the same time. */
export interface PurchaseNow {
  purchase: PurchaseRecord;
  parts: PurchaseParts;
  onChain: ChainPurchase;
}

/** The number of times that a read starts over because a block or a commit has changed its subject. */
const mostTries = 8;

/**
 * Finds a purchase of a program, and reads what records, relay operations and chain have of it at one block.
 *
 * @throws Problem not_found; ChainUnavailableError when it changed under each try.
 */
export async function findPurchaseNow(services: Services, program: string, id: string): Promise<PurchaseNow> {
  const { store, chain } = services;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const found = await chain.atOneHead(async (at) => {
      const stored = await findStored(store, program, id);
      const relayed = relayedAt(at, services);
      const [purchase, parts, onChain] = await Promise.all([
        currentPurchase(stored.value, relayed),
        findParts(relayed, stored.value),
        readOnChain(stored.value, services, at),
      ]);
      const isCurrent = (await store.get("purchases", id))?.revision === stored.revision;
      return isCurrent && !relayed.isPast() ? { purchase, parts, onChain } : null;
    });
    if (found !== null) return found;
  }
  throw new ChainUnavailableError(`${id} changed each time that it was read; ask again.`);
}

/**
 * Returns services that tell what relay operations and routes are at a block.
 *
 * `isPast` tells whether a later block has settled one of the operations: then the answer must be of a later block.
 */
function relayedAt(
  at: BlockPoint,
  { store, deployment, relayer, chain }: Services,
): RelayedServices & { isPast: () => boolean } {
  let isPast = false;
  return {
    store,
    deployment,
    relayer: {
      async readNow(id) {
        const operation = await relayer.readNow(id);
        if (operation !== undefined && settledIn(operation) > at.number) isPast = true;
        return operation;
      },
    },
    chain: { route: async (id) => await chain.route(id, at) },
    isPast: () => isPast,
  };
}

/** The number of the block that has settled an operation, with the last confirmation that it needs; 0 while it is not settled. */
function settledIn({ status, block_number, confirmations }: RelayOperation): number {
  const isSettled = status === "confirmed" || status === "reverted";
  return isSettled && block_number !== null ? block_number + confirmations - 1 : 0;
}
