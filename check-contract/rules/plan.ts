import { describeState, isRefundedInFull, labelOf, type PurchaseState, purchaseStates } from "./state.ts";
import { operatorOf, secondOf } from "./steps.ts";
import { table } from "./table/all.ts";
import type { TableCall } from "./table/table-call.ts";

/** A state, and the calls that are tried in it. */
export interface PlannedState {
  state: PurchaseState;
  /** Such as "offer, paid in part, funding revoked". */
  description: string;
  /** Calls that break one rule; of those that are tried in one state only, also calls that cannot help breaking several. */
  refused: readonly TableCall[];
  /** Calls that break none. */
  accepted: readonly TableCall[];
}

/** All states, the plainest first. */
export const plannedStates: readonly PlannedState[] = purchaseStates.map((state) => {
  const description = describeState(state);
  const tried = table
    .filter((call) => isTried(call, state, description))
    .map((call) => ({ call, rules: call.broken(state).length }));
  const breaking = (fits: (rules: number, call: TableCall) => boolean) =>
    tried.flatMap(({ call, rules }) => (fits(rules, call) ? [call] : []));
  return {
    state,
    description,
    // With code in the wallets, only what must succeed is of interest. A contract may check its rules in any order.
    refused:
      state.wallets === "keys"
        ? breaking((rules, { only }) => rules === 1 || (only !== undefined && rules > 1))
        : [],
    accepted: breaking((rules) => rules === 0),
  };
});

function isTried(
  { by, second, after, ignoresPurchase, plainOnly, only }: TableCall,
  state: PurchaseState,
  description: string,
): boolean {
  if (only !== undefined && description !== only) return false;
  if (by === "commitment signer" && state.wallets === "contracts") return false;
  if (plainOnly && (state.funding !== "active" || state.program !== "running")) return false;
  if (second !== undefined && second < secondOf(state)) return false;
  // Together with a refund of all that was paid, it would be above the cap.
  if (after === "a refund" && (operatorOf(state) === null || isRefundedInFull(state))) return false;
  if (after === "a claim" && (state.paid === "nothing" || state.claim !== "none")) return false;
  return (
    !ignoresPurchase || (state.paid === "nothing" && state.status === "open" && state.parties === "apart")
  );
}

/** A call, and the states of one name that it is tried in. */
export interface StateCheck {
  /** Such as "collectRefund by the admin: offer, funding revoked". */
  name: string;
  call: TableCall;
  /** The places of the states in `plannedStates`. */
  places: readonly number[];
}

/** The checks of each call of the table, in the order of their states. */
export const stateChecks: readonly StateCheck[] = listChecks();

function listChecks(): StateCheck[] {
  const checks = new Map<TableCall, Map<string, number[]>>(table.map((call) => [call, new Map()]));
  for (const [place, { state, refused, accepted }] of plannedStates.entries()) {
    const label = labelOf(state);
    for (const call of [...refused, ...accepted]) {
      const places = checks.get(call)?.get(label) ?? [];
      checks.get(call)?.set(label, [...places, place]);
    }
  }
  return [...checks].flatMap(([call, labels]) =>
    [...labels].map(([label, places]) => ({ name: `${call.name}: ${label}`, call, places })),
  );
}
