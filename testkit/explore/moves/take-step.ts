import {
  isClaimed,
  type Model,
  type ModelMerchant,
  type ModelPurchase,
  paidOf,
  recordedAsPaid,
} from "../model.ts";
import type { Walk } from "../walk.ts";
import { merchantCreation, merchantMoves } from "./merchants.ts";
import { paymentMoves } from "./payments.ts";
import { purchaseCreation, purchaseMoves } from "./purchases.ts";
import { refundMoves } from "./refunds.ts";
import { chosenAmount, type ResolvedStep, type StepKind, type WalkStep } from "./step.ts";
import { surroundingMoves } from "./surroundings.ts";

type Kind = ResolvedStep["kind"];
type OfMerchant = (walk: Walk, step: ResolvedStep, merchant: ModelMerchant) => Promise<void>;
type OfPurchase = (walk: Walk, step: ResolvedStep, purchase: ModelPurchase) => Promise<void>;
type OfWalk = (walk: Walk, step: ResolvedStep) => Promise<void>;

const ofMerchant: { readonly [K in Kind]?: OfMerchant } = { ...merchantMoves, ...purchaseCreation };
const ofPurchase: { readonly [K in Kind]?: OfPurchase } = {
  ...purchaseMoves,
  ...paymentMoves,
  ...refundMoves,
};
const ofWalk: { readonly [K in Kind]?: OfWalk } = { ...merchantCreation, ...surroundingMoves };

/** Decides what a step comes to in the state of a model. */
export function resolveStep(model: Model, step: WalkStep, id: number): ResolvedStep {
  const { kind, place } = step.kind === "next" ? chooseNext(model, step) : { kind: step.kind, place: null };
  // The next legal step of funding is never one of nothing.
  const choice = place !== null && kind === "fund" ? 0 : step.choice;
  return { ...step, kind, amount: chosenAmount(step), choice, id, about: aboutOf(model, step, kind, place) };
}

/** Returns the id of the step that made what a step is about; null when there is nothing. */
function aboutOf(model: Model, step: WalkStep, kind: Kind, place: number | null): number | null {
  const { merchants, purchases, writes } = model;
  const { subject, choice } = step;
  const newestFirst = purchases.at(-1 - (subject % Math.max(1, purchases.length)));
  if (kind === "createPurchase") {
    const enrolled = merchants.find(({ status }) => status === "enrolled");
    const isNext = place !== null && subject % 3 !== 2;
    return (isNext ? enrolled : merchants[subject % merchants.length])?.by ?? null;
  }
  if (kind in ofMerchant) return merchants[(place ?? subject) % merchants.length]?.by ?? null;
  if (kind in ofPurchase) return (place === null ? newestFirst : purchases[place])?.by ?? null;
  if (kind === "repeat")
    return writes.at(-1 - ((12 * choice + subject) % Math.max(1, writes.length)))?.by ?? null;
  return kind === "travel" && choice % 4 !== 0 ? (newestFirst?.by ?? null) : null;
}

/**
 * Takes a step, whatever the state is; without what it is about, nothing happens.
 *
 * @returns the purchase that it was about, if any.
 * @throws WalkDifference
 */
export async function takeStep(walk: Walk, step: ResolvedStep): Promise<ModelPurchase | null> {
  const { kind, id, about } = step;
  walk.kind = kind;
  walk.id = id;
  const merchant = walk.model.merchants.find(({ by }) => by === about);
  const purchase = walk.model.purchases.find(({ by }) => by === about);
  if (merchant !== undefined) await ofMerchant[kind]?.(walk, step, merchant);
  else if (purchase !== undefined) await ofPurchase[kind]?.(walk, step, purchase);
  await ofWalk[kind]?.(walk, step);
  // A reorg and a restore have copied the model.
  const { purchases } = walk.model;
  return purchases.find(({ by }) => by === about) ?? purchases.at(-1) ?? null;
}

/**
 * Which of the open purchases is chosen by a step's `subject`, from the newest one: mostly the same, so that it comes far. A sequence that is
 * shortened can lose older purchases without a change of what its steps are about.
 */
const places = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3];

/** The kind of the next step, and the place of its merchant or purchase. */
interface Next {
  kind: Exclude<StepKind, "next">;
  place: number;
}

/** Chooses the next legal step of a merchant or a purchase, or a new purchase. */
function chooseNext(model: Model, { subject, choice }: WalkStep): Next {
  const pending = model.merchants.findIndex(({ status }) => status === "pending");
  const merchant = model.merchants[pending];
  if (merchant !== undefined && choice > 8) {
    const isEnrolled = model.merchants.some((other) => other.wallet === merchant.wallet && other.onChain);
    if (merchant.onChain) return { kind: "confirmEnrollment", place: pending };
    if (!isEnrolled) return { kind: "enroll", place: pending };
  }
  const open = model.purchases.filter((purchase) => nextOf(model, purchase, choice) !== null);
  const purchase = open.at(-1 - (places[subject] ?? 0));
  const kind = purchase && nextOf(model, purchase, choice);
  if (purchase === undefined || kind === undefined || kind === null)
    return { kind: "createPurchase", place: 0 };
  return kind === "fund"
    ? { kind, place: purchase.merchant }
    : { kind, place: model.purchases.indexOf(purchase) };
}

/** The next legal step of a purchase; null when it has none. */
function nextOf(model: Model, purchase: ModelPurchase, choice: number): Next["kind"] | null {
  const time = model.now + 2;
  const { status, onChain, merchant, amount } = purchase;
  const { cap, collected, wallet } = model.merchants[merchant] ?? {
    cap: 0n,
    collected: 0n,
    wallet: "merchant",
  };
  switch (status) {
    case "created":
      if (onChain === "merchant_direct") return "confirmRegistration";
      if (time > purchase.offerDeadline || amount > cap - collected) return null;
      return choice % 3 === 0 ? "register" : "activate";
    case "active":
      return nextOfActive(purchase, time, choice);
    case "claimed":
      return "decide";
    case "approved":
    case "refund_due": {
      const award = purchase.decision?.award ?? 0n;
      if (cap - collected < award) return null;
      if ((model.funded[wallet] ?? 0n) < award) return "fund";
      return status === "approved" && choice % 3 !== 0 ? "startRefund" : "refund";
    }
    default:
      return null;
  }
}

function nextOfActive(purchase: ModelPurchase, time: number, choice: number): Next["kind"] | null {
  const paid = paidOf(purchase);
  const isOpen = time <= purchase.payDeadline && paid < purchase.amount;
  if (paid === 0n) return isOpen ? "pay" : null;
  if (recordedAsPaid(purchase) < paid) return "reconcile";
  if (isClaimed(purchase)) {
    const { claim } = purchase;
    if (claim !== null && claim.amount > paid) return isOpen ? "pay" : null;
    return choice % 4 === 0 && !purchase.submitted.claim ? "submit" : "fileClaim";
  }
  if (isOpen && choice % 4 === 0) return "pay";
  return time <= purchase.claimDeadline ? "claim" : null;
}
