import type { Hex } from "viem";
import { toTimestamp } from "../../../protocol/values/time.ts";
import { type OutcomeUnknownError, operationId, type RelayOperationKind } from "../../../relayer/relayer.ts";
import { asJournaled, currentPurchase } from "../../../server/purchases/status-after-reorg.ts";
import { findParts } from "../../../server/store/records/find.ts";
import type { PurchaseRecord, SubmissionRecord } from "../../../server/store/records.ts";
import type { Stored } from "../../../server/store/store.ts";
import { viewEvent } from "../reads/read-events.ts";
import { readFigures } from "../reads/read-figures.ts";
import { viewListedPurchase } from "../reads/read-purchases.ts";
import { viewRefusal } from "../reads/read-refusals.ts";
import { viewRelayOperation } from "../reads/read-relay-operations.ts";
import { viewBlockPoint } from "../reads/view-block-point.ts";
import type { Sources } from "../sources.ts";
import type { EventView, PurchaseTimeline, RelayOperationView } from "../views.ts";
import { chainEntries } from "./chain-entries.ts";
import { recordEntries } from "./record-entries.ts";
import { inOrder, type OrderedEntry, timelineEntry, timelineSteps } from "./timeline-entry.ts";

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

/**
 * Returns the service's messages about a purchase: wallet submissions, outbox events, their deliveries, and refusals.
 */
async function serviceEntries({ id }: PurchaseRecord, sources: Sources): Promise<OrderedEntry[]> {
  const { services, refusals } = sources;
  const [submissions, events] = await Promise.all([
    services.store.list("submissions", { subject: id }),
    services.store.list("events", { subject: id }),
  ]);
  const views = await Promise.all(events.map(async ({ value }) => await viewEvent(value, sources)));
  return [
    ...submissions.map(({ value }) => submissionEntry(value)),
    ...views.flatMap((event) => eventEntries(event, services.settings.receiverUrl)),
    ...refusals
      .newest()
      .filter(({ subject }) => subject === id)
      .map((refusal) => refusalEntry(viewRefusal(refusal, sources))),
  ];
}

function submissionEntry({ action, transaction_hash, submitted_at }: SubmissionRecord): OrderedEntry {
  return timelineEntry("submitted", {
    at: toTimestamp(submitted_at),
    kind: "submitted",
    title: `The wallet submitted: ${action}.`,
    actor: "the wallet page",
    transaction_hash,
  });
}

function eventEntries(event: EventView, receiver: string): OrderedEntry[] {
  return [
    timelineEntry(timelineSteps.find((step) => step === event.type) ?? "delivered", {
      at: event.created_at,
      kind: "event",
      title: `The outbox took the event ${event.type}.`,
      actor: "the service",
      details: { event: event.id, delivery: event.delivery },
    }),
    ...event.attempts.map((attempt) =>
      timelineEntry("delivered", {
        at: attempt.at,
        kind: "delivery",
        title: `Delivery of ${event.type}, attempt ${attempt.number}: ${outcomeOf(attempt)}.`,
        actor: receiver,
        details: { event: event.id },
      }),
    ),
  ];
}

function outcomeOf({ ended, status_code, error }: EventView["attempts"][number]): string {
  if (!ended) return "no outcome yet";
  return status_code === null ? (error ?? "no response") : `responded with ${status_code}`;
}

function refusalEntry(refusal: ReturnType<typeof viewRefusal>): OrderedEntry {
  return timelineEntry("refused", {
    at: refusal.at,
    kind: "refused",
    title: `A ${refusal.step} was refused: ${refusal.cause.replace(/^It /, "it ")}`,
    actor: "the service",
    transaction_hash: refusal.transaction_hash,
    details: { code: refusal.code, times: String(refusal.times) },
    checks: refusal.checks,
  });
}
