import { fromTimestamp, toTimestamp } from "../../../../protocol/time.ts";
import type { PurchaseParts } from "../../../../server/domain/find.ts";
import type { PurchaseRecord } from "../../../../server/store/records.ts";
import type { People } from "../people.ts";
import type { ShownOperation } from "../shown.ts";
import { moment, type Stage, type StagedMoment } from "./moment.ts";

/** What the service recorded of a purchase: its creation, the relayer's work, reconciliations, claim, decision and refund. */
export function recordMoments(
  purchase: PurchaseRecord,
  { claim, decision, refund }: PurchaseParts,
  operations: readonly ShownOperation[],
  people: People,
): StagedMoment[] {
  const at = toTimestamp(purchase.created_at);
  const moments = [
    moment("created", {
      at,
      kind: "created",
      title: "The purchase was created.",
      actor: "the service",
      details: { amount: purchase.amount, terms_hash: purchase.terms_hash },
    }),
    moment("signed", {
      at,
      kind: "signed",
      title: "Its commitment was signed.",
      actor: `commitment signer of ${purchase.program}`,
      details: { commitment_hash: purchase.commitment_hash, signature: purchase.commitment_signature },
    }),
    ...operations.flatMap(relayedMoments),
    ...purchase.receipts.map((receipt) =>
      moment("reconciled", {
        at: receipt.reconciled_at ?? at,
        kind: "reconciled",
        title: "A payment was reconciled.",
        actor: "the service",
        block_number: receipt.block_number,
        transaction_hash: receipt.transaction_hash,
        details: { amount: receipt.amount, log_index: String(receipt.log_index) },
      }),
    ),
  ];
  if (claim !== null)
    moments.push(
      moment("claimed", {
        at: toTimestamp(claim.created_at),
        kind: "claimed",
        title: "The claim was verified and filed.",
        actor: people.name(purchase.beneficiary),
        transaction_hash: claim.transaction_hash,
        details: {
          claim: claim.id,
          requested_amount: claim.requested_amount,
          reason: claim.reason,
          claim_hash: claim.claim_hash,
        },
      }),
    );
  if (decision !== null)
    moments.push(
      moment("decided", {
        at: toTimestamp(decision.created_at),
        kind: "decided",
        title: `The reviewer ${decision.statement.outcome} the claim.`,
        actor: `reviewer ${decision.statement.reviewer_key_id}`,
        details: {
          decision: decision.id,
          award: decision.statement.award,
          decision_hash: decision.decision_hash,
        },
      }),
    );
  if (refund !== null) {
    const details = { refund: refund.id, award: refund.award };
    const collection = operations.find(({ id }) => id === refund.operation_id);
    moments.push(
      moment("refund due", {
        at: toTimestamp(refund.created_at),
        kind: "refunded",
        title: "The award was recorded as due.",
        actor: "the service",
        details,
      }),
    );
    if (refund.collected_at !== null)
      moments.push(
        moment("collected", {
          // The record has the time at which the request began.
          at: latest(toTimestamp(refund.collected_at), collection?.confirmed_at),
          kind: "refunded",
          title: "The refund was collected.",
          actor: "the service",
          transaction_hash: refund.transaction_hash,
          details,
        }),
      );
  }
  return moments;
}

const words: { readonly [kind: string]: string } = { offer: "offer", collect_refund: "refund" };

/** The steps of an operation of the relayer, and each transaction that did not make it. */
function relayedMoments(operation: ShownOperation): StagedMoment[] {
  const { id, kind, hash, from, transactions } = operation;
  const what = words[kind] ?? kind;
  const [relayed, confirmed]: Stage[] =
    kind === "offer"
      ? ["offer relayed", "offer confirmed"]
      : ["collect_refund relayed", "collect_refund confirmed"];
  const step = (
    stage: Stage | undefined,
    at: string | null,
    title: string,
    transaction_hash: string | null,
  ) =>
    at === null || stage === undefined
      ? []
      : [
          moment(stage, {
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
