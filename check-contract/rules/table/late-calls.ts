import { describeState, purchaseStates } from "../state.ts";
import { ends } from "../values.ts";
import { batches, payments, repeatedPayments } from "./payment-calls.ts";
import { offers, registrations } from "./program-calls.ts";
import { claims, refunds, withdrawals } from "./purchase-calls.ts";
import type { DefinedCall, TableCall } from "./table-call.ts";
import { offerTerms, registrationTerms } from "./terms-calls.ts";

/** The ends after which a contract may forget a rule. */
export const periods = {
  "the offer deadline": ends.offer,
  "the pay deadline": ends.pay,
  "the claim deadline": ends.claim,
  "the end of the bounds": ends.bounds,
  "the end of the funding": ends.funding,
} as const;

type Only = NonNullable<TableCall["only"]>;

/** The calls whose rules hold after each end, and the state in which they are tried. */
const lasting: readonly (readonly [only: Only, calls: readonly DefinedCall[]])[] = [
  [
    "offer, open",
    [...payments, ...batches, ...repeatedPayments, ...withdrawals, ...registrations, ...offers],
  ],
  ["offer, open", [...registrationTerms, ...offerTerms].filter(({ after }) => after === undefined)],
  ["offer, paid", claims],
  ["offer, paid, claimed", refunds.filter(({ after }) => after !== "a claim")],
];

/** The calls after each end that is none of theirs: the same as before it. Those of wrong callers are in wrong-callers.ts. */
export const lateCalls: readonly TableCall[] = lasting.flatMap(([only, calls]) =>
  calls
    .filter((call) => call.second === undefined && call.only === undefined)
    .flatMap((call) =>
      Object.entries(periods).map(([end, last]) =>
        call.again(`${call.name} after ${end}`, only, { second: last + 1 }),
      ),
    )
    .filter((call) => {
      const broken = brokenIn(only, call);
      return !broken.includes("DeadlinePassed") && !broken.includes("WrongCaller");
    }),
);

/** The limits of what an operator does, in states in which another one has followed it. */
export const otherOperatorCalls: readonly TableCall[] = (
  [
    ["offer, program with another operator", [...offers, ...offerTerms, ...withdrawals]],
    ["offer, paid, claimed, program with another operator", refunds],
  ] as const
).flatMap(([only, calls]) =>
  calls
    .filter(({ by, only: other }) => by === "operator" && other === undefined)
    .map((call) => call.again(`${call.name}, by the operator after it`, only, { by: "other operator" }))
    .filter((call) => brokenIn(only, call).length === 1),
);

function brokenIn(only: Only, call: TableCall): readonly string[] {
  return purchaseStates
    .filter((state) => describeState(state) === only)
    .flatMap((state) => call.broken(state));
}
