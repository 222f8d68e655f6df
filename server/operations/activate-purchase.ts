import { offerCall } from "../../protocol/call.ts";
import { hashId } from "../../protocol/id.ts";
import { type Json, toJson } from "../../protocol/json.ts";
import { toTimestamp } from "../../protocol/time.ts";
import type { RelayIntent } from "../../relayer/relayer.ts";
import { expectOffer } from "../binding/expectations.ts";
import { requireBound } from "../binding/require-bound.ts";
import type { ChainRevert } from "../chain/chain.ts";
import type { ProgramDeployment } from "../deployment.ts";
import { commitmentOf } from "../domain/commitment-of.ts";
import { activate, currentPurchase } from "../domain/current-state.ts";
import { findParts, findPurchase } from "../domain/find.ts";
import { refusalOfUnenrolled } from "../domain/merchant-steps.ts";
import { assertRoute, assertStep } from "../domain/purchase-steps.ts";
import { findOperation, isUnderWay, relayBound } from "../domain/relay.ts";
import { Problem } from "../errors/problem.ts";
import { defineOperation, type Outcome } from "../http/operation.ts";
import { activatePurchaseBody, activationSchema } from "../schemas/purchase.ts";
import type { Services } from "../services.ts";
import type { PurchaseRecord } from "../store/records.ts";
import { viewPurchase } from "../views/purchase.ts";

/** Operation 8: the bounded registrar offers this exact purchase. */
export const activatePurchase = defineOperation({
  number: 8,
  id: "activatePurchase",
  method: "post",
  path: "/v1/routing/programs/{program}/purchases/{id}/activate",
  summary: "Activate a purchase by the registrar",
  description:
    "The relayer submits the bounded registrar's offer of exactly this purchase. While its transaction is not confirmed the answer is 202; " +
    "the identical request with the identical key goes on with the same operation.",
  authorization: { kind: "scope", scope: "purchases:write" },
  idempotent: true,
  effect: true,
  body: activatePurchaseBody,
  responses: {
    200: { description: "The purchase is active.", schema: activationSchema },
    202: {
      description: "The relayed transaction is not confirmed yet; send the identical request again.",
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
    const { store, chain } = services;
    const { stored, purchase } = await findPurchase(services, program.id, id);
    if (resumes !== null && purchase.route === "registrar_offer")
      return await answerOffered(purchase, services);
    await assertStep(purchase, "activate", services);
    assertSamePurchase(purchase, body.commitment_hash);
    const query = { id: purchase.commitment_hash, buyer: purchase.buyer };
    const intent = offerOf(purchase, program, services);
    if ((await chain.purchase(query)).exists) await assertRoute(purchase, "registrar_offer", services);
    else if (!(await isUnderWay(intent, services))) await assertOfferable(purchase, services);
    await beginEffect(id);
    const relayed = await relayBound(intent, services, {
      bind: async (hash) => {
        const offered = (await chain.purchase(query)).exists;
        const use = { key: hash, step: "offer", subject: id };
        await requireBound(hash, expectOffer(purchase, program.registrar, offered, services), use, services);
      },
      refusalOf: async (revert, mined, members) => {
        if (!mined) await assertOfferable(purchase, services);
        if (revert.name === "NotEnrolled") return await refusalOfUnenrolled(purchase, services, members);
        return refusalOfOffer(purchase, revert, members);
      },
    });
    const operation = toJson(relayed.operation);
    const isRecorded =
      relayed.confirmed && (await store.get("used_transactions", relayed.hash)) !== undefined;
    // The transaction that was recorded once has come back after a reorg.
    if (isRecorded && stored.value.route === "registrar_offer")
      return await answerOffered(await currentPurchase(stored.value, services), services);
    const onChain = await chain.purchase(query);
    const parts = await findParts(services, purchase);
    if (!relayed.confirmed)
      return {
        kind: "write",
        status: 202,
        final: false,
        write: () => ({
          changes: [],
          body: { purchase: viewPurchase(purchase, parts, onChain, services), operation, event_id: null },
        }),
      };
    const active = activate(stored.value, "registrar_offer");
    const shown = await currentPurchase(active, services);
    return {
      kind: "write",
      status: 200,
      event: { type: "purchase.activated", data: { purchase_id: id, transaction_hash: relayed.hash } },
      write: (event_id) => {
        return {
          changes: [
            { ...stored, kind: "update", collection: "purchases", value: { ...active, event_id } },
            {
              kind: "insert",
              collection: "used_transactions",
              key: relayed.hash,
              value: { step: "offer", subject: id },
            },
          ],
          body: {
            purchase: viewPurchase({ ...shown, event_id }, parts, onChain, services),
            operation,
            event_id,
          },
        };
      },
    };
  },
});

/** The registrar's offer of a purchase; its commitment can be offered once. */
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
    signer: program.registrar,
  };
}

/** Answers a key under which the offer began, once another key has finished it: with the purchase as it is now. */
async function answerOffered(purchase: PurchaseRecord, services: Services): Promise<Outcome> {
  const { store, chain } = services;
  const { id, program, commitment_hash, buyer } = purchase;
  const effect = { program, kind: "offer", businessKey: commitment_hash } as const;
  const [operation, parts, onChain, events] = await Promise.all([
    findOperation(effect, services),
    findParts(services, purchase),
    chain.purchase({ id: commitment_hash, buyer }),
    store.list("events", { program, subject: id }),
  ]);
  const activated = events.findLast(({ value }) => value.type === "purchase.activated");
  if (operation === undefined || activated === undefined)
    throw new Error(`The offer of ${id} must have left an operation and an event.`);
  const event_id = activated.key;
  const shown = viewPurchase(purchase, parts, onChain, services);
  return {
    kind: "write",
    status: 200,
    write: () => ({ changes: [], body: { purchase: shown, operation: toJson(operation), event_id } }),
  };
}

function assertSamePurchase(purchase: PurchaseRecord, commitmentHash: string): void {
  if (commitmentHash === purchase.commitment_hash) return;
  const { id, commitment_hash: expected } = purchase;
  const detail = `The commitment_hash is not that of ${id}. Send its commitment.hash, ${expected}.`;
  const finding = { pointer: "/commitment_hash", code: "commitment_mismatch", detail: `must be ${expected}` };
  throw new Problem("commitment_mismatch", detail, { errors: [finding] });
}

/** Refuses what the contract would refuse in the next block, before the relayer reserves anything. */
async function assertOfferable(purchase: PurchaseRecord, services: Services): Promise<void> {
  const { chain } = services;
  const [state, timestamp] = await Promise.all([chain.program(hashId(purchase.program)), chain.nextTime()]);
  if (timestamp > purchase.offer_deadline)
    throw new Problem(
      "deadline_passed",
      `The offer was due by ${toTimestamp(purchase.offer_deadline)}; the time of the next block is ${toTimestamp(timestamp)}.`,
    );
  const amount = BigInt(purchase.amount);
  const available = state.openBudget - state.openOffers;
  const causes = [
    state.paused && "the program is paused, which the direct route does not avoid",
    amount > state.maxPurchase && `the largest purchase is ${state.maxPurchase}`,
    amount > available && `${available < 0n ? 0n : available} of the budget for open offers is left`,
    timestamp > state.validUntil && `the bounds were valid until ${toTimestamp(state.validUntil)}`,
  ].filter((cause) => cause !== false);
  if (causes.length > 0) {
    const detail = `The registrar's bounds do not allow this offer of ${amount}: ${causes.join(", and ")}.`;
    throw new Problem("registrar_bound_exceeded", detail, {
      members: {
        bounds: {
          amount: purchase.amount,
          max_purchase: state.maxPurchase.toString(),
          open_budget: state.openBudget.toString(),
          open_offers: state.openOffers.toString(),
          valid_until: state.validUntil,
          paused: state.paused,
        },
      },
    });
  }
  const enrolled = { program: hashId(purchase.program), wallet: purchase.merchant };
  if ((await chain.enrolledAs(enrolled)) === null) throw await refusalOfUnenrolled(purchase, services);
}

/** What the contract says when the registrar's bounds have changed, or are used up, since they were looked at. */
const boundReverts: { readonly [error: string]: (args: ChainRevert["args"]) => string } = {
  BudgetExceeded: ({ available }) => `${available} of the budget for open offers was left`,
  AmountOutOfRange: ({ most }) => `the largest purchase was ${most}`,
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
  const detail = `The registrar's bounds did not allow this offer of ${amount}: ${met}.`;
  return new Problem("registrar_bound_exceeded", detail, { members });
}
