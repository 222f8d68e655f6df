import type { ModelMerchant, ModelPurchase } from "../model.ts";
import type { Step, StepKind } from "../step.ts";
import type { Walk } from "../walk.ts";
import { confirmEnrollment, createMerchant, enroll, fund } from "./merchants.ts";
import { chooseNext } from "./next.ts";
import { pay, reconcile } from "./payments.ts";
import { activate, confirmRegistration, createPurchase, register, submit } from "./purchases.ts";
import { claim, decide, fileClaim, refund } from "./refunds.ts";
import { deliver, reorg, repeat, restore, snapshot, travel } from "./surroundings.ts";

type OfMerchant = (walk: Walk, step: Step, merchant: ModelMerchant) => Promise<void>;
type OfPurchase = (walk: Walk, step: Step, purchase: ModelPurchase) => Promise<void>;
type OfWalk = (walk: Walk, step: Step) => Promise<void>;

const ofMerchant: { readonly [K in StepKind]?: OfMerchant } = { enroll, confirmEnrollment, fund };
const ofPurchase: { readonly [K in StepKind]?: OfPurchase } = {
  activate,
  register,
  confirmRegistration,
  pay,
  reconcile,
  claim,
  submit,
  fileClaim,
  decide,
  refund,
};
const ofWalk: { readonly [K in StepKind]?: OfWalk } = {
  createMerchant,
  createPurchase,
  repeat,
  travel,
  reorg,
  deliver,
  snapshot,
  restore,
};

/**
 * Takes a step, whatever the state is.
 *
 * @returns the purchase that it was about, if any.
 * @throws WalkDifference
 */
export async function takeStep(walk: Walk, step: Step): Promise<ModelPurchase | null> {
  const { merchants, purchases } = walk.model;
  const isNext = step.kind === "next";
  const { kind, place } = isNext ? chooseNext(walk.model, step) : { kind: step.kind, place: step.subject };
  walk.kind = kind;
  const merchant = merchants[place % merchants.length];
  const purchase = purchases[isNext ? place : newestFirst(place, purchases.length)];
  const onMerchant = ofMerchant[kind];
  const onPurchase = ofPurchase[kind];
  if (onMerchant !== undefined && merchant !== undefined) await onMerchant(walk, step, merchant);
  else if (onPurchase !== undefined && purchase !== undefined) await onPurchase(walk, step, purchase);
  else await ofWalk[kind]?.(walk, step);
  if (onPurchase !== undefined && purchase !== undefined) return purchase;
  // A restore has copied the model.
  return walk.model.purchases.at(-1) ?? null;
}

/** The place of an entry that is counted from the last one. */
function newestFirst(place: number, length: number): number {
  return length - 1 - (place % Math.max(1, length));
}
