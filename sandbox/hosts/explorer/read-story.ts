import type { Hex } from "viem";
import { operationId } from "../../../relayer/operation.ts";
import { asJournaled, currentPurchase } from "../../../server/domain/current-state.ts";
import { findParts } from "../../../server/domain/find.ts";
import type { PurchaseRecord } from "../../../server/store/records.ts";
import type { Stored } from "../../../server/store/store.ts";
import { readAtHead } from "./read-at-head.ts";
import { readFigures } from "./read-figures.ts";
import { showOperation } from "./read-operations.ts";
import { showPurchase } from "./read-purchases.ts";
import type { ShownOperation, ShownStory } from "./shown.ts";
import type { Sources } from "./sources.ts";
import { chainMoments } from "./story/chain-moments.ts";
import { inOrder } from "./story/moment.ts";
import { recordMoments } from "./story/record-moments.ts";
import { serviceMoments } from "./story/service-moments.ts";

/** Reads one purchase with everything that ever happened to it, on one timeline; null when there is none with this id. */
export async function readStory(id: string, sources: Sources): Promise<ShownStory | null> {
  const { services, node, people, description } = sources;
  const { store, deployment } = services;
  const found = await store.get("purchases", id);
  if (found === undefined) return null;
  const purchase = await currentPurchase(found.value, asJournaled(sources.services));
  const [parts, operations, merchant] = await Promise.all([
    findParts(asJournaled(sources.services), purchase),
    readOperationsOf(found, sources),
    store.get("merchants", purchase.merchant_id),
  ]);
  return await readAtHead(node, async (head) => {
    const [[figures], onChain, service] = await Promise.all([
      readFigures([purchase], head, node, deployment),
      chainMoments(purchase, head, sources),
      serviceMoments(purchase, sources),
    ]);
    if (figures === undefined) throw new Error("Every purchase has figures.");
    const moments = [...recordMoments(purchase, parts, operations, people), ...onChain, ...service];
    return {
      purchase: showPurchase(purchase, figures, people),
      merchant_name: merchant?.value.name ?? purchase.merchant_id,
      terms: purchase.terms,
      as_of: head,
      wallet_url: `${description.urls.api}/wallet/${purchase.program}/purchase/${id}`,
      operations,
      moments: inOrder(moments),
    };
  });
}

async function readOperationsOf(
  { value }: Stored<PurchaseRecord>,
  sources: Sources,
): Promise<ShownOperation[]> {
  const { store, deployment } = sources.services;
  const { program, commitment_hash, refund_id } = value;
  const intent: { program: string; kind: "offer"; businessKey: Hex } = {
    program,
    kind: "offer",
    businessKey: commitment_hash,
  };
  const refund = refund_id === null ? undefined : await store.get("refunds", refund_id);
  const ids = [
    operationId(deployment.epoch, intent),
    ...(refund === undefined ? [] : [refund.value.operation_id]),
  ];
  const found = await Promise.all(ids.map(async (id) => await store.get("operations", id)));
  const records = found.flatMap((stored) => (stored === undefined ? [] : [stored.value]));
  return await Promise.all(records.map(async (record) => await showOperation(record, sources)));
}
