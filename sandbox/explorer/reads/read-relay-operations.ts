import { z } from "zod";
import {
  type RelayOperationRecord,
  relayOperationStatuses,
  toRelayOperation,
} from "../../../relayer/journal/relay-operation.ts";
import type { OutcomeUnknownError } from "../../../relayer/relayer.ts";
import { copyFields } from "../../../server/http/answers/copy-fields.ts";
import { findCollected } from "../../../server/refunds/record-due-refund.ts";
import { assertKnown } from "../../../server/store/records/status-after-reorg.ts";
import type { PurchaseRecord } from "../../../server/store/records.ts";
import type { Store } from "../../../server/store/store.ts";
import { readSuperseded } from "../../../server/store/stored-relayer-journal.ts";
import type { ViewPage } from "../../lib/page.ts";
import type { Sources } from "../sources.ts";
import { type RelayOperationView, relayOperationViewSchema } from "../views.ts";
import { nameSubject } from "./name-subject.ts";
import { pageQuery, readPage } from "./page.ts";

/** The statuses that are not final; each status is an index, and none of them is long in a sandbox that works. */
export const unsettledStatuses = ["accepted", "signed", "broadcast", "mined", "needs_attention"] as const;

/** The query of the relayer's operations. */
export const operationsQuery = pageQuery.extend({ status: z.enum(relayOperationStatuses).optional() });

/** Reads a page of the relayer's operations of all programs, with every transaction that was signed for each. */
export async function readRelayOperations(
  query: z.output<typeof operationsQuery>,
  sources: Sources,
): Promise<ViewPage<RelayOperationView>> {
  const { services } = sources;
  const { cursor, program, status, q } = query;
  const filter = {
    ...(program === undefined ? {} : { program }),
    ...(status === undefined ? {} : { status }),
  };
  const purchase = q === undefined ? undefined : await services.store.get("purchases", q.toLowerCase());
  const { data, next_cursor } = await readPage(services.store, "operations", filter, {
    cursor,
    order: query.order,
    limit: query.limit,
    ...(q === undefined || q === "" ? {} : { keep: (operation) => mentions(operation, q, purchase?.value) }),
  });
  const unknown = await services.relayer.unknownOutcomes();
  return {
    data: await Promise.all(data.map(async ({ value }) => await viewRelayOperation(value, unknown, sources))),
    next_cursor,
  };
}

/** An operation in the shape that is answered. @throws ChainUnavailableError for one of the unknown ones. */
export async function viewRelayOperation(
  record: RelayOperationRecord,
  unknown: readonly OutcomeUnknownError[],
  { services, labels, faults }: Sources,
): Promise<RelayOperationView> {
  assertKnown(unknown.filter(({ operationId }) => operationId === record.operation_id));
  const superseded = await readSuperseded(services.store, record);
  const operation = toRelayOperation(record, superseded);
  const { error } = operation;
  const purchaseId = await findPurchaseId(record, services.store);
  return {
    ...copyFields(relayOperationViewSchema, operation),
    ...(await nameSubject(purchaseId, services.store)),
    id: operation.operation_id,
    held: isHeld(record, faults),
    purchase_id: purchaseId,
    error: error?.revert?.name ?? error?.message ?? null,
    from: labels.view(operation.from),
    transactions: [...superseded, record].flatMap((one) =>
      one.transactions.map(({ hash, purpose, outcome, max_fee_per_gas }) => ({
        hash,
        attempt: one.attempt,
        purpose,
        outcome,
        max_fee_per_gas,
      })),
    ),
  };
}

/** Returns whether an operation is not settled, and a fault with the action `hold` has acted on it. */
export function isHeld(
  { operation_id, program, kind, status, subject }: RelayOperationRecord,
  faults: Pick<Sources["faults"], "list">,
): boolean {
  const fields = new Map(Object.entries({ operation_id, program, kind, subject_id: subject.id }));
  return (
    unsettledStatuses.some((one) => one === status) &&
    faults
      .list()
      .some(
        ({ action, hits, match }) =>
          action === "hold" &&
          hits > 0 &&
          Object.entries(match).every(([field, wanted]) => fields.get(field) === wanted),
      )
  );
}

/** Finds the purchase that an operation is about; a collection names it by its id on chain. */
export async function findPurchaseId(
  { subject, decoded }: Pick<RelayOperationRecord, "subject" | "decoded">,
  store: Pick<Store, "list">,
): Promise<string> {
  return subject.type === "purchase" ? subject.id : (await findCollected({ decoded }, store)).key;
}

/** @param purchase - the purchase whose id the text is, if it is one. */
function mentions(
  { operation_id, subject, transactions, decoded }: RelayOperationRecord,
  text: string,
  purchase: PurchaseRecord | undefined,
): boolean {
  if (purchase !== undefined && decoded.args["id"] === purchase.commitment_hash) return true;
  const wanted = text.toLowerCase();
  return [operation_id, subject.id, ...transactions.map(({ hash }) => hash)].some((field) =>
    field.toLowerCase().includes(wanted),
  );
}
