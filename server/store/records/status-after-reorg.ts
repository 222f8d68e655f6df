import { fromTimestamp } from "../../../protocol/values/time.ts";
import {
  type OutcomeUnknownError,
  operationId,
  type Relayer,
  type RelayOperation,
  RpcUnavailableError,
} from "../../../relayer/relayer.ts";
import { type ChainReader, ChainUnavailableError } from "../../chain/chain-reader.ts";
import type { Deployment } from "../../chain/deployment.ts";
import type { PurchaseRecord, RefundRecord } from "../records.ts";
import type { Store } from "../store.ts";

/** The services that tell the state of relay operations and of a merchant's registrations. */
export interface RelayedServices {
  store: Store;
  deployment: Deployment;
  relayer: Pick<Relayer, "readNow">;
  chain: Pick<ChainReader, "route">;
}

/**
 * Returns services that answer from the relayer's journal and the records, for readers outside of the request gate. A merchant's
 * registrations are read from the chain, because no journal has them.
 *
 * @param unknown - the operations that are not known to be as the journal has them: to read one throws ChainUnavailableError.
 */
export function asJournaled(
  { store, deployment, relayer, chain }: RelayedServices & { relayer: Relayer },
  unknown: readonly OutcomeUnknownError[] = [],
): RelayedServices {
  return {
    store,
    deployment,
    relayer: {
      async readNow(id) {
        assertKnown(unknown.filter(({ operationId: one }) => one === id));
        return await relayer.read(id);
      },
    },
    chain,
  };
}

/**
 * Refuses to show relay operations, or what is derived from them, while the node does not say what a reorg has made of one of them.
 *
 * @throws ChainUnavailableError
 */
export function assertKnown([unknown]: readonly OutcomeUnknownError[]): void {
  if (unknown !== undefined) throw new ChainUnavailableError(unknown.message, { cause: unknown });
}

/**
 * Returns a purchase as its relay operations and the chain have it now. Its record says what was confirmed once; a reorg can undo that. A
 * purchase whose offer is not confirmed, or whose registration has left the chain, is created again; one whose collection is not confirmed
 * is due again, until the operation is.
 */
export async function currentPurchase(
  record: PurchaseRecord,
  services: RelayedServices,
): Promise<PurchaseRecord> {
  if (record.route !== null && !(await isPurchaseOnChain(record, record.route, services)))
    return { ...record, status: "created", route: null };
  if (record.status === "refunded" && !(await isCollected(record, services)))
    return { ...record, status: "refund_due" };
  return record;
}

/** Returns the record of a purchase that has come on chain by a route: one that was further before a reorg is so again. */
export function activatedRecord(
  record: PurchaseRecord,
  route: NonNullable<PurchaseRecord["route"]>,
): PurchaseRecord {
  return { ...record, status: record.status === "created" ? "active" : record.status, route };
}

/**
 * Returns a refund as its relay operation has it now: due while that is not confirmed, with the transaction that took effect once it is.
 * `POST …/refunds` records that it is collected: a refund that was due stays so until then.
 */
export async function currentRefund(
  record: RefundRecord,
  services: Pick<RelayedServices, "relayer">,
): Promise<RefundRecord> {
  const operation = await readOperation(record.operation_id, services);
  if (operation === undefined) return record;
  if (operation.status !== "confirmed")
    return { ...record, status: "due", transaction_hash: null, collected_at: null };
  const { hash: transaction_hash, confirmed_at } = operation;
  // Another transaction has collected it since.
  const isOther = record.collected_at !== null && transaction_hash !== record.transaction_hash;
  const collected_at = isOther && confirmed_at !== null ? fromTimestamp(confirmed_at) : record.collected_at;
  return { ...record, transaction_hash, collected_at };
}

async function isPurchaseOnChain(
  { program, commitment_hash }: PurchaseRecord,
  route: NonNullable<PurchaseRecord["route"]>,
  services: RelayedServices,
): Promise<boolean> {
  const { deployment, chain } = services;
  if (route === "merchant_direct") return (await chain.route(commitment_hash)) === route;
  const effect = { program, kind: "offer", businessKey: commitment_hash } as const;
  const operation = await readOperation(operationId(deployment.epoch, effect), services);
  return operation === undefined || operation.status === "confirmed";
}

async function isCollected({ refund_id }: PurchaseRecord, services: RelayedServices): Promise<boolean> {
  const refund = refund_id === null ? undefined : await services.store.get("refunds", refund_id);
  if (refund === undefined) return false;
  return (await currentRefund(refund.value, services)).status === "collected";
}

/** @throws ChainUnavailableError when the node does not say what a reorg has made of the operation. */
async function readOperation(
  id: string,
  { relayer }: Pick<RelayedServices, "relayer">,
): Promise<RelayOperation | undefined> {
  try {
    return await relayer.readNow(id);
  } catch (error) {
    if (error instanceof RpcUnavailableError)
      throw new ChainUnavailableError(error.message, { cause: error });
    throw error;
  }
}
