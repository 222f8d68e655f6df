import type { Hex } from "viem";
import { collectRefundCall } from "../../protocol/call.ts";
import { toJson } from "../../protocol/values/json.ts";
import type { RelayIntent, RelayOperation } from "../../relayer/relayer.ts";
import { expectRefund } from "../binding/expectations.ts";
import { requireBound } from "../binding/require-bound.ts";
import { markTransactionUsed } from "../binding/used-transactions.ts";
import type { BlockPoint, ChainPurchase } from "../chain/chain-reader.ts";
import type { ProgramDeployment } from "../chain/deployment.ts";
import { Problem } from "../errors/problem.ts";
import { RefusedTransaction } from "../errors/refused-transaction.ts";
import { defineOperation, type Outcome } from "../http/operation.ts";
import { answerUnchanged, pendingAnswer } from "../http/outcome.ts";
import type { Services } from "../http/services.ts";
import { refusalOfFunding, saysFunding } from "../merchants/funding.ts";
import { assertStep } from "../purchases/purchase-steps.ts";
import { viewRefund } from "../purchases/refund-views.ts";
import {
  findRelayOperation,
  isRecorded,
  isSigned,
  isUnderWay,
  type Relayed,
  relayBound,
} from "../relay/relay.ts";
import { executeRefundBody, refundExecutionSchema } from "../schemas/refunds.ts";
import { findParts, findPurchase, readOnChain } from "../store/records/find.ts";
import { nextId } from "../store/records/next-id.ts";
import { currentRefund } from "../store/records/status-after-reorg.ts";
import { updatePurchase } from "../store/records/update-purchase.ts";
import type { ClaimRecord, DecisionRecord, PurchaseRecord, RefundRecord } from "../store/records.ts";
import type { Stored } from "../store/store.ts";
import { assertFiledClaim, collectedForAnother } from "./claims.ts";
import { recordDueRefund } from "./record-due-refund.ts";

/** `POST …/refunds`: records the award and collects it from the accepted funding source. */
export const executeRefund = defineOperation({
  number: 13,
  id: "executeRefund",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases/{id}/refunds",
  summary: "Execute a refund",
  description:
    "Records the award of an approved decision. The relayer collects it from the merchant's wallet, through the funding source, and the beneficiary receives it. " +
    "While the collection is not confirmed, the response is 202 and the purchase is `refund_due`.",
  authorization: { kind: "scope", scope: "refunds:execute" },
  idempotent: true,
  effect: true,
  body: executeRefundBody,
  responses: {
    201: { description: "The refund is collected.", schema: refundExecutionSchema },
    202: {
      description:
        "The award is recorded and its collection is not confirmed yet. Send the identical request again.",
      schema: refundExecutionSchema,
    },
  },
  errors: [
    "not_found",
    "state_conflict",
    "funding_source_insufficient",
    "gas_budget_exceeded",
    "transaction_reverted",
    "binding_mismatch",
    "outcome_unknown",
  ],
  events: ["refund.due", "refund.collected"],
  async handle({ services, program, id, body, now, resumes, beginEffect }) {
    const { purchase } = await findPurchase(services, program.id, id, (record) => [
      readOnChain(record, services),
      services.chain.nextTime(),
    ]);
    const { claim, decision, refund } = await findParts(services, purchase);
    // A collection that paid another claim is refused again for the same reason, under every key.
    if (purchase.status !== "refunded" || !(await collectedForAnother(purchase, services))) {
      if (resumes !== null && purchase.status === "refunded" && refund !== null)
        return await answerCollected(refund, purchase, services);
      await assertStep(purchase, "refunds", services);
    }
    if (claim === null || decision === null || decision.id !== body.decision_id)
      throw new Problem("not_found", `There is no decision ${body.decision_id} of ${id}.`);
    const collection = collectionOf(purchase, decision, program, services);
    const onChain = await readOnChain(purchase, services);
    if (onChain.refunded === 0n)
      await assertCollectable(collection, { purchase, claim, decision, onChain }, services);
    const refundId = refund?.id ?? (await nextId("ref", services));
    await beginEffect(id);
    const intent = { ...collection, subject: { type: "refund", id: refundId } } as const;
    const { relayed, claimHash, refusal } = await collectAward(
      intent,
      { purchase, claim, decision },
      services,
    );
    const due = await findDue(id, relayed.operation, services);
    const recorded = await recordedCollection(relayed, due, services);
    if (recorded !== null && refusal !== null) throw refusal;
    if (recorded !== null) return await answerCollected(recorded, due.purchase.value, services);
    if (!relayed.confirmed) return await answerDue(due, relayed, services);
    const collected = await recordCollected(due, relayed, { now, claimHash }, services);
    return refusal === null ? collected : { ...collected, refusal };
  },
});

/** A refund's collection, which is made once for its decision; under which refund it is shown is reported with it. */
type Collection = Omit<RelayIntent, "subject">;

function collectionOf(
  purchase: PurchaseRecord,
  { statement, decision_hash }: DecisionRecord,
  program: ProgramDeployment,
  { deployment }: Pick<Services, "deployment">,
): Collection {
  const { address } = deployment.registrar;
  return {
    program: program.id,
    kind: "collect_refund",
    businessKey: decision_hash,
    call: collectRefundCall(address, purchase.commitment_hash, BigInt(statement.award), decision_hash),
    signer: program.operator,
  };
}

/**
 * Refuses what the contract would refuse for want of funding and, as long as nothing is signed, what it would collect for another claim
 * than the decided one: it looks at no claim but the chain's.
 */
async function assertCollectable(
  collection: Collection,
  due: RefundStep & { onChain: ChainPurchase },
  services: Services,
): Promise<void> {
  const { purchase, claim, decision, onChain } = due;
  const underWay = await isUnderWay(collection, services);
  if (!underWay || !(await isSigned(collection, services))) assertDecided(onChain, claim, decision);
  if (!underWay) await assertFunded(collection, { purchase, decision, asOf: onChain.asOf }, services);
}

/** Asks whether the claim that the chain has is the one that was decided; one that it lacks is the relayed call's to tell. */
function assertDecided(onChain: ChainPurchase, claim: ClaimRecord, decision: DecisionRecord): void {
  assertFiledClaim(claim, onChain, {
    about: `The decision ${decision.id} is on the claim`,
    instead: "pay the award outside of this service",
  });
}

/** Refuses what the contract would refuse in the next block for want of funding, before the relayer reserves anything. */
async function assertFunded(
  collection: Collection,
  due: { purchase: PurchaseRecord; decision: DecisionRecord; asOf: BlockPoint },
  services: Services,
): Promise<void> {
  const { chain } = services;
  const { to, data } = collection.call;
  const revert = await chain.simulate(
    [{ from: collection.signer, to, data }],
    due.asOf,
    await chain.nextTime(),
  );
  const refusal = revert && (await refusalOfFunding(revert, due, services));
  if (refusal) throw refusal;
}

/** A refund to collect, with its claim and its decision. */
interface RefundStep {
  purchase: PurchaseRecord;
  claim: ClaimRecord;
  decision: DecisionRecord;
}

/** A collection, the claim that it pays and, when that is not the decided one, the refusal. */
interface Collected {
  relayed: Relayed;
  claimHash: Hex;
  refusal: RefusedTransaction | null;
}

/** Relays the collection. One that has paid another claim is refused, and the money that it has moved is to be recorded. */
async function collectAward(intent: RelayIntent, step: RefundStep, services: Services): Promise<Collected> {
  const { claim_hash } = step.claim;
  try {
    const relayed = await relayCollection(intent, step, services);
    return { relayed, claimHash: claim_hash, refusal: null };
  } catch (error) {
    if (!(error instanceof RefusedTransaction) || !failsByLog(error)) throw error;
    const { collectedClaimHash: paid } = await readOnChain(step.purchase, services);
    const operation = await findRelayOperation(intent, services);
    if (operation === undefined || paid === null || paid === claim_hash) throw error;
    const detail =
      `The collection has paid the claim ${paid}, which a reorg put in the place of the claim ${claim_hash} that ${step.decision.id} is on. ` +
      "It is recorded and cannot be undone: correct the difference outside of this service.";
    return {
      relayed: { confirmed: true, operation, hash: error.transactionHash },
      claimHash: paid,
      refusal: error.because(detail, false),
    };
  }
}

/** Returns whether a transaction is the expected one except for its logs. */
function failsByLog({ report }: RefusedTransaction): boolean {
  return report.checks.every(({ name, ok }) => ok === (name !== "log"));
}

/** Relays the collection and has its confirmed transaction bound to this claim and decision. */
async function relayCollection(intent: RelayIntent, step: RefundStep, services: Services): Promise<Relayed> {
  return await relayBound(intent, services, {
    step: "refund",
    purchase: step.purchase,
    recheck: async () => assertDecided(await readOnChain(step.purchase, services), step.claim, step.decision),
    bind: async (hash) => {
      const use = { key: hash, step: "refund", subject: step.purchase.id } as const;
      const onChain = await readOnChain(step.purchase, services);
      const expected = expectRefund({ ...step, operator: intent.signer }, onChain, services);
      await requireBound(hash, expected, use, services);
    },
    // The figures are current: they explain why a simulation fails, but not a transaction that was mined before.
    refusalOf: async (revert, mined, members) =>
      mined && !saysFunding(revert) ? null : await refusalOfFunding(revert, step, services, members),
  });
}

/** A refund whose award is recorded, and its purchase, as they are stored. */
interface Due {
  purchase: Stored<PurchaseRecord>;
  refund: Stored<RefundRecord>;
}

/** Finds the refund of a purchase, whose award is recorded here when its operation has not come that far yet. */
async function findDue(id: string, operation: RelayOperation, services: Services): Promise<Due> {
  const { store, clock } = services;
  if (((await store.get("purchases", id))?.value.refund_id ?? null) === null)
    await recordDueRefund(operation, await clock.now(), services);
  const purchase = await store.get("purchases", id);
  const refund = await store.get("refunds", purchase?.value.refund_id ?? "");
  if (purchase === undefined || refund === undefined) throw new Error(`There is no refund of ${id}.`);
  return { purchase, refund };
}

/** Answers while the collection is not confirmed. */
async function answerDue(
  { purchase, refund }: Due,
  { operation }: Relayed,
  services: Services,
): Promise<Outcome> {
  const onChain = await readOnChain(purchase.value, services);
  return pendingAnswer({
    refund: viewRefund(await currentRefund(refund.value, services), purchase.value, onChain),
    operation: toJson(operation),
    event_id: refund.value.event_id,
  });
}

/** Records that the award is collected by a confirmed transaction, and the claim that it has paid. */
async function recordCollected(
  due: Due,
  { operation, hash }: Extract<Relayed, { confirmed: true }>,
  { now, claimHash }: { now: number; claimHash: Hex },
  services: Services,
): Promise<Outcome> {
  const { id: refund_id, purchase_id, award } = due.refund.value;
  const onChain = await readOnChain(due.purchase.value, services);
  return {
    kind: "write",
    status: 201,
    event: {
      type: "refund.collected",
      data: { purchase_id, refund_id, award, transaction_hash: hash, claim_hash: claimHash },
    },
    write: (event_id) => {
      const refund: RefundRecord = {
        ...due.refund.value,
        status: "collected",
        transaction_hash: hash,
        collected_at: now,
        event_id,
      };
      const refunded: PurchaseRecord = { ...due.purchase.value, status: "refunded", event_id };
      return {
        changes: [
          { ...due.refund, kind: "update", collection: "refunds", value: refund },
          updatePurchase(due.purchase, refunded),
          markTransactionUsed({ key: hash, step: "refund", subject: purchase_id }),
        ],
        body: { refund: viewRefund(refund, refunded, onChain), operation: toJson(operation), event_id },
      };
    },
  };
}

/** The refund, when its collection was recorded once and has come back after a reorg. */
async function recordedCollection(
  relayed: Relayed,
  { purchase, refund }: Due,
  services: Services,
): Promise<RefundRecord | null> {
  if (!relayed.confirmed || purchase.value.status !== "refunded") return null;
  if (!(await isRecorded(relayed.operation, services))) return null;
  return await currentRefund(refund.value, services);
}

/** Answers a key under which the collection began, once another key has finished it. */
async function answerCollected(
  refund: RefundRecord,
  purchase: PurchaseRecord,
  services: Services,
): Promise<Outcome> {
  const operation = await services.relayer.read(refund.operation_id);
  if (operation === undefined) throw new Error(`The journal must have ${refund.operation_id}.`);
  return answerUnchanged(201, {
    refund: viewRefund(refund, purchase, await readOnChain(purchase, services)),
    operation: toJson(operation),
    event_id: refund.event_id,
  });
}
