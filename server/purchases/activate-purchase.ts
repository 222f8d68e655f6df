import { offerCall } from "../../protocol/call.ts";
import { hashId } from "../../protocol/values/id.ts";
import { type Json, toJson } from "../../protocol/values/json.ts";
import { toChainSeconds, toTimestamp } from "../../protocol/values/time.ts";
import type { RelayIntent } from "../../relayer/relayer.ts";
import { commitmentOf } from "../binding/commitment-of.ts";
import { assertInTime, offerableUntil } from "../binding/deadlines.ts";
import { expectOffer } from "../binding/expectations.ts";
import { requireBound } from "../binding/require-bound.ts";
import { markUnlessUsed } from "../binding/used-transactions.ts";
import type { ChainProgram, ChainRevert } from "../chain/chain-reader.ts";
import type { ProgramDeployment } from "../chain/deployment.ts";
import { Problem } from "../errors/problem.ts";
import { defineOperation, type Outcome } from "../http/operation.ts";
import { answerUnchanged, pendingAnswer } from "../http/outcome.ts";
import type { Services } from "../http/services.ts";
import { assertCovered, refusalOfUnenrolled } from "../merchants/merchant-steps.ts";
import { findRelayOperation, isRecorded, isUnderWay, type Relayed, relayBound } from "../relay/relay.ts";
import { activatePurchaseBody, activationSchema } from "../schemas/purchases.ts";
import { findParts, findPurchase, readOnChain } from "../store/records/find.ts";
import { activatedRecord, currentPurchase } from "../store/records/status-after-reorg.ts";
import { updatePurchase } from "../store/records/update-purchase.ts";
import type { PurchaseRecord } from "../store/records.ts";
import type { Stored } from "../store/store.ts";
import { assertRoute, assertStep } from "./purchase-steps.ts";
import { viewPurchase } from "./views.ts";

/** Begins the reads of {@link assertOfferable}. */
function beginOfferBounds(
  { program: id, merchant: wallet }: PurchaseRecord,
  { chain }: Services,
): Promise<unknown>[] {
  const program = hashId(id);
  return [chain.program(program), chain.nextTime(), chain.enrolledAs({ program, wallet })];
}

/** Refuses what the contract would refuse in the next block, before the relayer reserves anything. */
async function assertOfferable(purchase: PurchaseRecord, services: Services): Promise<void> {
  const { chain } = services;
  const [state, timestamp] = await Promise.all([chain.program(hashId(purchase.program)), chain.nextTime()]);
  assertInTime("deadline_passed", "offer", offerableUntil(purchase), timestamp);
  await assertCovered(purchase, services);
  const amount = BigInt(purchase.amount);
  const available = state.openBudget - state.openOffers;
  const causes = [
    state.paused && "the program is paused, which the direct route does not avoid",
    amount > state.maxPurchase && `the largest purchase is ${state.maxPurchase}`,
    amount > available && `${available < 0n ? 0n : available} of the budget for open offers is left`,
    timestamp > state.validUntil && `the bounds were valid until ${toTimestamp(state.validUntil)}`,
  ].filter((cause) => cause !== false);
  if (causes.length > 0) {
    const detail = `The program does not allow this offer of ${amount}: ${causes.join(", and ")}.`;
    const members = { bounds: viewBounds(purchase, state) };
    throw new Problem("registrar_bound_exceeded", detail, { members });
  }
}

function viewBounds({ amount }: PurchaseRecord, state: ChainProgram) {
  return {
    amount,
    max_purchase: state.maxPurchase.toString(),
    open_budget: state.openBudget.toString(),
    open_offers: state.openOffers.toString(),
    valid_until: toChainSeconds(state.validUntil),
    paused: state.paused,
  };
}

/** The explanation of each revert because the program's bounds have changed, or are used up, since they were read. */
const boundReverts: { readonly [error: string]: (args: ChainRevert["args"]) => string } = {
  BudgetExceeded: ({ available }) => `${available} of the budget for open offers was left`,
  AmountOutOfRange: ({ max }) => `the largest purchase was ${max}`,
  ProgramPaused: () => "the program was paused",
  DeadlinePassed: ({ deadline }) => `the bounds were valid until ${toTimestamp(Number(deadline))}`,
};

/** The code that {@link assertOfferable} would have refused with, had it seen what the transaction met. */
function refusalOfOffer(
  { offer_deadline, amount }: PurchaseRecord,
  { name, args }: ChainRevert,
  members: { [name: string]: Json },
): Problem | null {
  if (name === "DeadlinePassed" && args["deadline"] === String(offer_deadline))
    return new Problem(
      "deadline_passed",
      `The offer was due by ${toTimestamp(offer_deadline)}; the block of its transaction, which reverted, has the time ${toTimestamp(Number(args["timestamp"]))}.`,
      { members },
    );
  const met = name === null ? undefined : boundReverts[name]?.(args);
  if (met === undefined) return null;
  const detail = `The program did not allow this offer of ${amount}: ${met}.`;
  return new Problem("registrar_bound_exceeded", detail, { members });
}

/** `POST …/activate`: the program operator offers this exact purchase. */
export const activatePurchase = defineOperation({
  number: 8,
  id: "activatePurchase",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases/{id}/activate",
  summary: "Activate a purchase by a relayed offer",
  description:
    "Submits the program operator's offer of exactly this purchase through the relayer. While its transaction is not confirmed, the response is 202. " +
    "The identical request with the identical key continues the same operation.",
  authorization: { kind: "scope", scope: "purchases:write" },
  idempotent: true,
  effect: true,
  body: activatePurchaseBody,
  responses: {
    200: { description: "The purchase is active.", schema: activationSchema },
    202: {
      description: "The relayed transaction is not confirmed yet. Send the identical request again.",
      schema: activationSchema,
    },
  },
  errors: [
    "not_found",
    "state_conflict",
    "merchant_not_enrolled",
    "commitment_mismatch",
    "binding_mismatch",
    "deadline_passed",
    "registrar_bound_exceeded",
    "gas_budget_exceeded",
    "transaction_reverted",
    "outcome_unknown",
  ],
  events: ["purchase.activated"],
  async handle({ services, program, id, body, resumes, beginEffect }) {
    const { stored, purchase } = await findPurchase(services, program.id, id, (record) => [
      readOnChain(record, services),
      ...(record.route === null ? beginOfferBounds(record, services) : []),
    ]);
    if (resumes !== null && purchase.route === "registrar_offer")
      return await answerOffered(purchase, services);
    await assertStep(purchase, "activate", services);
    assertSamePurchase(purchase, body.commitment_hash);
    const intent = offerOf(purchase, program, services);
    const { exists } = await readOnChain(purchase, services);
    if (exists) await assertRoute(purchase, "registrar_offer", services);
    else if (!(await isUnderWay(intent, services))) await assertOfferable(purchase, services);
    await beginEffect(id);
    const relayed = await relayOffer(intent, purchase, services);
    if (
      relayed.confirmed &&
      stored.value.route === "registrar_offer" &&
      (await isRecorded(relayed.operation, services))
    )
      return await answerOffered(await currentPurchase(stored.value, services), services);
    return relayed.confirmed
      ? await recordOffer(stored, relayed, services)
      : await answerPending(purchase, relayed, services);
  },
});

/** The operator's offer of a purchase; its commitment can be offered once. */
function offerOf(
  purchase: PurchaseRecord,
  program: ProgramDeployment,
  { deployment }: Pick<Services, "deployment">,
): RelayIntent {
  const { commitment_hash, commitment_signature } = purchase;
  const { address } = deployment.registrar;
  return {
    program: program.id,
    kind: "offer",
    subject: { type: "purchase", id: purchase.id },
    businessKey: commitment_hash,
    call: offerCall(address, commitmentOf(purchase, deployment), commitment_signature),
    signer: program.operator,
  };
}

/** Relays the offer and has its confirmed transaction bound to this purchase. */
async function relayOffer(
  intent: RelayIntent,
  purchase: PurchaseRecord,
  services: Services,
): Promise<Relayed> {
  return await relayBound(intent, services, {
    step: "offer",
    purchase,
    bind: async (hash) => {
      const offered = (await readOnChain(purchase, services)).exists;
      const use = { key: hash, step: "offer", subject: purchase.id } as const;
      await requireBound(hash, expectOffer(purchase, intent.signer, offered, services), use, services);
    },
    refusalOf: async (revert, mined, members) => {
      // Other software has offered it: nothing else matters.
      if (!mined && (await readOnChain(purchase, services)).exists) return null;
      if (!mined) await assertOfferable(purchase, services);
      if (revert.name === "NotEnrolled") return await refusalOfUnenrolled(purchase, services, members);
      return refusalOfOffer(purchase, revert, members);
    },
  });
}

/** Records that the purchase is active by a confirmed offer. */
async function recordOffer(
  stored: Stored<PurchaseRecord>,
  { operation, hash }: Extract<Relayed, { confirmed: true }>,
  services: Services,
): Promise<Outcome> {
  const { key: id } = stored;
  const onChain = await readOnChain(stored.value, services);
  const parts = await findParts(services, stored.value);
  const active = activatedRecord(stored.value, "registrar_offer");
  const marked = await markUnlessUsed({ key: hash, step: "offer", subject: id }, services);
  // The operation was just bound, in a block that is still on the chain.
  const relayer = {
    readNow: async (one: string) =>
      one === operation.operation_id ? operation : await services.relayer.readNow(one),
  };
  const current = await currentPurchase(active, { ...services, relayer });
  return {
    kind: "write",
    status: 200,
    event: { type: "purchase.activated", data: { purchase_id: id, transaction_hash: hash } },
    write: (event_id) => ({
      changes: [updatePurchase(stored, { ...active, event_id }), ...marked],
      body: {
        purchase: viewPurchase({ ...current, event_id }, parts, onChain, services),
        operation: toJson(operation),
        event_id,
      },
    }),
  };
}

/** Answers with the purchase as it is while the offer is not confirmed. */
async function answerPending(
  purchase: PurchaseRecord,
  { operation }: Relayed,
  services: Services,
): Promise<Outcome> {
  const onChain = await readOnChain(purchase, services);
  const parts = await findParts(services, purchase);
  return pendingAnswer({
    purchase: viewPurchase(purchase, parts, onChain, services),
    operation: toJson(operation),
    event_id: null,
  });
}

/** Answers a key under which the offer began, once another key has finished it: with the purchase as it is now. */
async function answerOffered(purchase: PurchaseRecord, services: Services): Promise<Outcome> {
  const { store } = services;
  const { id, program, commitment_hash } = purchase;
  const effect = { program, kind: "offer", businessKey: commitment_hash } as const;
  const [operation, parts, onChain, events] = await Promise.all([
    findRelayOperation(effect, services),
    findParts(services, purchase),
    readOnChain(purchase, services),
    store.list("events", { program, subject: id }),
  ]);
  const activated = events.findLast(({ value }) => value.type === "purchase.activated");
  if (operation === undefined || activated === undefined)
    throw new Error(`The offer of ${id} must have left an operation and an event.`);
  return answerUnchanged(200, {
    purchase: viewPurchase(purchase, parts, onChain, services),
    operation: toJson(operation),
    event_id: activated.key,
  });
}

function assertSamePurchase(purchase: PurchaseRecord, commitmentHash: string): void {
  if (commitmentHash === purchase.commitment_hash) return;
  const { id, commitment_hash: expected } = purchase;
  const detail = `The commitment_hash is not that of ${id}. Send its commitment.hash, ${expected}.`;
  const error = { pointer: "/commitment_hash", code: "commitment_mismatch", detail: `must be ${expected}` };
  throw new Problem("commitment_mismatch", detail, { errors: [error] });
}
