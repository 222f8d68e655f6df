import type { Hex } from "viem";
import { hashId } from "../../../protocol/values/id.ts";
import { prefetch } from "../../../relayer/prefetch.ts";
import type { BlockPoint, ChainPurchase, ChainReader } from "../../chain/chain-reader.ts";
import { Problem } from "../../errors/problem.ts";
import type {
  ClaimRecord,
  DecisionRecord,
  MerchantRecord,
  PurchaseRecord,
  RefundRecord,
} from "../../store/records.ts";
import type { Store, Stored } from "../../store/store.ts";
import { currentPurchase, currentRefund, type RelayedServices } from "./status-after-reorg.ts";

/** Finds a merchant of a program; a foreign one is as absent as none. */
export async function findMerchant(
  store: Store,
  program: string,
  id: string,
): Promise<Stored<MerchantRecord>> {
  const found = await store.get("merchants", id);
  if (found?.value.program !== program)
    throw new Problem("not_found", `There is no merchant ${id} in ${program}.`);
  return found;
}

/** Finds the id of the merchant that the chain knows under a merchantRef; null for one that this service did not create. */
export async function findMerchantId(
  store: Store,
  program: string,
  merchantRef: Hex,
): Promise<string | null> {
  const merchants = await store.list("merchants", { program });
  return merchants.find(({ key }) => hashId(key) === merchantRef)?.key ?? null;
}

/** A purchase of a program. */
export interface FoundPurchase {
  /** The record as it was read: what a write begins from. */
  stored: Stored<PurchaseRecord>;
  /** The purchase as it is now, which differs from its record when a reorg has undone a relayed transaction. */
  purchase: PurchaseRecord;
}

/** Finds the record of a purchase of a program; a foreign one is as absent as none. */
export async function findStored(
  store: Pick<Store, "get">,
  program: string,
  id: string,
): Promise<Stored<PurchaseRecord>> {
  const stored = await store.get("purchases", id);
  if (stored?.value.program !== program)
    throw new Problem("not_found", `There is no purchase ${id} in ${program}.`);
  return stored;
}

/** Finds the purchase of any program whose commitment has a hash, which is its id on chain. */
export async function findByCommitment(
  store: Pick<Store, "list">,
  hash: Hex,
): Promise<Stored<PurchaseRecord> | undefined> {
  return (await store.list("purchases", { commitment_hash: hash }, { limit: 1 }))[0];
}

/**
 * Finds a purchase of a program, as it is now.
 *
 * @param beginReads - begins the reads of the chain that follow.
 */
export async function findPurchase(
  services: RelayedServices,
  program: string,
  id: string,
  beginReads: (record: PurchaseRecord) => readonly Promise<unknown>[] = () => [],
): Promise<FoundPurchase> {
  const stored = await findStored(services.store, program, id);
  prefetch(...beginReads(stored.value));
  return { stored, purchase: await currentPurchase(stored.value, services) };
}

/** Reads a purchase's figures and payments from the chain, at the newest block or at the one of other reads. */
export async function readOnChain(
  { commitment_hash, buyer }: Pick<PurchaseRecord, "commitment_hash" | "buyer">,
  { chain }: { chain: Pick<ChainReader, "purchase"> },
  at?: BlockPoint,
): Promise<ChainPurchase> {
  return await chain.purchase({ id: commitment_hash, buyer }, at);
}

/** The records that belong to a purchase, if it has come that far. */
export interface PurchaseParts {
  claim: ClaimRecord | null;
  decision: DecisionRecord | null;
  refund: RefundRecord | null;
}

/** Reads the claim, the decision and the refund of a purchase, the refund as it is now. */
export async function findParts(services: RelayedServices, purchase: PurchaseRecord): Promise<PurchaseParts> {
  const { store } = services;
  const [claim, decision, refund] = await Promise.all([
    purchase.claim_id === null ? undefined : store.get("claims", purchase.claim_id),
    purchase.decision_id === null ? undefined : store.get("decisions", purchase.decision_id),
    purchase.refund_id === null ? undefined : store.get("refunds", purchase.refund_id),
  ]);
  return {
    claim: claim?.value ?? null,
    decision: decision?.value ?? null,
    refund: refund === undefined ? null : await currentRefund(refund.value, services),
  };
}
