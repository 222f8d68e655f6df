import type { Model, ModelMerchant, ModelPurchase } from "../model.ts";
import type { Walk } from "../walk.ts";
import { merchantCreation, merchantMoves } from "./merchants.ts";
import { chooseNext } from "./next.ts";
import { paymentMoves } from "./payments.ts";
import { purchaseCreation, purchaseMoves } from "./purchases.ts";
import { refundMoves } from "./refunds.ts";
import { chosenAmount, type ResolvedStep, type WalkStep } from "./step.ts";
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
