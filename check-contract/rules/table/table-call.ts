import type { Call } from "../../../protocol/call.ts";
import type { Scene } from "../scene.ts";
import type { PurchaseState } from "../state.ts";
import { type Preparation, secondOf } from "../steps.ts";
import { actors, amounts, type Role } from "../values.ts";

/** A call that is tried in every state. */
export interface TableCall {
  /** The call with its caller, such as "collectRefund by the admin". */
  name: string;
  by: Role;
  call: (scene: Scene) => Call;
  /** The ETH that is sent with it, in wei. */
  value?: bigint;
  /** In seconds after the start; by default as soon as the state is reached. */
  second?: number;
  /** The change after the steps to the state, and before the call. */
  after?: Preparation;
  /** Whether the call neither reads nor changes the purchase, so that it succeeds in the same way whatever its state is. */
  ignoresPurchase?: true;
  /** Whether the purchases that are paid together with the state's, their program, and the program that calls open are read after the call. */
  readsOthers?: true;
  /** Whether the call is tried only while the funding is active and the program runs. */
  plainOnly?: true;
  /** The description of the only state in which the call is tried. */
  only?:
    | "offer, open"
    | "offer, paid"
    | "offer, paid, claimed"
    | "offer, expired"
    | "offer, program with another operator"
    | "offer, paid, claimed, program with another operator";
  /** The rule that the call tries, if its function and its error do not name it: a sentence. */
  rule?: string;
  /** The errors of the rules that the call breaks in a state; it must revert with one of them, or succeed if there are none. */
  broken: (state: PurchaseState) => readonly string[];
}

/** The rules of a call by their errors, and whether the call breaks them. */
export interface Rules {
  readonly [error: string]: boolean;
}

/** A call without its rules. */
export type Variant = Omit<TableCall, "broken">;

/** All roles. */
export const everyone = Object.keys(actors) as Role[];

/** A call of the table that can be tried again under another name, in another second or by another role, and in one state only. */
export interface DefinedCall extends TableCall {
  again: (
    name: string,
    only: NonNullable<TableCall["only"]>,
    changes: { second?: number; by?: Role },
  ) => DefinedCall;
}

/** Returns the calls of one function, which has these rules. */
export function define<V extends Variant>(
  rules: (state: PurchaseState, variant: V) => Rules,
  variants: readonly V[],
): readonly DefinedCall[] {
  const defineOne = (variant: V): DefinedCall => ({
    ...variant,
    broken: (state) =>
      Object.entries(rules(state, variant)).flatMap(([error, isBroken]) => (isBroken ? [error] : [])),
    again: (name, only, changes) => defineOne({ ...variant, ...changes, name, only }),
  });
  return variants.map(defineOne);
}

/** Returns one call for each role. */
export function byEveryone<V>(name: string, variant: V): (V & { name: string; by: Role })[] {
  return everyone.map((by) => ({ ...variant, name: `${name} by the ${by}`, by }));
}

/** Returns whether a call is made after a deadline. */
export function isLate(state: PurchaseState, { second }: { second?: number }, end: number): boolean {
  return (second ?? secondOf(state)) > end;
}

/** Returns the amount that was paid. */
export function paidOf({ paid }: PurchaseState): bigint {
  return { nothing: 0n, "a part": amounts.part, all: amounts.purchase }[paid];
}

/** Returns whether an amount is zero or too large. */
export function isOutside(amount: bigint, largest: bigint): boolean {
  return amount < 1n || amount > largest;
}
