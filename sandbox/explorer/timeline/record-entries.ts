import { fromTimestamp, toTimestamp } from "../../../protocol/values/time.ts";
import type { PaymentReceipt } from "../../../server/purchases/schemas.ts";
import type { PurchaseParts } from "../../../server/store/records/find.ts";
import type {
  ClaimRecord,
  DecisionRecord,
  PurchaseRecord,
  RefundRecord,
} from "../../../server/store/records.ts";
import type { AddressLabels } from "../address-labels.ts";
import type { RelayOperationView } from "../views.ts";
import { type OrderedEntry, type TimelineStep, timelineEntry } from "./timeline-entry.ts";

/**
 * Returns a purchase's entries from the service's records: its creation, the relayer's work, reconciliations, claim,
 * decision and refund.
 */
export function recordEntries(
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
