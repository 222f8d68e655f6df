import { z } from "zod";
import {
  type RelayOperationRecord,
  relayOperationStatuses,
  toRelayOperation,
} from "../../../../relayer/journal/relay-operation.ts";
import type { OutcomeUnknownError } from "../../../../relayer/relayer.ts";
import { assertKnown } from "../../../../server/domain/purchases/status-after-reorg.ts";
import { readSuperseded } from "../../../../server/store/relayer-journal.ts";
import type { Sources } from "../sources.ts";
import type { RelayOperationView, ViewPage } from "../views.ts";
import { pageQuery, readPage } from "./page.ts";

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
  const { data, next_cursor } = await readPage(services.store, "operations", filter, {
    cursor,
    ...(q === undefined || q === "" ? {} : { keep: (operation) => mentions(operation, q) }),
  });
  const unknown = await services.relayer.unknownOutcomes();
  return {
    data: await Promise.all(data.map(async ({ value }) => await viewRelayOperation(value, unknown, sources))),
    next_cursor,
  };
}

/** An operation in the shape that is answered. @throws ChainUnavailableError for one of the unknown ones. */
export async function viewRelayOperation(
  operation: RelayOperationRecord,
  unknown: readonly OutcomeUnknownError[],
  { services, labels }: Sources,
): Promise<RelayOperationView> {
  const { program, kind, subject, sequence, status, status_reason, error, nonce, hash } = operation;
  const refund = subject.type === "refund" ? await services.store.get("refunds", subject.id) : undefined;
  assertKnown(unknown.filter(({ operationId }) => operationId === operation.operation_id));
  const superseded = await readSuperseded(services.store, operation);
  const { attempt, cost_wei, reserved_wei, reorg_count } = toRelayOperation(operation, superseded);
  return {
    id: operation.operation_id,
    program,
    kind,
    subject,
    purchase_id: subject.type === "purchase" ? subject.id : (refund?.value.purchase_id ?? null),
    sequence,
    status,
    status_reason,
    error: error?.revert?.name ?? error?.message ?? null,
    nonce,
    from: labels.view(operation.from),
    transactions: [...superseded, operation].flatMap((one) =>
      one.transactions.map(({ hash: signed, purpose, outcome, max_fee_per_gas }) => ({
        hash: signed,
        attempt: one.attempt,
        purpose,
        outcome,
        max_fee_per_gas,
      })),
    ),
    attempt,
    hash,
    cost_wei,
    reserved_wei,
    block_number: operation.block_number,
    confirmations: operation.confirmations,
    reorg_count,
    created_at: operation.created_at,
    signed_at: operation.signed_at,
    broadcast_at: operation.broadcast_at,
    mined_at: operation.mined_at,
    confirmed_at: operation.confirmed_at,
  };
}

function mentions({ operation_id, subject, transactions }: RelayOperationRecord, text: string): boolean {
  const wanted = text.toLowerCase();
  return [operation_id, subject.id, ...transactions.map(({ hash }) => hash)].some((field) =>
    field.toLowerCase().includes(wanted),
  );
}
