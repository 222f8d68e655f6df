import type { Hex } from "viem";
import { type OutcomeUnknownError, operationId, type RelayOperationKind } from "../../../relayer/relayer.ts";
import { asJournaled, currentPurchase } from "../../../server/purchases/status-after-reorg.ts";
import { findParts } from "../../../server/store/records/find.ts";
import type { PurchaseRecord } from "../../../server/store/records.ts";
import type { Stored } from "../../../server/store/store.ts";
import { readFigures } from "../reads/read-figures.ts";
import { viewListedPurchase } from "../reads/read-purchases.ts";
import { viewRelayOperation } from "../reads/read-relay-operations.ts";
import { viewBlockPoint } from "../reads/view-block-point.ts";
import type { Sources } from "../sources.ts";
import type { PurchaseTimeline, RelayOperationView } from "../views.ts";
import { chainEntries } from "./chain-entries.ts";
import { recordEntries } from "./record-entries.ts";
import { serviceEntries } from "./service-entries.ts";
import { inOrder } from "./timeline-entry.ts";

/** Reads one purchase with everything that ever happened to it, on one timeline; null when there is none with this id. */
export async function readTimeline(id: string, sources: Sources): Promise<PurchaseTimeline | null> {
  const { services, node, reader, labels, description } = sources;
  const { store, deployment } = services;
  const found = await store.get("purchases", id);
  if (found === undefined) return null;
  const unknown = await services.relayer.unknownOutcomes();
  const journaled = asJournaled(services, unknown);
  const purchase = await currentPurchase(found.value, journaled);
  const [parts, operations, merchant] = await Promise.all([
    findParts(journaled, purchase),
    readOperationsOf(found, unknown, sources),
    store.get("merchants", purchase.merchant_id),
  ]);
  return await reader.atOneHead(async (head) => {
    const [[figures], onChain, service] = await Promise.all([
      readFigures([purchase], head, node, deployment),
      chainEntries(purchase, head, sources),
      serviceEntries(purchase, sources),
    ]);
    if (figures === undefined) throw new Error("Every purchase has figures.");
    const entries = [...recordEntries(purchase, parts, operations, labels), ...onChain, ...service];
    return {
      purchase: viewListedPurchase(purchase, merchant?.value.name, figures, labels),
      terms: purchase.terms,
      as_of: viewBlockPoint(head),
      wallet_url: `${description.urls.api}/wallet/${purchase.program}/purchase/${id}`,
      operations,
      entries: inOrder(entries),
    };
  });
}

async function readOperationsOf(
  { value }: Stored<PurchaseRecord>,
  unknown: readonly OutcomeUnknownError[],
  sources: Sources,
): Promise<RelayOperationView[]> {
  const { store, deployment } = sources.services;
  const { program, commitment_hash, decision_id } = value;
  const decision = decision_id === null ? undefined : await store.get("decisions", decision_id);
  const idOf = (kind: RelayOperationKind, businessKey: Hex) =>
    operationId(deployment.epoch, { program, kind, businessKey });
  const ids = [
    idOf("offer", commitment_hash),
    ...(decision === undefined ? [] : [idOf("collect_refund", decision.value.decision_hash)]),
  ];
  const found = await Promise.all(ids.map(async (id) => await store.get("operations", id)));
  const records = found.flatMap((stored) => (stored === undefined ? [] : [stored.value]));
  return await Promise.all(records.map(async (record) => await viewRelayOperation(record, unknown, sources)));
}
