import type { Arbitrary } from "fast-check";
import { type FaultName, faultNames } from "./faults.ts";

/** The kinds of steps of a walk. `next` is the next step of a purchase or a merchant that its state allows, or a new purchase. */
export const stepKinds = [
  "next",
  "createMerchant",
  "enroll",
  "confirmEnrollment",
  "fund",
  "createPurchase",
  "activate",
  "register",
  "confirmRegistration",
  "pay",
  "reconcile",
  "claim",
  "submit",
  "fileClaim",
  "decide",
  "startRefund",
  "refund",
  "repeat",
  "travel",
  "reorg",
  "deliver",
  "resend",
  "snapshot",
  "restore",
] as const;

/** One of {@link stepKinds}. */
export type StepKind = (typeof stepKinds)[number];

/** The mistake in a step, if any: in its wallet or signer, a value of it, its key, or its credential. */
export const mistakes = [
  "none",
  "wallet",
  "value",
  "key_missing",
  "key_reused",
  "credential_missing",
  "credential_foreign",
] as const;

/** One of {@link mistakes}. */
export type Mistake = (typeof mistakes)[number];

/** The amounts of payments, claims and awards: a part of what is possible, all of it, or more. */
export const amounts = ["all", "part", "over"] as const;

/** One of {@link amounts}. */
export type AmountChoice = (typeof amounts)[number];

/** A step of a walk, which means something in every state: what it comes to is decided when it is taken. */
export interface WalkStep {
  kind: StepKind;
  /** Chooses the merchant, or the purchase from the newest one. */
  subject: number;
  amount: AmountChoice;
  mistake: Mistake;
  /** Chooses between the remaining possibilities, such as the two routes. */
  choice: number;
  fault: FaultName | "none";
}

/** A step whose meaning no longer depends on the steps before it: it names the step that made what it is about. */
export interface ResolvedStep extends Omit<WalkStep, "kind"> {
  kind: Exclude<StepKind, "next"> | "issueForeign";
  /** Its number in the walk that it was first taken in, which stays when steps before it are dropped. */
  id: number;
  /** The id of the step that made the merchant, the purchase or the write that it is about; null without one. */
  about: number | null;
}

/** Returns the amount of a step: the next legal step asks for too much only where something shall be wrong with it. */
export function chosenAmount({ kind, amount, mistake }: WalkStep): AmountChoice {
  return kind === "next" && mistake !== "value" && amount === "over" ? "part" : amount;
}

/** How often each kind comes, in proportion to the others. */
const weights: { readonly [K in StepKind]: number } = {
  next: 62,
  createMerchant: 4,
  enroll: 3,
  confirmEnrollment: 3,
  fund: 2,
  createPurchase: 3,
  activate: 4,
  register: 3,
  confirmRegistration: 3,
  pay: 4,
  reconcile: 4,
  claim: 3,
  submit: 3,
  fileClaim: 3,
  decide: 3,
  startRefund: 2,
  refund: 3,
  repeat: 4,
  travel: 2,
  reorg: 2,
  deliver: 2,
  resend: 4,
  snapshot: 1,
  restore: 1,
};

/**
 * The arbitrary of steps.
 *
 * @param omitted - the kinds that the walks do not take.
 */
export function arbitraryStep(
  fc: typeof import("fast-check"),
  omitted: readonly StepKind[],
): Arbitrary<WalkStep> {
  const mostly = <const T extends string>(first: T, others: readonly T[], weight: number) =>
    fc.constantFrom<T[]>(...Array.from({ length: weight }, () => first), ...others);
  const kept = stepKinds.filter((kind) => !omitted.includes(kind));
  const kinds = kept.flatMap((kind) => Array.from({ length: weights[kind] }, () => kind));
  return fc.record({
    kind: fc.constantFrom(...kinds),
    subject: fc.nat({ max: 11 }),
    amount: mostly("all", amounts.slice(1), 2),
    mistake: mostly("none", [...mistakes.slice(1), "wallet", "wallet", "value", "value", "value"], 11),
    choice: fc.nat({ max: 11 }),
    fault: mostly("none", faultNames, 2 * faultNames.length),
  });
}
