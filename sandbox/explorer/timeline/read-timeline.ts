import type { Hex } from "viem";
import { fromTimestamp, toTimestamp } from "../../../protocol/values/time.ts";
import { type OutcomeUnknownError, operationId, type RelayOperationKind } from "../../../relayer/relayer.ts";
import type { PaymentReceipt } from "../../../server/schemas/purchases.ts";
import { findParts, type PurchaseParts } from "../../../server/store/records/find.ts";
import { asJournaled, currentPurchase } from "../../../server/store/records/status-after-reorg.ts";
import type {
  ClaimRecord,
  DecisionRecord,
  PurchaseRecord,
  RefundRecord,
  SubmissionRecord,
} from "../../../server/store/records.ts";
import type { Stored } from "../../../server/store/store.ts";
import type { AddressLabels } from "../../explain/address-labels.ts";
import { viewEvent } from "../reads/read-events.ts";
import { readFigures } from "../reads/read-figures.ts";
import { viewListedPurchase } from "../reads/read-purchases.ts";
import { viewRefusal } from "../reads/read-refusals.ts";
import { viewRelayOperation } from "../reads/read-relay-operations.ts";
import { viewBlockPoint } from "../reads/view-block-point.ts";
import type { Sources } from "../sources.ts";
import type { EventView, PurchaseTimeline, RelayOperationView } from "../views.ts";
import { chainEntries } from "./chain-entries.ts";
import {
  inOrder,
  type OrderedEntry,
  type TimelineStep,
  timelineEntry,
  timelineSteps,
} from "./timeline-entry.ts";

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

/**
 * Returns a purchase's entries from the service's records: its creation, the relayer's work, reconciliations, claim,
 * decision and refund.
 */
function recordEntries(
  purchase: PurchaseRecord,
  { claim, decision, refund }: PurchaseParts,
  operations: readonly RelayOperationView[],
  labels: AddressLabels,
): OrderedEntry[] {
  return [
    ...creationEntries(purchase),
    ...operations.flatMap(relayEntries),
    ...purchase.receipts.map((receipt) => reconciliationEntry(receipt, purchase)),
    ...(claim === null ? [] : [claimEntry(claim, labels.nameOf(purchase.beneficiary))]),
    ...(decision === null ? [] : [decisionEntry(decision)]),
    ...(refund === null ? [] : refundEntries(refund, operations)),
  ];
}

function creationEntries(purchase: PurchaseRecord): OrderedEntry[] {
  const at = toTimestamp(purchase.created_at);
  return [
    timelineEntry("created", {
      at,
      kind: "created",
      title: "The purchase was created.",
      actor: "the service",
      details: { amount: purchase.amount, terms_hash: purchase.terms_hash },
    }),
    timelineEntry("signed", {
      at,
      kind: "signed",
      title: "Its commitment was signed.",
      actor: `commitment signer of ${purchase.program}`,
      details: { commitment_hash: purchase.commitment_hash, signature: purchase.commitment_signature },
    }),
  ];
}

function reconciliationEntry(receipt: PaymentReceipt, { created_at }: PurchaseRecord): OrderedEntry {
  return timelineEntry("reconciled", {
    at: receipt.reconciled_at ?? toTimestamp(created_at),
    kind: "reconciled",
    title: "A payment was reconciled.",
    actor: "the service",
    block_number: receipt.block_number,
    transaction_hash: receipt.transaction_hash,
    details: { amount: receipt.amount, log_index: String(receipt.log_index) },
  });
}

function claimEntry(claim: ClaimRecord, beneficiary: string): OrderedEntry {
  const { id, requested_amount, reason, claim_hash } = claim;
  return timelineEntry("claimed", {
    at: toTimestamp(claim.created_at),
    kind: "claimed",
    title: "The claim was verified and filed.",
    actor: beneficiary,
    transaction_hash: claim.transaction_hash,
    details: { claim: id, requested_amount, reason, claim_hash },
  });
}

function decisionEntry({ id, statement, decision_hash, created_at }: DecisionRecord): OrderedEntry {
  return timelineEntry("decided", {
    at: toTimestamp(created_at),
    kind: "decided",
    title: `The reviewer ${statement.outcome} the claim.`,
    actor: `reviewer ${statement.reviewer_key_id}`,
    details: { decision: id, award: statement.award, decision_hash },
  });
}

function refundEntries(refund: RefundRecord, operations: readonly RelayOperationView[]): OrderedEntry[] {
  const details = { refund: refund.id, award: refund.award };
  const due = timelineEntry("refund due", {
    at: toTimestamp(refund.created_at),
    kind: "refunded",
    title: "The award was recorded as due.",
    actor: "the service",
    details,
  });
  if (refund.collected_at === null) return [due];
  const collection = operations.find(({ id }) => id === refund.operation_id);
  const collected = timelineEntry("collected", {
    // The record has the time at which the request began.
    at: latest(toTimestamp(refund.collected_at), collection?.confirmed_at),
    kind: "refunded",
    title: "The refund was collected.",
    actor: "the service",
    transaction_hash: refund.transaction_hash,
    details,
  });
  return [due, collected];
}

const words: { readonly [kind: string]: string } = { offer: "offer", collect_refund: "refund" };

/** The steps of an operation of the relayer, and each transaction that did not make it. */
function relayEntries(operation: RelayOperationView): OrderedEntry[] {
  const { id, kind, hash, from, transactions } = operation;
  const what = words[kind] ?? kind;
  const [relayed, confirmed]: TimelineStep[] =
    kind === "offer"
      ? ["offer relayed", "offer confirmed"]
      : ["collect_refund relayed", "collect_refund confirmed"];
  const step = (
    step: TimelineStep | undefined,
    at: string | null,
    title: string,
    transaction_hash: string | null,
  ) =>
    at === null || step === undefined
      ? []
      : [
          timelineEntry(step, {
            at: toTimestamp(Math.floor(fromTimestamp(at))),
            kind: "relayed",
            title,
            actor: from.name ?? from.address,
            transaction_hash,
            details: { operation: id },
          }),
        ];
  const lost = transactions.filter(({ outcome }) => outcome === "replaced");
  return [
    ...step(relayed, operation.created_at, `The relayer took on the ${what}.`, null),
    ...step(relayed, operation.signed_at, `The relayer signed the ${what}.`, hash),
    ...step(relayed, operation.broadcast_at, `The relayer sent the ${what}.`, hash),
    ...lost.flatMap((one) =>
      step(
        relayed,
        operation.broadcast_at,
        `A transaction of the ${what} (${one.purpose}) was replaced.`,
        one.hash,
      ),
    ),
    ...step(confirmed, operation.confirmed_at, `The ${what} was confirmed.`, hash),
  ];
}

function latest(left: string, right: string | null | undefined): string {
  return right && fromTimestamp(right) > fromTimestamp(left)
    ? toTimestamp(Math.floor(fromTimestamp(right)))
    : left;
}
